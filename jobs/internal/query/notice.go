package query

import (
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/report/unread"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/internal/session"
)

// warnUnread describes an input in which no frame was recognized.
func warnUnread(p *session.Session, name string, sample *unread.Sample) {
	words := []any{"input", name, "looks", sample.Looks()}
	if form, ok := sample.Nearest(unread.Forms(all.Dialects)); ok {
		words = append(words, "nearest", fmt.Sprintf("%s, with lines like %q", form.Name, form.Line))
	}
	p.Log.Warn("no frame was recognized", words...)
}

// maxBare images are warned of by name in one run.
const maxBare = 20

// bareImages are the images without answers, by the names that their frames ask for.
type bareImages struct {
	p    *session.Session
	seen map[string]bool
}

func newBareImages(p *session.Session) *bareImages {
	return &bareImages{p: p, seen: map[string]bool{}}
}

// warn says once for each of the first images why its frames stay unchanged.
func (b *bareImages) warn(s *report.Report, answers [][]symbol.Answer) {
	for t := range s.Threads {
		for i := range s.Threads[t].Frames {
			f, a := &s.Threads[t].Frames[i], answers[t][i]
			if a.Status == symbol.Found || a.Status == symbol.Hole || a.Status == symbol.Outside || len(f.Image) == 0 {
				continue
			}
			key := strings.Join(f.Image, " ")
			if b.seen[key] || len(b.seen) >= maxNames {
				continue
			}
			b.seen[key] = true
			if len(b.seen) <= maxBare {
				b.p.Log.Warn("not symbolicated", "image", f.File, "status", a.Status, "reason", a.Reason())
			}
		}
	}
}

// end says how many images more had no answer.
func (b *bareImages) end() {
	more := len(b.seen) - maxBare
	switch {
	case len(b.seen) >= maxNames:
		b.p.Log.Warn(fmt.Sprintf("not symbolicated: more than %d images more", more))
	case more > 0:
		b.p.Log.Warn(fmt.Sprintf("not symbolicated: and %d more", more))
	}
}
