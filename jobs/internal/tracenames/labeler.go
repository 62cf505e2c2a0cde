// Package tracenames gives methods of traces their original names back, by the mappings of a store.
package tracenames

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/trace"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
)

// Memory of the parts that a mapping has in a conversion, in bytes: the client's blocks, and the names of classes that
// were read from them. Each name is asked for once, but the names of a class come in any order. Both of a mapping of
// 150,000 methods fit.
const (
	CacheBytes = 32 << 20
	NamesBytes = 24 << 20
)

// Options of a Labeler.
type Options struct {
	Ctx       context.Context
	Artifacts []string // names of mappings for methods that name none
	App       string   // APP@BUILD of a mapping for them
	All       bool     // without both: all mappings of the store
	Names     int      // bytes of names that are kept of a mapping; 0: NamesBytes
	// Open returns the client; it is called when a name first needs it.
	Open func() (c *answer.Client, close func() error, err error)
	// Warn says why names stay as they are. nil: no warnings.
	Warn func(message string, args ...any)
}

// Labeler gives names of traces back their originals. The store is opened when a name first needs it. One goroutine.
type Labeler struct {
	Options
	client *answer.Client
	end    func() error
	given  []*mapping          // that the options name; nil: not resolved yet
	images map[string]*mapping // that names in the trace give
	lost   map[symbol.ID]bool  // mappings with unreadable classes that a warning has named
}

// mapping is an artifact to look names up in.
type mapping struct {
	id      symbol.ID
	methods *answer.Methods
}

// maxImages bounds the mappings that a trace may name.
const maxImages = 256

// mapIDPrefix begins the source file of a method where that names its mapping.
const mapIDPrefix = "r8-map-id-"

// New returns a labeler. Close ends it.
func New(o Options) *Labeler {
	if o.Names == 0 {
		o.Names = NamesBytes
	}
	if o.Warn == nil {
		o.Warn = func(string, ...any) {}
	}
	return &Labeler{Options: o, images: map[string]*mapping{}, lost: map[symbol.ID]bool{}}
}

// Close closes what Open opened.
func (l *Labeler) Close() error {
	if l.end == nil {
		return nil
	}
	return l.end()
}

// Label says what a name is to be called. After an error, trying again may help.
func (l *Labeler) Label(n *trace.Name) (trace.Label, error) {
	out := trace.Label{Text: n.Text}
	m, ok := n.Method()
	if !ok {
		return out, nil
	}
	maps, err := l.mappings(&m)
	if err != nil {
		return out, err
	}
	if len(maps) == 0 {
		if m.Line > 0 && !strings.HasPrefix(m.File, mapIDPrefix) {
			out.File, out.Line = m.File, uint32(m.Line)
		}
		return out, nil
	}
	asked := report.Managed{Class: m.Class, Method: m.Name, File: m.File, Line: -1, Params: m.Typed}
	for _, p := range m.Params {
		asked.Types = append(asked.Types, report.Type{Name: p})
	}
	for _, of := range maps {
		found, err := l.in(of, &m, asked, &out)
		if found || err != nil {
			return out, err
		}
	}
	return out, nil
}

// in looks a method up in one mapping.
func (l *Labeler) in(of *mapping, m *trace.Method, asked report.Managed, out *trace.Label) (bool, error) {
	all, err := of.methods.Find(l.Ctx, &asked, m.Returns)
	if why := (*lookup.ClassError)(nil); errors.As(err, &why) && !why.Status.Retry() {
		if !l.lost[of.id] {
			l.lost[of.id] = true
			l.Warn("not symbolicated", "mapping", of.id.String(), "status", why.Status, "reason", why.Error())
		}
		return false, nil
	} else if err != nil {
		return false, err
	}
	if len(all) == 0 {
		return false, nil
	}
	typed := m.Typed || len(all) > 1
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = methodText(&all[i], typed, m.Returns)
	}
	out.Text, out.Or, out.File = texts[0], texts[1:], all[0].File
	if m.Line <= 0 {
		return true, nil
	}
	asked.Line, asked.Lined = m.Line, true
	a := l.client.Line(l.Ctx, of.id, &asked)
	if a.Status != symbol.Found {
		if a.Err != nil && a.Status.Retry() {
			return false, a.Err
		}
		return true, nil
	}
	l.lined(a, out, typed)
	return true, nil
}

// lined takes over the facts of a line: its method, and the methods inlined into it there.
func (l *Labeler) lined(a symbol.Answer, out *trace.Label, typed bool) {
	if len(a.Frames) == 0 || len(a.Or) > 0 {
		return
	}
	text := func(f *symbol.Frame) string {
		name, params, ok := strings.Cut(f.Linkage, "(")
		if !ok || !typed {
			return f.Function
		}
		params, returns, _ := strings.Cut(params, ")")
		o := retrace.Original{Params: params, Type: returns}
		return name + brackets(&o)
	}
	own := &a.Frames[len(a.Frames)-1]
	if t := text(own); t != out.Text && !slices.Contains(out.Or, t) {
		return
	} else {
		out.Text, out.Or = t, nil
	}
	out.File, out.Line = own.File, own.Line
	for i := range a.Frames[:len(a.Frames)-1] {
		out.Inlined = append(out.Inlined, text(&a.Frames[i]))
	}
}

// methodText is a method as ART prints it.
func methodText(o *retrace.Original, typed bool, returns string) string {
	text := o.Class + "." + o.Name
	if typed {
		text += brackets(o)
	}
	if returns != "" {
		if o.Type != "" {
			returns = o.Type
		}
		text = returns + " " + text
	}
	return text
}

func brackets(o *retrace.Original) string {
	return "(" + strings.ReplaceAll(o.Params, ",", ", ") + ")"
}

// mappings returns the mappings to look a method up in: the one of its source file, else the ones of the options.
func (l *Labeler) mappings(m *trace.Method) ([]*mapping, error) {
	if strings.HasPrefix(m.File, mapIDPrefix) {
		of, known := l.images[m.File]
		if !known && len(l.images) < maxImages {
			var err error
			if of, err = l.resolve(m.File); err != nil {
				return nil, err
			}
			l.images[m.File] = of
		}
		if of != nil {
			return []*mapping{of}, nil
		}
	}
	if l.given == nil {
		l.given = []*mapping{}
		names := slices.Clone(l.Artifacts)
		if l.App != "" {
			names = append(names, l.App)
		}
		for _, name := range names {
			of, err := l.resolve(name)
			if err != nil {
				return nil, err
			}
			if of != nil {
				l.given = append(l.given, of)
			}
		}
		if len(names) == 0 && l.All {
			of, err := l.only()
			if err != nil {
				return nil, err
			}
			l.given = of
		}
	}
	return l.given, nil
}

// open makes the client.
func (l *Labeler) open() (err error) {
	if l.client != nil {
		return nil
	}
	l.client, l.end, err = l.Open()
	return err
}

func (l *Labeler) mapping(id symbol.ID) *mapping {
	return &mapping{id, l.client.Methods(id, l.Names)}
}

// resolve finds a mapping by name; nil: there is none, which is said.
func (l *Labeler) resolve(name string) (*mapping, error) {
	if err := l.open(); err != nil {
		return nil, err
	}
	r := l.client.Resolve(l.Ctx, name, lookup.Narrow{Kind: symbol.R8, App: l.App})
	switch {
	case r.Status == symbol.Found && r.Record.Published.Artifact.Kind == symbol.R8:
		return l.mapping(r.Record.ID), nil
	case r.Status == symbol.Found:
		l.Warn("no mapping", "artifact", name, "kind", r.Record.Published.Artifact.Kind)
		return nil, nil
	case r.Status == symbol.Unavailable:
		return nil, fmt.Errorf("mapping %s: %w", name, r.Err)
	}
	l.Warn("not symbolicated", "mapping", name, "status", r.Status, "reason", symbol.Answer{Status: r.Status, Err: r.Err}.Reason())
	return nil, nil
}

// only gives the mappings among --symbols, which nothing else has to name.
func (l *Labeler) only() ([]*mapping, error) {
	if err := l.open(); err != nil {
		return nil, err
	}
	c, err := l.client.Catalog(l.Ctx)
	if err != nil {
		return nil, err
	}
	all := []*mapping{}
	err = c.Artifacts.Each(l.Ctx, func(r *catalog.Record) error {
		if r.Published != nil && r.Published.Artifact.Kind == symbol.R8 {
			all = append(all, l.mapping(r.ID))
		}
		return nil
	})
	return all, err
}
