package profiles

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
)

// mapping is what the names of a mapping lead to.
type mapping struct {
	ids    []symbol.ID   // asked in order; the first with a class answers
	status symbol.Status // of no ids
	reason string
}

const (
	pileClasses = 1024 // are looked up at once
	maxImages   = 256  // mappings that a profile may name
)

// classes looks obfuscated classes up, and counts them.
func (a *Asker) classes(ctx context.Context, image, names []string, answered func(i int, c *profile.Class)) error {
	if len(names) == 0 {
		return nil
	}
	of, err := a.mapping(ctx, image)
	if err != nil {
		return err
	}
	said := ""
	if len(image) > 0 {
		said = image[0]
	}
	for from := 0; from < len(names); from += pileClasses {
		some := names[from:min(len(names), from+pileClasses)]
		found := make([]*profile.Class, len(some))
		status, reason := of.status, of.reason
		for _, id := range of.ids {
			err := a.in(ctx, id, some, found)
			if why := (*lookup.ClassError)(nil); errors.As(err, &why) {
				status, reason = why.Status, why.Error()
			} else if err != nil {
				return err
			}
		}
		for i, c := range found {
			if c == nil && reason != "" {
				a.counts.Miss(said, status, reason, 1)
			} else {
				a.counts.Class(c != nil)
			}
			answered(from+i, c)
		}
	}
	return nil
}

// in looks up in one mapping the classes that are not found yet. The error is ctx's, of its room or a *ClassError.
func (a *Asker) in(ctx context.Context, id symbol.ID, names []string, found []*profile.Class) error {
	classes, err := a.client.RenamedClasses(ctx, id, names)
	if err != nil {
		return err
	}
	if a.Used != nil {
		a.Used(id)
	}
	for i, c := range classes {
		if c != nil && found[i] == nil {
			found[i] = classOf(c)
		}
	}
	return nil
}

// classOf returns what a mapping says of a class.
func classOf(c *lookup.Class) *profile.Class {
	whole := c.Whole()
	out := &profile.Class{Original: whole.Original}
	named := func(class, name string) string {
		if class == "" || class == whole.Original {
			return name
		}
		return class + "." + name
	}
	retrace.NewClass(c.Head(), c).Names().Each(func(name string, all []retrace.Original) {
		for i := range all {
			out.Methods = append(out.Methods, profile.Member{Name: name, Original: named(all[i].Class, all[i].Name)})
		}
	})
	for i := range whole.Members {
		m := &whole.Members[i]
		member := profile.Member{Name: m.Name, Original: named(m.Class, m.Original)}
		if m.Field {
			out.Fields = append(out.Fields, member)
			continue
		}
		out.Lines = append(out.Lines, profile.MethodLine{Member: member,
			Ranged: m.Lines.Count == 2, First: m.Lines.First, Last: m.Lines.Last,
			Sourced: m.From.Count > 0, From: m.From.First, To: m.From.Last})
	}
	return out
}

// mapped reports whether there is a mapping of these names.
func (a *Asker) mapped(ctx context.Context, image []string) (bool, error) {
	if len(image) == 0 && len(a.Artifacts) == 0 && a.App == "" && !a.All {
		return false, nil // nothing names one: the store need not be opened
	}
	of, err := a.mapping(ctx, image)
	return err == nil && len(of.ids) > 0, err
}

// mapping returns the mapping that classes lie in.
func (a *Asker) mapping(ctx context.Context, image []string) (*mapping, error) {
	if err := a.open(); err != nil {
		return nil, err
	}
	if len(image) == 0 {
		if a.given == nil {
			of, err := a.givenMapping(ctx)
			if err != nil {
				return nil, err
			}
			a.given = of
		}
		return a.given, nil
	}
	key := strings.Join(image, "\x00")
	of, known := a.images[key]
	if known {
		return of, nil
	}
	of, err := a.resolve(ctx, image)
	if err == nil && len(a.images) < maxImages {
		a.images[key] = of
	}
	return of, err
}

// givenMapping returns the mapping that the options name.
func (a *Asker) givenMapping(ctx context.Context) (*mapping, error) {
	names := a.Artifacts
	if a.App != "" {
		names = append(names[:len(names):len(names)], a.App)
	}
	switch {
	case len(names) > 0:
		all := &mapping{}
		for _, name := range names {
			of, err := a.resolve(ctx, []string{name})
			if err != nil {
				return nil, err
			}
			all.ids = append(all.ids, of.ids...)
			if all.reason == "" {
				all.status, all.reason = of.status, of.reason
			}
		}
		if len(all.ids) > 0 { // names of libraries stand among the others
			all.status, all.reason = "", ""
		}
		return all, nil
	case !a.All:
		return &mapping{status: symbol.NoArtifact, reason: "the profile names no mapping of its classes: name it with --artifact or --app"}, nil
	}
	c, err := a.client.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	all := &mapping{}
	err = c.Artifacts.Each(ctx, func(r *catalog.Record) error {
		if r.Published != nil && r.Published.Artifact.Kind == symbol.R8 {
			all.ids = append(all.ids, r.ID)
		}
		return nil
	})
	return all, err
}

// resolve finds a mapping by its names, best first. The error is of a store out of reach.
func (a *Asker) resolve(ctx context.Context, names []string) (*mapping, error) {
	of := &mapping{}
	for _, name := range names {
		r := a.client.Resolve(ctx, name, lookup.Narrow{Kind: symbol.R8, App: a.App})
		switch {
		case r.Status == symbol.Found && r.Record.Published.Artifact.Kind == symbol.R8:
			return &mapping{ids: []symbol.ID{r.Record.ID}}, nil
		case r.Status == symbol.Unavailable:
			return nil, fmt.Errorf("mapping %s: %w", name, r.Err)
		case of.reason != "":
		case r.Status == symbol.Found:
			of.status, of.reason = symbol.NoArtifact, fmt.Sprintf("%s is no mapping", name)
		default:
			of.status, of.reason = r.Status, symbol.Answer{Status: r.Status, Err: r.Err}.Reason()
		}
	}
	return of, nil
}
