package cli

import (
	"io"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Bar shows how far an offline command has come. A nil Bar shows nothing.
type Bar struct {
	progress *mpb.Progress
	bar      *mpb.Bar
}

// Progress starts a bar on standard error if that is a terminal and returns
// nil if not. total is in the unit of Add, 0 if it is not known. Stop must be
// called before anything else is printed.
func Progress(env *Env, title string, total int64) *Bar {
	if !IsTerminal(env.Stderr) {
		return nil
	}
	return newBar(env.Stderr, title, total)
}

func newBar(w io.Writer, title string, total int64) *Bar {
	b := &Bar{progress: mpb.New(mpb.WithOutput(w), mpb.WithWidth(40), mpb.WithRefreshRate(200*time.Millisecond), mpb.WithAutoRefresh())}
	name := mpb.PrependDecorators(decor.Name(title+" "), decor.CurrentNoUnit("%d"))
	if total <= 0 {
		b.bar = b.progress.New(0, mpb.SpinnerStyle(), name, mpb.BarRemoveOnComplete())
	} else {
		b.bar = b.progress.AddBar(total, name, mpb.BarRemoveOnComplete(), mpb.AppendDecorators(
			decor.Percentage(decor.WC{W: 5}), decor.AverageSpeed(0, "  %.0f/s"), decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 8}), decor.Name(" left")))
	}
	return b
}

// Add says that n more are done. It may be called by several goroutines.
func (b *Bar) Add(n int64) {
	if b != nil {
		b.bar.IncrInt64(n)
	}
}

// Stop removes the bar.
func (b *Bar) Stop() {
	if b == nil {
		return
	}
	b.bar.Abort(true)
	b.progress.Wait()
}
