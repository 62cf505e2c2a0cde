package record

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
)

// EnterNames makes names lead to id in the catalog, except names that rec has.
func EnterNames(ctx context.Context, c *catalog.Catalog, rec *catalog.Record, id symbol.ID, names []symbol.Name) error {
	return errors.Join(c.Names.AddAll(ctx, LackingNames(rec, id, names))...)
}

// LackingNames returns the pairs of names and id, except names that rec has.
func LackingNames(rec *catalog.Record, id symbol.ID, names []symbol.Name) (pairs []catalog.Pair) {
	for _, n := range names {
		if rec == nil || !HasName(rec.Names, n) {
			pairs = append(pairs, catalog.Pair{Name: n.Text, Ref: catalog.Ref{Artifact: id}})
		}
	}
	return pairs
}

// AddNames adds names to a record, after it has entered them in the catalog.
func AddNames(ctx context.Context, c *catalog.Catalog, rec *catalog.Record, names []symbol.Name) error {
	if err := EnterNames(ctx, c, rec, rec.ID, names); err != nil {
		return err
	}
	for rec != nil {
		next := Copy(rec, rec.ID)
		if next.Names = UnionNames(next.Names, names); len(next.Names) == len(rec.Names) {
			return nil
		}
		err := c.Artifacts.Swap(ctx, rec, next)
		if !errors.Is(err, sinks.ErrConflict) {
			return err
		}
		if rec, err = c.Artifacts.Get(ctx, rec.ID); err != nil {
			return err
		}
	}
	return nil
}

// RemoveNames takes the names from an artifact for which going returns true.
func RemoveNames(ctx context.Context, c *catalog.Catalog, id symbol.ID, going func(symbol.Name) bool) error {
	for range 100 {
		rec, err := c.Artifacts.Get(ctx, id)
		if err != nil || rec == nil {
			return err
		}
		next := Copy(rec, id)
		next.Names = slices.DeleteFunc(next.Names, going)
		if len(next.Names) == len(rec.Names) {
			return nil
		}
		for _, name := range rec.Names {
			if !HasName(next.Names, name) {
				if err := c.Names.Remove(ctx, name.Text, catalog.Ref{Artifact: id}); err != nil {
					return err
				}
			}
		}
		if err := c.Artifacts.Swap(ctx, rec, next); !errors.Is(err, sinks.ErrConflict) {
			return err
		}
	}
	return ErrBusy
}

// HasName reports whether n is among names, in any case of letters.
func HasName(names []symbol.Name, n symbol.Name) bool {
	return slices.ContainsFunc(names, func(o symbol.Name) bool { return o.Kind == n.Kind && strings.EqualFold(o.Text, n.Text) })
}

// UnionNames returns the names of a and b. They are sorted, so that the order of arrival does not show.
func UnionNames(a, b []symbol.Name) []symbol.Name {
	for _, n := range b {
		if !HasName(a, n) {
			a = append(a, n)
		}
	}
	slices.SortFunc(a, func(x, y symbol.Name) int {
		if x.Kind != y.Kind {
			return strings.Compare(string(x.Kind), string(y.Kind))
		}
		return strings.Compare(x.Text, y.Text)
	})
	return a
}

// IsBuild reports whether a name is one of these APP@BUILDs, or a file of one.
func IsBuild(n symbol.Name, builds []string) bool {
	text := strings.ToLower(n.Text)
	return n.Kind == symbol.NameApp && slices.ContainsFunc(builds, func(b string) bool { return text == b || strings.HasPrefix(text, b+"/") })
}

// Builds returns the APP@BUILDs among names, in lower case, without the files of builds.
func Builds(names []symbol.Name) []string {
	var all []string
	for _, n := range names {
		if n.Kind == symbol.NameApp {
			all = append(all, strings.ToLower(n.Text))
		}
	}
	slices.Sort(all) // a build comes before its files
	var builds []string
	for _, b := range all {
		if !slices.ContainsFunc(builds, func(p string) bool { return p == b || strings.HasPrefix(b, p+"/") }) {
			builds = append(builds, b)
		}
	}
	return builds
}
