package answer

import (
	"context"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
	"github.com/symlake/symlake/sinks/lookup"
)

// frameRoom is about the memory of a frame's question and answer, without the answer's frames.
const frameRoom = 288

// Options say what a stack's text does not.
type Options struct {
	// Artifacts are names to ask for where a frame gives no id of its own:
	// of these, the one with the frame's file name; the first that is stored, if the frame has none.
	Artifacts []string
	// App is APP@BUILD: it narrows file names.
	App string
	// Kind is the kind of artifact for native frames that do not say it, see PlatformKind.
	Kind symbol.Kind
	// Used, unless nil, is called with each artifact of a frame, once a call or more often.
	Used func(symbol.ID)
}

// Query is a stack, and what its text does not say.
type Query struct {
	Stack *report.Report
	Options
}

// Stack answers the frames of a stack, [thread][frame]. Each frame's artifact is
// found by the names it gives, best first. An id decides: where it is not
// stored, no artifact of the same file name answers in its place. The only
// errors come from ctx and its room. A report with a process is walked first, see Walk: its threads and text change.
func (c *Client) Stack(ctx context.Context, s *report.Report, o Options) (answers [][]symbol.Answer, err error) {
	err = c.Stacks(ctx, []Query{{s, o}}, func(_ int, a [][]symbol.Answer) { answers = a })
	return answers, err
}

// Stacks is Stack for many at once, answered in the order asked: their names are resolved once, and their
// frames asked for together, so that a block is read once however many stacks lead to it. It holds all answers at once;
// a room in ctx bounds them, and its error comes back unchanged.
func (c *Client) Stacks(ctx context.Context, qs []Query, out func(i int, answers [][]symbol.Answer)) error {
	frames := 0
	for i := range qs {
		if err := c.Walk(ctx, qs[i].Stack, qs[i].Options); err != nil {
			return err
		}
		frames += qs[i].Stack.Frames()
	}
	if err := room.Take(ctx, int64(frames)*frameRoom); err != nil {
		return err
	}
	b := stacks{c: c, seen: newResolved(frames), work: make([]stackWork, len(qs)), batch: c.Batch(ctx, frames), frames: frames}
	for i, from := 0, 0; i < len(qs); i++ {
		var err error
		if from, err = b.add(ctx, &qs[i], &b.work[i], from); err != nil {
			return err
		}
	}
	if err := b.shift(ctx); err != nil {
		return err
	}
	if err := b.count(ctx); err != nil {
		return err
	}
	if err := b.batch.Ask(ctx, b.qs); err != nil {
		return err
	}
	for _, s := range b.settled {
		*s.to = s.is
	}
	if err := b.settleMapped(ctx); err != nil {
		return err
	}
	if len(qs) > 1 {
		if err := b.warm(ctx, qs); err != nil {
			return err
		}
	}
	for i := range qs {
		w := &b.work[i]
		if err := c.retrace(ctx, qs[i].Stack, &w.lines, w.answers); err != nil {
			return err
		}
		if w.dart || len(qs[i].Stack.Words) > 0 {
			if err := b.dart(ctx, &qs[i], w.answers); err != nil {
				return err
			}
		}
		keepNames(qs[i].Stack, w.answers)
		out(i, w.answers)
	}
	b.batch.Close()
	return nil
}

// stacks are questions of several stacks on their way.
type stacks struct {
	c       *Client
	seen    resolved
	work    []stackWork
	batch   *lookup.Batch
	frames  int
	qs      []lookup.Question
	tables  []lookup.Query // of frames that count from a place in their map
	shifted []int          // of qs
	counted []counted
	settled []settledAnswer
	mapped  []mapped
	modules []lookup.Query // of frames in mapped
}

// stackWork is one of them.
type stackWork struct {
	answers [][]symbol.Answer
	lines   managed
	dart    bool // there is code of Dart in it
}

// add resolves the names of a stack's frames and notes what is to be asked. Its answers begin at from
// in the batch; it returns where the next stack's begin.
func (b *stacks) add(ctx context.Context, q *Query, w *stackWork, from int) (next int, err error) {
	s := q.Stack
	w.answers = make([][]symbol.Answer, len(s.Threads))
	for t := range s.Threads {
		frames := s.Threads[t].Frames
		answers := b.batch.Answers()[from : from+len(frames) : from+len(frames)]
		w.answers[t] = answers
		var at, last *target
		for i := range frames {
			f := &frames[i]
			if i == 0 || !sameMapping(&frames[i-1], f) {
				if at, err = b.c.image(ctx, f, &q.Options, &b.seen); err != nil {
					return 0, err
				}
			}
			r := at.is()
			if q.Used != nil && r.Status == symbol.Found && at != last {
				q.Used(r.Record.ID)
			}
			last = at
			w.lines.lost = w.lines.lost || f.Managed != nil && r.Status != symbol.Found
			if r.Status != symbol.Found {
				w.dart = w.dart || anchorOf(f) != ""
				answers[i] = symbol.Answer{Status: r.Status, Err: r.Err}
				b.c.Count(f.Kind, r.Status, 1)
				continue
			}
			if f.Managed != nil {
				w.lines.add(t, i, r.Record.ID, len(frames)-i)
				continue
			}
			w.dart = w.dart || at.dart
			if err := b.native(ctx, f, at, from+i); err != nil {
				return 0, err
			}
			b.viaMap(f, at, &answers[i])
		}
		from += len(frames)
	}
	return from, nil
}

// native notes the question of a frame that has a position; to is its answer's number.
func (b *stacks) native(ctx context.Context, f *report.Frame, at *target, to int) error {
	r := at.is()
	if at.group < 0 {
		g, err := b.batch.Artifact(ctx, r.Record.ID)
		if err != nil {
			return err
		}
		at.group = g
	}
	if b.qs == nil {
		b.qs = make([]lookup.Question, 0, b.frames-to)
	}
	if f.Script != nil {
		if via, ok := tableOf(f, r.Record); ok {
			b.tables = append(b.tables, via)
			b.shifted = append(b.shifted, len(b.qs))
		}
	}
	if f.At.Space == symbol.Anchored && anchorOf(f) == "" && r.Record.Published.Artifact.Anchors[f.At.Anchor] == 0 {
		b.counted = append(b.counted, counted{r.Record.ID, len(b.qs), f.At, f.Or, &b.batch.Answers()[to]})
	}
	b.qs = append(b.qs, lookup.Question{Where: placeIn(&r.Record.Published.Artifact, f), Artifact: at.group, Answer: int32(to)})
	return nil
}

// warm brings the classes of all stacks into the cache, each mapping's in one round trip. What fails here
// is told where it is needed.
func (b *stacks) warm(ctx context.Context, qs []Query) error {
	names := map[symbol.ID][]string{}
	for i := range qs {
		for _, id := range b.work[i].lines.ids {
			for t := range qs[i].Stack.Threads {
				names[id] = retrace.Classes(&qs[i].Stack.Threads[t], names[id])
			}
		}
	}
	for id, all := range names {
		if _, err := b.c.RenamedClasses(ctx, id, all); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// Walk walks the stacks of a report's process by the rules that are stored for its modules, and sets the report's threads and
// text. It does nothing for reports without a process, and for reports that were walked. Stacks and Explain call it. The only
// errors come from ctx and its room.
func (c *Client) Walk(ctx context.Context, s *report.Report, o Options) error {
	if s.Walk == nil {
		return nil
	}
	w := s.Walk
	r := rules{c: c, o: &o, arch: s.Arch, p: w.Process, seen: newResolved(len(w.Process.Modules)), modules: make([]module, len(w.Process.Modules))}
	frames, err := unwind.Walk(ctx, w.Process, &r)
	if err != nil {
		return err
	}
	n := 0
	for _, t := range frames {
		n += len(t)
	}
	if err := room.Take(ctx, int64(n)*report.FrameRoom); err != nil {
		return err
	}
	s.Walk = nil
	w.Render(s, frames)
	return nil
}

// rules answers a walk from the store.
type rules struct {
	c       *Client
	o       *Options
	arch    string
	p       *unwind.Process
	seen    resolved
	modules []module // as unwind.Process has them
	qs      []lookup.Query
	to      []int // of the places, for each question
}

// module is the artifact of a module.
type module struct {
	asked bool
	frame report.Frame // names it
	id    symbol.ID
	found bool
}

// questions makes a question of each place in a module that an artifact is stored for.
func (r *rules) questions(ctx context.Context, at []unwind.Place) error {
	r.qs, r.to = r.qs[:0], r.to[:0]
	for i, p := range at {
		m := &r.modules[p.Module]
		if !m.asked {
			m.asked = true
			from := &r.p.Modules[p.Module]
			m.frame = report.Frame{Image: from.Names(), File: from.Path, Kind: from.Kind, Arch: r.arch}
			t, err := r.c.image(ctx, &m.frame, r.o, &r.seen)
			if err != nil {
				return err
			}
			if is := t.is(); is.Status == symbol.Found {
				m.id, m.found = is.Record.ID, true
			}
		}
		if m.found {
			r.qs = append(r.qs, lookup.Query{Artifact: m.id, Where: symbol.Where{Space: symbol.Position, Value: p.Offset}})
			r.to = append(r.to, i)
		}
	}
	return nil
}

// Rules implements unwind.Source.
func (r *rules) Rules(ctx context.Context, at []unwind.Place, out []unwind.Found) error {
	if err := r.questions(ctx, at); err != nil || len(r.qs) == 0 {
		return err
	}
	return r.c.Unwind(ctx, r.qs, func(i int, u *lookup.Unwound) error {
		if u.Status == symbol.Found {
			out[r.to[i]] = unwind.Found{Rules: u.Rules, Start: u.Start}
		}
		return nil
	})
}

// Functions implements unwind.Source.
func (r *rules) Functions(ctx context.Context, at []unwind.Place, out []unwind.Known) error {
	if err := r.questions(ctx, at); err != nil || len(r.qs) == 0 {
		return err
	}
	return r.c.Each(ctx, r.qs, func(i int, a *symbol.Answer) error {
		switch a.Status {
		case symbol.Found:
			out[r.to[i]] = unwind.Function
		case symbol.Hole, symbol.Outside:
			out[r.to[i]] = unwind.NoFunction
		}
		return nil
	})
}
