// Package watch samples the tool, its host, its connections and whatever else
// is asked for, once a second: the rows of sample/1.
//
// They are there to tell what a latency is made of besides the broker: the
// collector's pauses, a processor that somebody else had, a quota that ran
// out, a TCP connection that sent again. [Quantities] lists everything that is
// sampled, with its unit. A quantity that this system cannot tell, or that has
// no value now, has no row; it never has a row with an invented 0. Linux tells
// all of them, other systems those of the Go runtime, and the hiccups.
//
// Files are read below [Options].ProcRoot and CgroupRoot, by this package and
// not by way of a library: pressure, throttling, steal in integers and files
// that stay open are what libraries lack, and a root that a test can replace.
//
// # Wiring
//
// A command registers the fields of Options as flags, makes a Watcher before
// it connects, and lets it run while the recorder records:
//
//	fs.IntSliceVar(&o.watch.PIDs, "watch-pid", nil, "…")
//	fs.StringArrayVar(&o.watch.Names, "watch-name", nil, "…")
//	fs.StringArrayVar(&o.watch.Cgroups, "watch-cgroup", nil, "…")
//	…
//	o.watch.Clock = clock
//	w, err := watch.New(o.watch)      // an error is a wrong flag: exit 2
//	for _, m := range w.Missing() {   // warn: nothing of that name runs yet
//	…
//	w.RegisterConn(conn.Index(), netConn)                     // after each connect and reconnect
//	w.RegisterOf(conn.Index(), "credit_messages", sender.Credit)
//	w.Register("tool.window_messages", producer.Pending)      // those of one name are added
//	…
//	watched := make(chan error, 1)
//	go func() { watched <- w.Run(ctx, rec.Sample) }()
//	…
//	cancel()                          // of ctx, when the last producer is done
//	err = <-watched                   // before rec.Close: the last samples are in
package watch
