package answer

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
)

// placeIn is a frame's place as the artifact can tell it.
func placeIn(a *symbol.Artifact, f *report.Frame) symbol.Where {
	if f.At.Space != symbol.Anchored && len(f.Or) == 0 { // there is no other
		return f.At
	}
	for i := -1; i < len(f.Or); i++ {
		w := f.At
		if i >= 0 {
			w = f.Or[i]
		}
		w = dartPlace(a, w)
		if _, ok := a.Position(w); ok {
			return w
		}
	}
	return f.At
}

// dartPlace counts from the one symbol that newer snapshots of Dart have in
// place of the two that headers of traces still speak of.
func dartPlace(a *symbol.Artifact, w symbol.Where) symbol.Where {
	if w.Space != symbol.Anchored || w.Anchor != symbol.DartIsolate {
		return w
	}
	if _, has := a.Anchors[w.Anchor]; !has {
		if _, has = a.Anchors[symbol.DartText]; has {
			w.Anchor = symbol.DartText
		}
	}
	return w
}

// dart completes the answers of a stack that has to do with Dart.
func (b *stacks) dart(ctx context.Context, q *Query, answers [][]symbol.Answer) error {
	d := dartWork{c: b.c, q: q, answers: answers}
	for t := range q.Stack.Threads {
		frames := q.Stack.Threads[t].Frames
		for i := range frames {
			f := &frames[i]
			if f.Managed != nil || f.Script != nil {
				continue
			}
			at, err := b.c.image(ctx, f, &q.Options, &b.seen)
			if err != nil {
				return err
			}
			if err := d.frame(ctx, f, at.is(), &answers[t][i]); err != nil {
				return err
			}
		}
	}
	if len(d.code) == 0 && len(q.Stack.Words) == 0 {
		return nil
	}
	return d.rename(ctx)
}

// dartWork completes the answers of one stack.
type dartWork struct {
	c       *Client
	q       *Query
	answers [][]symbol.Answer
	code    []*symbol.Answer // those from snapshots of Dart
	builds  []string         // of these
	asked   bool
	symbols *catalog.Record // of the artifact named for code without sources of its own; nil: none
}

// frame looks at a frame that has been answered.
func (d *dartWork) frame(ctx context.Context, f *report.Frame, r *lookup.Resolution, a *symbol.Answer) error {
	if r.Status != symbol.Found || !r.Record.Published.Artifact.IsDart() {
		if w := anchored(f); w != nil && !f.Deferred && a.Status != symbol.Found {
			return d.elsewhere(ctx, *w, a)
		}
		return nil
	}
	d.code = append(d.code, a)
	for _, id := range []string{r.Record.Published.Artifact.Canonical, f.Program} {
		if id != "" && !slices.Contains(d.builds, id) {
			d.builds = append(d.builds, id)
		}
	}
	if a.Status != symbol.Found || len(a.Frames) != 1 || a.Frames[0].File != "" {
		return nil
	}
	artifact := &r.Record.Published.Artifact
	where := placeIn(artifact, f)
	if anchor := symbol.DartAnchor(a.Frames[0].Linkage); anchor != "" {
		// The program as it was shipped: of its code it has the beginning alone.
		if pos, ok := artifact.Position(where); ok {
			from := artifact.Anchors[anchor]
			a.Offset = pos - from
			return d.elsewhere(ctx, symbol.Where{Space: symbol.Anchored, Anchor: anchor, Value: pos - from}, a)
		}
		return nil
	}
	at, err := d.c.Locate(ctx, lookup.Query{Artifact: r.Record.ID, Where: where})
	if at.End > 0 {
		a.Offset = at.Position - at.Start
	}
	return err
}

// anchorOf is the name that a frame's place is counted from; "" if it is none.
func anchorOf(f *report.Frame) string {
	if w := anchored(f); w != nil {
		return w.Anchor
	}
	return ""
}

// anchored is a frame's place as an offset from a snapshot's instructions; nil: it is none.
func anchored(f *report.Frame) *symbol.Where {
	if f.At.Space == symbol.Anchored && symbol.DartAnchor(f.At.Anchor) != "" {
		return &f.At
	}
	for i := range f.Or {
		if w := &f.Or[i]; w.Space == symbol.Anchored && symbol.DartAnchor(w.Anchor) != "" {
			return w
		}
	}
	return nil
}

// elsewhere asks the artifact that the caller named for symbols which carry no
// id, as Flutter wrote them for iOS: nothing but the offset connects both. One
// with an id of its own is another build's.
func (d *dartWork) elsewhere(ctx context.Context, w symbol.Where, a *symbol.Answer) error {
	if !d.asked {
		d.asked = true
		names := d.q.Artifacts
		if d.q.App != "" {
			names = append(slices.Clip(names), d.q.App)
		}
		for _, name := range names {
			r := d.c.Resolve(ctx, name, lookup.Narrow{App: d.q.App, Anchor: w.Anchor})
			if r.Status == symbol.Found && r.Record.Published.Artifact.IsDart() && !hasID(r.Record) {
				d.symbols = r.Record
				break
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if d.symbols == nil {
		return nil
	}
	found := d.c.Lookup(ctx, lookup.Query{Artifact: d.symbols.ID, Where: dartPlace(&d.symbols.Published.Artifact, w)})
	if err := ctx.Err(); err != nil {
		return err
	}
	if found.Status == symbol.Found {
		*a = found
		if !slices.Contains(d.code, a) {
			d.code = append(d.code, a)
		}
	}
	return nil
}

// hasID reports whether an artifact has an id that its compiler or linker gave it.
func hasID(r *catalog.Record) bool {
	return slices.ContainsFunc(r.Names, func(n symbol.Name) bool {
		return n.Kind == symbol.NameBuildID || n.Kind == symbol.NameDebugID
	})
}

// rename gives the names that Dart's compiler replaced back, in answers and
// in the words of the text. Without a map everything stays as it is.
func (d *dartWork) rename(ctx context.Context) error {
	id, ok, err := d.names(ctx)
	if err != nil || !ok {
		return err
	}
	var ask []string
	words := d.q.Stack.Words
	for i := range words {
		ask = append(ask, words[i].Name)
	}
	for _, a := range d.code {
		for _, f := range a.Frames {
			ask = append(ask, f.File)
			eachName(f.Linkage, func(from, to int) { ask = append(ask, f.Linkage[from:to]) })
		}
	}
	slices.Sort(ask)
	ask = slices.Compact(ask)
	classes, err := d.c.Classes(ctx, id, ask)
	if why := (*lookup.ClassError)(nil); errors.As(err, &why) {
		return nil // the map is out of reach: names stay as they are
	} else if err != nil {
		return err
	}
	originals := map[string]string{}
	for i, class := range classes {
		if class != nil {
			originals[ask[i]] = class.Original
		}
	}
	for i := range words {
		words[i].Original = readable(originals[words[i].Name])
	}
	for _, a := range d.code {
		renamed := slices.Clone(a.Frames)
		for i := range renamed {
			f := &renamed[i]
			if name := original(f.Linkage, originals); name != "" {
				f.Function = name
			}
			if file := originals[f.File]; file != "" {
				f.File = file
			}
		}
		a.Frames = renamed
	}
	return nil
}

// names finds the map: by the builds of the frames, else by what the caller named.
func (d *dartWork) names(ctx context.Context) (symbol.ID, bool, error) {
	var ask []string
	for _, b := range d.builds {
		ask = append(ask, symbol.DartBuild(b))
	}
	ask = append(ask, d.q.Artifacts...)
	if d.q.App != "" {
		ask = append(ask, d.q.App)
	}
	for _, name := range ask {
		r := d.c.Resolve(ctx, name, lookup.Narrow{Kind: symbol.DartNames, App: d.q.App})
		if err := ctx.Err(); err != nil {
			return symbol.ID{}, false, err
		}
		if r.Status == symbol.Found && r.Record.Published.Artifact.Kind == symbol.DartNames {
			return r.Record.ID, true, nil
		}
	}
	return symbol.ID{}, false, nil
}

// eachName visits the names in a function's name: the names of its
// class and its own in "eea.fb", in "new eea" and "eea.fb.<anonymous closure>".
func eachName(function string, visit func(from, to int)) {
	for p := 0; p < len(function); {
		end := p
		for end < len(function) && isNamePart(function[end]) {
			end++
		}
		switch {
		case end == p:
			if rest := function[p:]; strings.HasPrefix(rest, "<anonymous closure>") {
				end += len("<anonymous closure>")
			} else {
				end++
			}
		case function[p:end] != "new":
			visit(p, end)
		}
		p = end
	}
}

func isNamePart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '$' || c == '@' || c == ':'
}

// original is a function's name with the names that were replaced; "" unless
// all of them were: compilers that keep the original names in the symbols
// keep them all, and one of those may be spelled as a replacement is.
func original(function string, originals map[string]string) string {
	var b strings.Builder
	done, whole := 0, true
	eachName(function, func(from, to int) {
		name := readable(originals[function[from:to]])
		whole = whole && name != ""
		b.WriteString(function[done:from])
		b.WriteString(name)
		done = to
	})
	if !whole || done == 0 {
		return ""
	}
	return b.String() + function[done:]
}

// readable is a name as Dart shows it to people: without the mark of a getter
// or setter, and the key of the library that a private name belongs to.
func readable(name string) string {
	for _, mark := range []string{"get:", "set:", "init:", "dyn:"} {
		name = strings.TrimPrefix(name, mark)
	}
	if i := strings.IndexByte(name, '@'); i > 0 {
		name = name[:i]
	}
	return name
}
