package answer

import (
	"context"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/retrace"
	"github.com/symlake/symlake/formats/symbol"
)

// Methods gives methods their names back from one mapping, for traces and
// profiles, which ask for many in any order. Of a class it keeps the names, not the lines, so that those of large mappings fit in
// memory and are read once. Each class is of one load; when another is published meanwhile, classes read later are of that.
// Not safe for concurrent use.
type Methods struct {
	client  *Client
	mapping symbol.ID
	known   map[string]*retrace.Names // by name in the program; nil: the mapping does not have it
	bytes   int
	most    int
}

// Methods returns a Methods that keeps at most about so many bytes.
func (c *Client) Methods(mapping symbol.ID, bytes int) *Methods {
	return &Methods{client: c, mapping: mapping, known: map[string]*retrace.Names{}, most: bytes}
}

// entryBytes is about what an entry of known takes besides its name and what it holds.
const entryBytes = 64

// Find gives the methods of the source that a method may be which is named without line; see
// [retrace.Methods]. nil: the mapping does not have its class. The error is ctx's or a *ClassError.
func (n *Methods) Find(ctx context.Context, m *report.Managed, returns string) ([]retrace.Original, error) {
	t := report.Thread{Frames: []report.Frame{{Managed: m}}}
	also := make([]string, 0, 8)
	if returns != "" {
		also = append(also, strings.TrimRight(returns, "[]"))
	}
	if n.bytes > n.most {
		n.bytes = 0
		clear(n.known)
	}
	names := slices.DeleteFunc(retrace.Classes(&t, also), func(name string) bool {
		_, known := n.known[name]
		return known
	})
	if len(names) > 0 {
		if err := n.read(ctx, names); err != nil {
			return nil, err
		}
	}
	return retrace.Methods(m, returns, func(name string) *retrace.Names { return n.known[name] }), nil
}

// read makes classes known.
func (n *Methods) read(ctx context.Context, names []string) error {
	classes, err := n.client.RenamedClasses(ctx, n.mapping, names)
	if err != nil {
		return err
	}
	for i, x := range classes {
		name := strings.Clone(names[i])
		n.bytes += entryBytes + len(name)
		n.known[name] = nil
		if x != nil {
			n.known[name] = readyClass(x).Names()
			n.bytes += n.known[name].Bytes()
		}
	}
	return nil
}
