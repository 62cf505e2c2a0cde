package query

import (
	"io"
	"os"
	"slices"

	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
)

// meter shows how much of its inputs a command has read, in a bar. One goroutine reads.
type meter struct {
	watch *term.Progress
	step  term.Step
}

// newMeter starts a bar for inputs; no files: standard input. No bar is shown where the answers go to the terminal
// themselves, or where a person types the input.
func newMeter(p *session.Session, files []string, output string) *meter {
	if output == "" && p.OutView.Terminal() || (len(files) == 0 || slices.Contains(files, "-")) && term.Look(p.In, term.ColorAuto).Terminal() {
		return &meter{watch: new(term.Progress)}
	}
	m := &meter{watch: p.WatchBar("symbolicate")}
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			m.step.Total = 0
			break
		}
		m.step.Total += info.Size()
	}
	return m
}

// stop takes the bar away.
func (m *meter) stop() { m.watch.Stop() }

// again lets the bar begin again, for an input that is read several times.
func (m *meter) again() { m.step.Done = 0 }

// reader returns a reader of an input that moves the bar.
func (m *meter) reader(name string, r io.Reader) io.Reader {
	if !m.watch.HasBar() {
		return r
	}
	m.step.Text = name
	return &metered{m, r}
}

type metered struct {
	m *meter
	r io.Reader
}

// Read implements io.Reader.
func (r *metered) Read(b []byte) (int, error) {
	n, err := r.r.Read(b)
	r.m.step.Done += int64(n)
	r.m.watch.At(r.m.step, "")
	return n, err
}
