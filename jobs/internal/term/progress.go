package term

import (
	"io"
	"log/slog"
	"time"

	"github.com/schollz/progressbar/v3"
)

// logEvery is how often a long job logs its progress where no terminal shows it.
const logEvery = 10 * time.Second

// Progress shows how far a job is: by a bar on a terminal, elsewhere by log lines. One goroutine at a time calls its methods.
type Progress struct {
	log  *slog.Logger
	bar  *progressbar.ProgressBar // nil: no terminal
	last time.Time                // of the last log line
}

// NewProgress starts the progress of the job name. hidden: a terminal gets no bar, but log lines.
func NewProgress(errOut io.Writer, log *slog.Logger, name string, hidden bool) *Progress {
	w := &Progress{log: log, last: time.Now()}
	if isTerminal(errOut) && !hidden {
		w.bar = progressbar.NewOptions64(-1, progressbar.OptionSetWriter(errOut), progressbar.OptionSetDescription(name),
			progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	return w
}

// HasBar reports whether a bar is shown, so that events need no log lines.
func (w *Progress) HasBar() bool { return w.bar != nil }

// At shows that done units of the job are done: text in the bar, or message with attrs in the log.
func (w *Progress) At(done int64, text, message string, attrs ...any) {
	if w.bar != nil {
		w.bar.Describe(text)
		w.bar.Set64(done)
		return
	}
	if now := time.Now(); now.Sub(w.last) >= logEvery {
		w.last = now
		w.log.Info(message, attrs...)
	}
}

// Stop takes the bar away.
func (w *Progress) Stop() {
	if w.bar != nil {
		w.bar.Finish()
	}
}
