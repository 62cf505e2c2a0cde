package serve

import (
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
)

// symbolicateRequest is the JSON body of POST /v1/symbolicate. The stacks of a large body are decoded one by one, each
// twice: first to refuse mistakes before the answer begins, then to answer.
type symbolicateRequest struct {
	Stacks  []rawStack `json:"stacks"`
	Output  string     `json:"output"` // records (default), text or both
	Details bool       `json:"details"`

	stacks []byte // the array, of a large one; nil: not there
}

const (
	keptBytes = 512 << 10 // of a body that is small
	rawBytes  = 512       // about the memory of a rawStack, while its slice grows
)

func parseSymbolicate(text []byte) (req symbolicateRequest, err error) {
	if err := wellFormed(text, "", '{'); err != nil {
		return req, err
	}
	return req, members(text, func(name string, value []byte) error {
		switch {
		case strings.EqualFold(name, "stacks"):
			req.stacks = value
			return wellFormed(value, "stacks", '[')
		case strings.EqualFold(name, "output"):
			return decode(value, &req.Output, true)
		case strings.EqualFold(name, "details"):
			return decode(value, &req.Details, true)
		}
		return failed(http.StatusBadRequest, "unknown member %.64q", name)
	})
}

func (s *Server) symbolicateJSON(c *call) error {
	text, err := c.text()
	if err != nil {
		return err
	}
	n := count(text)
	if n.null {
		return errNull()
	}
	if most := s.o.Limits.Stacks; n.objects > most+1 {
		return failed(http.StatusRequestEntityTooLarge, "%d stacks: at most %d are answered at once", n.objects-1, most)
	}
	small := len(text) <= keptBytes
	kept := int64(0)
	if small {
		kept = 4*int64(len(text)) + rawBytes*int64(n.objects+n.commas)
	}
	if err := c.enter(kept); err != nil {
		return err
	}
	var req symbolicateRequest
	if small {
		err = decode(text, &req, true)
	} else {
		req, err = parseSymbolicate(text)
	}
	if err != nil {
		return err
	}
	said, err := parseOptions(c) // of no use here, and wrong all the same when it is wrong
	if err == nil {
		_, _, err = s.options(c, 0, &said.raw)
	}
	if err != nil {
		return err
	}
	switch {
	case req.stacks == nil && req.Stacks == nil:
		return failed(http.StatusBadRequest, "want stacks")
	case !slices.Contains([]string{"", "records", "text", "both"}, req.Output):
		return failed(http.StatusBadRequest, "output: want records, text or both")
	}
	p := &printed{details: req.Details, mayExceed: s.mayExceed(len(text)), s: s, c: c, records: req.Output != "text", text: req.Output == "text" || req.Output == "both"}
	var works []*work
	if small {
		works, err = p.all(req.Stacks)
	} else {
		err = p.check(req.stacks)
	}
	if err != nil {
		return err
	}
	p.j = wire.NewJSON(c.answer("application/json"))
	p.j.Begin("", '{')
	p.j.Begin("results", '[')
	if !small {
		err = p.again(req.stacks)
	}
	for i, w := range works {
		if err = p.add(i, w); err != nil {
			break
		}
	}
	if err == nil {
		err = p.end()
	}
	return c.finish(p.j, err)
}

// printed are the results of a request's raw stacks on their way.
type printed struct {
	s             *Server
	c             *call
	j             *wire.JSON
	records, text bool
	details       bool
	mayExceed     bool // the limit on frames
	group         group
	at            int // raw stacks with results under way or written
	inside        *wire.Text
	counts        *wire.Summary // of the result that is open
}

// raw decodes the raw stack i and makes work of it. Decoding takes several times its size for a moment.
func (p *printed) raw(i int, text []byte) (*work, error) {
	if err := p.c.turn.take(4 * int64(len(text))); err != nil {
		return nil, err
	}
	var raw rawStack
	if err := decode(text, &raw, true); err != nil {
		return nil, err
	}
	return p.work(i, &raw)
}

func (p *printed) work(i int, raw *rawStack) (*work, error) {
	if raw.Text == nil {
		return nil, failed(http.StatusBadRequest, "stacks[%d]: want text", i)
	}
	return p.s.newWork(p.c, i, raw, len(*raw.Text), func() io.Reader { return strings.NewReader(*raw.Text) })
}

// all makes work of the stacks of a small request. It refuses the request if any stack is wrong.
func (p *printed) all(stacks []rawStack) (works []*work, err error) {
	frames := 0
	for i := range stacks {
		w, err := p.work(i, &stacks[i])
		if err == nil && p.mayExceed {
			frames, err = w.countFrames(frames)
		}
		if err != nil {
			return nil, err
		}
		works = append(works, w)
	}
	return works, p.count(len(stacks))
}

// check refuses a large request with something wrong in it.
func (p *printed) check(stacks []byte) error {
	i, frames := 0, 0
	err := parts(stacks, func(text []byte) error {
		w, err := p.raw(i, text)
		i++
		if err == nil && p.mayExceed {
			frames, err = w.countFrames(frames)
		}
		p.c.turn.fresh()
		return err
	})
	if err != nil {
		return err
	}
	return p.count(i)
}

// count notes the number of raw stacks.
func (p *printed) count(n int) error {
	if p.c.stacks = n; n > p.c.limits.Stacks {
		return failed(http.StatusRequestEntityTooLarge, "%d stacks: at most %d are answered at once", n, p.c.limits.Stacks)
	}
	return nil
}

// again answers the stacks, each decoded anew.
func (p *printed) again(stacks []byte) error {
	i := 0
	return parts(stacks, func(text []byte) error {
		w, err := p.raw(i, text)
		if err != nil {
			return err
		}
		p.c.turn.base += int64(w.bytes)
		err = p.add(i, w)
		p.c.turn.base -= int64(w.bytes)
		i++
		return err
	})
}

// add answers one raw stack: at once where both forms are wanted, else together with those beside it.
func (p *printed) add(i int, w *work) error {
	if !p.records || !p.text {
		p.group.c = p.c
		return p.group.add(w, func(d *report.Report, answers [][]symbol.Answer) error {
			p.begin(i)
			return p.one(d, answers)
		})
	}
	frames := p.c.frames
	p.begin(i)
	if err := w.run(p.one); err != nil {
		return err
	}
	p.j.End()
	p.c.frames = frames // they are the same again
	text := p.j.Text("text")
	err := w.run(func(d *report.Report, answers [][]symbol.Answer) error { return report.Print(text, d, answers) })
	if err == nil {
		text.End()
	}
	return err
}

// one writes the answers of one stack in the form that is open.
func (p *printed) one(d *report.Report, answers [][]symbol.Answer) error {
	p.counts.Add(d, answers)
	if p.inside != nil {
		return report.Print(p.inside, d, answers)
	}
	wire.WriteStack(p.j, d, answers, wire.Details{On: p.details})
	return p.j.Err()
}

// begin begins the result of raw stack i, and of those before it that have none yet.
func (p *printed) begin(i int) {
	for p.at <= i {
		p.close()
		p.at++
		p.counts = new(wire.Summary)
		p.j.Begin("", '{')
		if p.records {
			p.j.Begin("stacks", '[')
		} else {
			p.inside = p.j.Text("text")
		}
	}
}

// close ends the result that is open.
func (p *printed) close() {
	switch {
	case p.at == 0:
		return
	case p.inside != nil:
		p.inside.End()
		p.inside = nil
	case !p.text: // of both forms, the first is closed
		p.j.End()
	}
	p.j.Members(described(p.counts).AppendMembers)
	p.j.End()
}

// end answers the last stacks and ends the answer.
func (p *printed) end() error {
	p.group.c = p.c
	if err := p.group.flush(); err != nil {
		return err
	}
	p.begin(p.c.stacks - 1)
	p.close()
	p.j.End()
	p.j.End()
	return p.j.Err()
}
