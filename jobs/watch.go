package jobs

import (
	"log/slog"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/sinks/catalog"
)

// logEvery is how often a long job says where it is when nobody watches.
const logEvery = 10 * time.Second

// watching shows a job's progress: a bar on a terminal, log lines elsewhere.
type watching struct {
	p    *workspace
	bar  *progressbar.ProgressBar
	last time.Time
}

func (p *workspace) watch() *watching { return p.watchJob("ingest") }

func (p *workspace) watchJob(name string) *watching {
	w := &watching{p: p, last: time.Now()}
	if isTerminal(p.err) && !p.flags.NoProgress {
		w.bar = progressbar.NewOptions64(-1, progressbar.OptionSetWriter(p.err), progressbar.OptionSetDescription(name),
			progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	}
	return w
}

// event is called by the pipeline, one call at a time.
func (w *watching) event(e ingest.Event) {
	if w.bar != nil {
		w.bar.Describe(e.URL)
		w.bar.Set(e.Done)
		return
	}
	level := slog.LevelDebug
	if e.State == catalog.ObjectRejected || e.State == catalog.ObjectFailed {
		level = slog.LevelWarn
	}
	w.p.log.Log(w.p.ctx, level, "object", "url", e.URL, "state", e.State, "reason", e.Reason)
	if now := time.Now(); now.Sub(w.last) >= logEvery {
		w.last = now
		w.p.log.Info("ingest", "done", e.Done, "of", e.Total, "url", e.URL)
	}
}

// at shows how far a job is that counts something else than objects.
func (w *watching) at(done int, text string, attrs ...any) {
	if w.bar != nil {
		w.bar.Describe(text)
		w.bar.Set(done)
		return
	}
	if now := time.Now(); now.Sub(w.last) >= logEvery {
		w.last = now
		w.p.log.Info(text, attrs...)
	}
}

func (w *watching) stop() {
	if w.bar != nil {
		w.bar.Finish()
	}
}
