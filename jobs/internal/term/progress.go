package term

import (
	"io"
	"log/slog"
	"time"
)

// logEvery is how often a long job logs its progress where no terminal shows it.
const logEvery = 10 * time.Second

// Progress shows how far a job is: by a bar on a terminal, elsewhere by log lines. Any goroutine may call its methods.
type Progress struct {
	log   *slog.Logger // nil: nothing is logged
	bar   *bar         // nil: no bar is shown
	last  time.Time    // of the last log line
	ended bool
}

// NewProgress starts the progress of the job name. It shows a bar where errOut is a screen that can write a line again,
// and hidden is false. Elsewhere log gets a line now and then; nil: it gets none.
func NewProgress(errOut io.Writer, log *slog.Logger, name string, hidden bool) *Progress {
	w := &Progress{log: log, last: time.Now()}
	if s, ok := errOut.(*Screen); ok && !hidden {
		if v := Look(s, ColorAuto); v.Moves() {
			w.bar = newBar(s, v, name, time.Now)
		}
	}
	return w
}

// HasBar reports whether a bar is shown, so that events need no log lines.
func (w *Progress) HasBar() bool { return w.bar != nil }

// At shows a step of the job: in the bar, or as message with attrs in the log. Only one goroutine at a time may call it
// where a log takes the place of the bar.
func (w *Progress) At(s Step, message string, attrs ...any) {
	if w.bar != nil {
		w.bar.at(s)
		return
	}
	if now := time.Now(); w.log != nil && now.Sub(w.last) >= logEvery {
		w.last = now
		w.log.Info(message, attrs...)
	}
}

// Stop takes the bar away. It may be called twice.
func (w *Progress) Stop() {
	if w.bar != nil && !w.ended {
		w.bar.stop()
	}
	w.ended = true
}
