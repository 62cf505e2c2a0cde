package serve

import (
	"errors"
	"io"
	"net/http"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/answer"
)

// Stacks are answered together until they have so many frames, or so much text: names are resolved once for all of them,
// and blocks read once.
const (
	groupFrames = 2048
	groupBytes  = 256 << 10
)

// frameBytes is less than any format's frame takes in a text.
const frameBytes = 3

// errFrames ends the reading of a request that is too large.
var errFrames = errors.New("too many frames")

// work is a raw stack on its way from text to answers.
type work struct {
	s     *Server
	c     *call
	text  func() io.Reader
	bytes int // of the text
	split report.Options
	o     answer.Options

	details bool // of the report go with records
}

// newWork makes work of a raw stack. i is its index in the request.
func (s *Server) newWork(c *call, i int, raw *rawStack, bytes int, text func() io.Reader) (*work, error) {
	split, o, err := s.options(c, i, raw)
	if err != nil {
		return nil, err
	}
	return &work{s: s, c: c, text: text, bytes: bytes, split: split, o: o}, nil
}

// mayExceed reports whether so many bytes of text may have more frames than a request may have.
func (s *Server) mayExceed(bytes int) bool { return bytes/frameBytes > s.o.Limits.Frames }

// countFrames adds the frames of the text to those before it, and refuses more than a request may have before anything is
// answered.
func (w *work) countFrames(before int) (int, error) {
	n := before
	err := w.each(func(d *report.Report) error {
		if n += d.Frames(); n > w.s.o.Limits.Frames {
			return errFrames
		}
		w.c.turn.fresh()
		return w.c.turn.yield()
	})
	w.c.turn.fresh()
	return n, w.refused(err)
}

// each splits the text.
func (w *work) each(emit func(*report.Report) error) error {
	return report.Split(w.c.ctx, w.text(), all.Dialects, w.split, emit)
}

// described ends the counts of a raw stack.
func described(s *wire.Summary) *wire.Summary {
	s.End()
	s.Describe(all.Dialects)
	return s
}

func (w *work) refused(err error) error {
	if errors.Is(err, errFrames) {
		return failed(http.StatusRequestEntityTooLarge, "more than %d frames", w.s.o.Limits.Frames)
	}
	return err
}

// run answers all stacks of one raw stack, in order.
func (w *work) run(emit func(d *report.Report, answers [][]symbol.Answer) error) error {
	g := group{c: w.c}
	err := g.add(w, emit)
	if err == nil {
		err = g.flush()
	}
	return err
}

// group is stacks that are answered together.
type group struct {
	c             *call
	queries       []answer.Query
	emits         []func(d *report.Report, answers [][]symbol.Answer) error
	frames, bytes int
}

// add takes the reports of a raw stack, and answers a group as soon as it is full.
func (g *group) add(w *work, emit func(d *report.Report, answers [][]symbol.Answer) error) error {
	return w.refused(w.each(func(d *report.Report) error {
		n := d.Frames()
		if g.c.frames += n; g.c.frames > g.c.limits.Frames {
			return errFrames
		}
		g.queries, g.emits = append(g.queries, answer.Query{Stack: d, Options: w.o}), append(g.emits, emit)
		g.frames += n
		if g.bytes += len(d.Text) + groupBytes/groupFrames; g.frames < groupFrames && g.bytes < groupBytes {
			return nil
		}
		return g.flush()
	}))
}

// flush answers the taken reports. Then other requests have a turn, and the memory is free again.
func (g *group) flush() error {
	if len(g.queries) == 0 {
		return g.c.done()
	}
	var failing error
	err := g.c.s.o.Client.Stacks(g.c.ctx, g.queries, func(i int, answers [][]symbol.Answer) {
		if failing == nil {
			failing = g.c.done()
		}
		if failing == nil {
			failing = g.emits[i](g.queries[i].Stack, answers)
		}
	})
	clear(g.queries)
	g.queries, g.emits, g.frames, g.bytes = g.queries[:0], g.emits[:0], 0, 0
	if err = errors.Join(failing, err); err != nil {
		return err
	}
	g.c.turn.fresh()
	return g.c.turn.yield()
}
