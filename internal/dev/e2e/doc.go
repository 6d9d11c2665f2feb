// Package e2e runs the commands end to end: each script in testdata/script shows one behaviour, in processes of their own
// (copies of the test binary that become a command by name), against perf-broker on a port that the system chose. Nothing
// is faked, nothing leaves the machine, nothing sleeps.
//
// Beside what testscript has, scripts can use:
//
//	broker [flags]            start perf-broker with these flags until the end of the script; sets $AMQP_URL
//	exits STATUS PROGRAM [ARG...]   run a program that must end with this exit status; stdout and stderr look at what it wrote
//	appears FILE              wait until FILE exists
//	rows LOG >= N             wait until a log, finished or not, has N rows
//	says FILE REGEXP          wait until FILE has a line that matches
//	json FILE PATH OP VALUE   compare a value of a JSON file: == != < <= > >=; PATH as in package jsonpath
//	mkparquet SCHEMA CSV OUT [KEY=VALUE...]   write a log from a CSV file with a header line; an empty field is NULL
//	dumpparquet LOG OUT       write the rows of a log as such a CSV file
//	cutter NAME               start a proxy before $AMQP_URL, which becomes the proxy's
//	cut NAME                  cut all connections of that proxy and accept no more
//
// `go test -update` rewrites the text that `cmp` compares with.
package e2e
