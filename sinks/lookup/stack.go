package lookup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/stack"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

// StackOptions say what a stack's text does not.
type StackOptions struct {
	// Artifacts are names to ask for where a frame gives no id of its own:
	// of these, the one with the frame's file name; the first that is stored, if the frame has none.
	Artifacts []string
	// App is APP@BUILD: it narrows file names.
	App string
	// Kind is that of the artifacts of native frames that do not say it, see PlatformKind.
	Kind symbol.Kind
	// Used hears the artifacts that frames are looked up in, each once a call or more often; nil: nobody.
	Used func(symbol.ID)
}

// StackQuery is a stack, and what its text does not say.
type StackQuery struct {
	Stack *stack.Stack
	StackOptions
}

// Stack answers the frames of a stack, [thread][frame]. Each frame's artifact is
// found by the names it gives, best first. An id decides: where it is not
// stored, no artifact of the same file name answers in its place. The only
// error is ctx's.
func (c *Client) Stack(ctx context.Context, s *stack.Stack, o StackOptions) (answers [][]symbol.Answer, err error) {
	err = c.Stacks(ctx, []StackQuery{{s, o}}, func(_ int, a [][]symbol.Answer) { answers = a })
	return answers, err
}

// Stacks is Stack for many at once, answered in the order asked: their names are resolved once, and their
// frames asked for together, so that a block is read once however many stacks lead to it. What it
// holds is bounded by the caller's stacks.
func (c *Client) Stacks(ctx context.Context, qs []StackQuery, out func(i int, answers [][]symbol.Answer)) error {
	frames := 0
	for i := range qs {
		for t := range qs[i].Stack.Threads {
			frames += len(qs[i].Stack.Threads[t].Frames)
		}
	}
	b := stacks{c: c, seen: resolved{}, work: make([]stackWork, len(qs)), qs: make([]Query, 0, frames), to: make([]*symbol.Answer, 0, frames)}
	for i := range qs {
		if err := b.add(ctx, &qs[i], &b.work[i]); err != nil {
			return err
		}
	}
	if err := c.shift(ctx, b.tables, b.shifted, b.qs); err != nil {
		return err
	}
	if err := b.count(ctx); err != nil {
		return err
	}
	if err := c.Frames(ctx, b.qs, func(i int, a symbol.Answer) { *b.to[i] = a }); err != nil {
		return err
	}
	for _, s := range b.settled {
		*s.to = s.is
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
		out(i, w.answers)
	}
	return nil
}

// stacks are questions of several stacks on their way.
type stacks struct {
	c       *Client
	seen    resolved
	work    []stackWork
	qs      []Query
	to      []*symbol.Answer
	tables  []Query // of frames whose positions count from a place that their map tells
	shifted []int   // of qs
	counted []counted
	settled []settledAnswer
}

// stackWork is one of them.
type stackWork struct {
	answers [][]symbol.Answer
	lines   managed
	dart    bool // there is code of Dart in it
}

// add resolves the names of a stack's frames and notes what is to be asked.
func (b *stacks) add(ctx context.Context, q *StackQuery, w *stackWork) error {
	s := q.Stack
	n := 0
	for t := range s.Threads {
		n += len(s.Threads[t].Frames)
	}
	slab := make([]symbol.Answer, n)
	w.answers = make([][]symbol.Answer, len(s.Threads))
	for t := range s.Threads {
		frames := s.Threads[t].Frames
		w.answers[t], slab = slab[:len(frames):len(frames)], slab[len(frames):]
		var r Resolution
		var last *row.Record
		for i := range frames {
			f, a := &frames[i], &w.answers[t][i]
			if i == 0 || !sameMapping(&frames[i-1], f) {
				var err error
				if r, _, err = b.c.image(ctx, f, q.StackOptions, b.seen); err != nil {
					return err
				}
				if q.Used != nil && r.Status == symbol.Found && (i == 0 || r.Record != last) {
					q.Used(r.Record.ID)
				}
				last = r.Record
			}
			w.lines.lost = w.lines.lost || f.Managed != nil && r.Status != symbol.Found
			if r.Status != symbol.Found {
				w.dart = w.dart || anchorOf(f) != ""
				*a = symbol.Answer{Status: r.Status, Err: r.Err}
				b.c.o.Observer.answered(f.Kind, r.Status, 1)
				continue
			}
			if f.Managed != nil {
				w.lines.add(t, i, r.Record.ID)
				continue
			}
			if via, ok := tableOf(f, r.Record); ok {
				b.tables = append(b.tables, via)
				b.shifted = append(b.shifted, len(b.qs))
			}
			w.dart = w.dart || isDart(&r.Record.Published.Artifact)
			where := placeIn(&r.Record.Published.Artifact, f)
			if f.At.Space == symbol.Anchored && anchorOf(f) == "" && r.Record.Published.Artifact.Anchors[f.At.Anchor] == 0 {
				b.counted = append(b.counted, counted{r.Record.ID, len(b.qs), f.At, f.Or, a})
			}
			b.qs = append(b.qs, Query{r.Record.ID, where})
			b.to = append(b.to, a)
		}
	}
	return nil
}

// warm brings the classes of all stacks into the cache, each mapping's in one round trip. What fails here
// is told where it is needed.
func (b *stacks) warm(ctx context.Context, qs []StackQuery) error {
	names := map[symbol.ID][]string{}
	for i := range qs {
		for _, id := range b.work[i].lines.ids {
			for t := range qs[i].Stack.Threads {
				names[id] = retrace.Classes(&qs[i].Stack.Threads[t], names[id])
			}
		}
	}
	for id, all := range names {
		slices.Sort(all)
		if _, err := b.c.ready(ctx, id, slices.Compact(all)); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// sameMapping: two managed lines that name their mapping alike.
func sameMapping(a, b *stack.Frame) bool {
	return a.Managed != nil && b.Managed != nil && slices.Equal(a.Image, b.Image)
}

// Tried is one name that was asked for, and what it led to.
type Tried struct {
	Name string
	Resolution
}

// resolved are the outcomes of names: hundreds of frames share a few images.
type resolved map[imageKey][]Tried

// imageKey is all that an image is found by. It is made without allocating where a frame gives two names at most.
type imageKey struct {
	first, second, others string
	file, arch            string
	kind, platform        symbol.Kind
	script                bool
	managed               bool
	anchor                string
	options               string
}

func keyOf(f *stack.Frame, o *StackOptions) imageKey {
	k := imageKey{file: f.File, arch: f.Arch, kind: f.Kind, platform: o.Kind, script: f.Script != nil, managed: f.Managed != nil, anchor: anchorOf(f), options: o.App}
	if len(o.Artifacts) > 0 {
		k.options = strings.Join(o.Artifacts, "\x00") + "\x00\x00" + o.App
	}
	switch {
	case len(f.Image) > 2:
		k.others = strings.Join(f.Image[2:], "\x00")
		fallthrough
	case len(f.Image) == 2:
		k.second = f.Image[1]
		fallthrough
	case len(f.Image) == 1:
		k.first = f.Image[0]
	}
	return k
}

// image finds the artifact of a frame. tried holds every name asked for; the
// last one is the outcome. The error is ctx's.
func (c *Client) image(ctx context.Context, f *stack.Frame, o StackOptions, seen resolved) (Resolution, []Tried, error) {
	key := keyOf(f, &o)
	tried, ok := seen[key]
	if !ok {
		tried = c.try(ctx, f, o)
		if err := ctx.Err(); err != nil {
			return Resolution{}, nil, err
		}
		seen[key] = tried
	}
	return tried[len(tried)-1].Resolution, tried, nil
}

func (c *Client) try(ctx context.Context, f *stack.Frame, o StackOptions) (tried []Tried) {
	n := Narrow{Kind: f.Kind, Arch: f.Arch, App: o.App, Anchor: anchorOf(f)}
	if n.Kind == "" && f.Managed == nil && f.Script == nil {
		n.Kind = o.Kind
	}
	if f.Script != nil {
		n.Path = f.File
	}
	if f.File != "" {
		n.File = fileName(f.File)
	}
	ask := func(name string) Resolution {
		r := c.Resolve(ctx, name, n)
		if f.Managed == nil && r.Status == symbol.Found && r.Record.Published.Artifact.Kind.HasClasses() {
			r = unresolved(lacking(symbol.NoArtifact, "%s holds names, and no positions", name))
		}
		tried = append(tried, Tried{name, r})
		return r
	}
	ids := slices.DeleteFunc(slices.Clone(f.Image), func(name string) bool { return !isContent(strings.ToLower(name)) })
	if len(ids) > 0 {
		for _, name := range ids {
			if ask(name).Status != symbol.NoArtifact {
				return tried
			}
		}
		last := &tried[len(tried)-1]
		last.Err = c.otherBuilds(ctx, n.File, last.Err)
		return tried
	}
	if n.File != "" {
		for _, name := range o.Artifacts {
			if r := ask(name); r.Record != nil && hasName(r.Record, symbol.NameFile, n.File) {
				return tried
			}
		}
	}
	names := f.Image
	if len(names) == 0 {
		names = o.Artifacts
	}
	if len(names) == 0 && (f.Managed != nil || n.Anchor != "") && o.App != "" {
		names = []string{o.App}
	}
	for _, name := range names {
		if ask(name).Status != symbol.NoArtifact {
			return tried
		}
	}
	if f.Script != nil && len(f.Image) > 0 { // one map is given for scripts of any name
		for _, name := range o.Artifacts {
			if ask(name).Status != symbol.NoArtifact {
				return tried
			}
		}
	}
	if len(tried) == 0 {
		tried = append(tried, Tried{"", unresolved(lacking(symbol.NoArtifact, "the frame names no artifact"))})
	}
	return tried
}

// maxOthers bounds the artifacts that a reason lists.
const maxOthers = 3

// otherBuilds adds to the reason why nothing is stored under an id what is
// stored under the image's file name: an id that differs is what most people
// whose frames stay bare are looking for.
func (c *Client) otherBuilds(ctx context.Context, file string, reason error) error {
	if file == "" || reason == nil {
		return reason
	}
	same := c.sameFile(ctx, file)
	if len(same) == 0 {
		return fmt.Errorf("%w; nothing is stored under the name %q either", reason, file)
	}
	var others []string
	for _, s := range same[:min(len(same), maxOthers)] {
		others = append(others, fmt.Sprintf("%s (%s, from %s)", s.Canonical, s.Arch, s.Object))
	}
	if more := len(same) - len(others); more > 0 {
		others = append(others, fmt.Sprintf("%d more", more))
	}
	return fmt.Errorf("%w; under the name %q is stored: %s", reason, file, strings.Join(others, ", "))
}
