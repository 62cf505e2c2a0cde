package answer

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
	"github.com/symlake/symlake/sinks/lookup"
)

// Explanation is the way from a frame's text to its row, as far as it goes.
type Explanation struct {
	Text    string // as parsed
	Tried   []Tried
	Status  symbol.Status
	Err     error // the reason, unless Found
	Raw     uint64
	Trust   unwind.Trust // see report.Frame
	Stepped symbol.Where // after the step into the call

	Artifact  symbol.ID // zero: no name led to one
	Canonical string
	Load      string // hex; "": nothing is published
	Format    string // that read it, and its parser's version
	Parser    int
	Object    string // URL of the object the load was read from
	Member    string
	Ledger    []Ledger // of that object, or of the objects that could not be loaded
	Missing   []string // companions the load could not read
	SameFile  []Same   // unless Found: the artifacts stored with the frame's file name

	Class string // of a managed line, in the program; Row is known, and no position

	Located    bool // the next three are known
	Position   uint64
	Row        int    // index of the row that speaks for it
	Start, End uint64 // of the range or hole around it, in the row
}

// Ledger is what the ledger says of an object.
type Ledger struct{ URL, State, Reason string }

// Same is a stored artifact with a given file name.
type Same struct {
	ID              symbol.ID
	Canonical, Arch string
	Object          string
}

// Explain tells for each frame of a stack how it was or was not answered, thread by thread: emit is called once for each,
// on this goroutine, and may keep x. emit's error comes back unchanged; the only other one is ctx's.
func (c *Client) Explain(ctx context.Context, s *report.Report, o Options, emit func(thread, frame int, x *Explanation) error) error {
	if err := c.Walk(ctx, s, o); err != nil {
		return err
	}
	seen := newResolved(0)
	for t := range s.Threads {
		for i := range s.Threads[t].Frames {
			x, err := c.explain(ctx, s, &s.Threads[t].Frames[i], &o, &seen)
			if err == nil {
				err = emit(t, i, x)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// explain tells the way of one frame.
func (c *Client) explain(ctx context.Context, s *report.Report, f *report.Frame, o *Options, seen *resolved) (*Explanation, error) {
	at, err := c.image(ctx, f, o, seen)
	if err != nil {
		return nil, err
	}
	r, tried := *at.is(), at.tried
	x := &Explanation{Text: string(s.FrameText(f)), Tried: tried, Status: r.Status, Err: r.Err, Raw: f.Raw, Trust: f.Trust, Stepped: f.At}
	if r.Status == symbol.Found && f.Managed == nil {
		x.Stepped = placeIn(&r.Record.Published.Artifact, f)
	}
	if r.Record != nil {
		c.explainRecord(ctx, x, r)
	}
	for _, obj := range r.Objects {
		x.Ledger = append(x.Ledger, Ledger{obj.URL, string(obj.State), obj.Reason})
	}
	if x.Status == symbol.Found && f.Managed != nil {
		c.explainClass(ctx, x, r.Record.ID, f.Managed)
	} else if x.Status == symbol.Found {
		c.explainPlace(ctx, x, r.Record.ID)
	} else if f.File != "" {
		x.SameFile = c.sameFile(ctx, lookup.FileName(f.File))
	}
	return x, ctx.Err()
}

func (c *Client) explainRecord(ctx context.Context, x *Explanation, r lookup.Resolution) {
	x.Artifact = r.Record.ID
	l := r.Record.Published
	if l == nil {
		return
	}
	x.Canonical, x.Load, x.Format, x.Parser = l.Artifact.Canonical, fmt.Sprintf("%x", l.Load), l.Format, l.Parser
	x.Object, x.Member, x.Missing = l.Source.URL, l.Source.Member, l.Quality.Missing
	if catalog, err := c.Catalog(ctx); err == nil && x.Object != "" {
		switch o, err := catalog.Ledger.Get(ctx, x.Object); {
		case err != nil:
			x.Ledger = append(x.Ledger, Ledger{URL: x.Object, Reason: err.Error()})
		case o != nil:
			x.Ledger = append(x.Ledger, Ledger{o.URL, string(o.State), o.Reason})
		}
	}
}

func (c *Client) explainPlace(ctx context.Context, x *Explanation, id symbol.ID) {
	a := c.Lookup(ctx, lookup.Query{Artifact: id, Where: x.Stepped})
	x.Status, x.Err = a.Status, a.Err
	if at, err := c.Locate(ctx, lookup.Query{Artifact: id, Where: x.Stepped}); err == nil {
		x.Located, x.Position, x.Row, x.Start, x.End = at.Known, at.Position, at.Row, at.Start, at.End
	}
}

// explainClass says in which row the class of a managed line stands, or would.
func (c *Client) explainClass(ctx context.Context, x *Explanation, id symbol.ID, m *report.Managed) {
	a := c.Method(ctx, id, m.Class, m.Method, m.Line)
	x.Status, x.Err = a.Status, a.Err
	if i, ok := c.ClassRow(ctx, id, m.Class); ok {
		x.Class, x.Row = m.Class, i
	}
}

// sameFile lists the artifacts stored under a file name. If the build-id of a stack is not among
// them, the stack comes from another build.
func (c *Client) sameFile(ctx context.Context, file string) (same []Same) {
	for _, r := range c.Namesakes(ctx, file) {
		p := r.Published
		same = append(same, Same{r.ID, p.Artifact.Canonical, p.Artifact.Arch, p.Source.URL})
	}
	return same
}
