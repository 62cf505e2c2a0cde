package ledger

import (
	"context"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/symlake/symlake/sinks/catalog"
)

// IsNamed reports whether names lead to an object in its state. A look-up can then say why there is no
// artifact.
func IsNamed(o *catalog.Object) bool {
	if o == nil {
		return false
	}
	switch o.State {
	case catalog.ObjectPending, catalog.ObjectRejected, catalog.ObjectFailed:
		return true
	}
	return false
}

// The patterns are made on use: programs that only read link this package, too.
var (
	hexID = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`[0-9a-fA-F]{16,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`)
	})
	regexpCut = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/([0-9a-fA-F]{2})/([0-9a-fA-F]{14,})`) })
)

// objectNames returns the names that lead to an object that was never opened: its base name, and each
// part of its URL that looks like a build-id or UUID. A build-id may be cut after its first two digits,
// as in .build-id/ab/cdef….debug.
func objectNames(url string) []string {
	names := []string{path.Base(url)}
	seen := map[string]bool{names[0]: true}
	add := func(s string) {
		if !seen[s] && len(names) < 8 {
			seen[s] = true
			names = append(names, s)
		}
	}
	joined := regexpCut().ReplaceAllString(url, "/$1$2")
	for _, u := range []string{url, joined} {
		for _, id := range hexID().FindAllString(u, -1) {
			add(strings.ToLower(id))
		}
	}
	return names
}

// UpdateNames adds or removes the names of an object after its state has changed. before says whether
// names led to it until then.
func UpdateNames(ctx context.Context, c *catalog.Catalog, before bool, o *catalog.Object) error {
	after := IsNamed(o)
	if before == after {
		return nil
	}
	for _, n := range objectNames(o.URL) {
		var err error
		if after {
			err = c.Names.Add(ctx, n, catalog.Ref{Object: o.URL})
		} else {
			err = c.Names.Remove(ctx, n, catalog.Ref{Object: o.URL})
		}
		if err != nil {
			return err
		}
	}
	return nil
}
