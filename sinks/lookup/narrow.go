package lookup

import (
	"context"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Narrow describes an artifact besides its name. Empty
// fields say nothing.
type Narrow struct {
	Kind symbol.Kind
	Arch string // as symbol.Artifact has it
	// Variants of Arch will do: a report says what the processor is, and not which of them an image is built for.
	Variants bool
	File     string // base name
	Path     string // of a script: its URL, without query and fragment
	App      string // APP@BUILD
	// Anchor is a name that places are counted from: artifacts that have it are preferred.
	Anchor string
}

// runs reports whether an image that is built for arch may be meant.
func (n Narrow) runs(arch string) bool {
	return n.Arch == "" || arch == "" || arch == n.Arch || n.Variants && symbol.ArchFamily(arch) == symbol.ArchFamily(n.Arch)
}

func (n Narrow) String() string {
	var said []string
	for _, f := range [][2]string{{"kind ", string(n.Kind)}, {"arch ", n.Arch}, {"app ", n.App}} {
		if f[1] != "" {
			said = append(said, f[0]+f[1])
		}
	}
	return strings.Join(said, ", ")
}

// dangling looks past the caches at an artifact that a name leads to and that has no record, as e says. A load enters
// its record before its names, and gc removes the names first: a name that is there before and after a reading of no
// record means that the record was lost, and the answer is corrupt. An artifact that does not have the other names that n
// gives cannot be meant.
func (c *Client) dangling(ctx context.Context, name string, id symbol.ID, e *entry, n Narrow) (*entry, error) {
	k, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	for _, other := range []string{n.App, n.File} {
		if other == "" {
			continue
		}
		if has, err := k.catalog.Names.Has(ctx, other, id); err != nil || !has {
			return e, err
		}
	}
	if has, err := k.catalog.Names.Has(ctx, name, id); err != nil || !has {
		return e, err
	}
	now, err := c.recordAfter(ctx, id, e)
	if err != nil || now.rec != nil || now.status != symbol.NoArtifact {
		return now, err
	}
	if has, err := k.catalog.Names.Has(ctx, name, id); err != nil || !has {
		return now, err
	}
	return &entry{status: symbol.Corrupt, lost: true, read: now.read, until: now.until,
		err: fmt.Errorf("artifact %s: its record is gone, and the name %q leads to it: %w: symlake verify says how to bring it back", id, name, sinks.ErrCorrupt)}, nil
}
