package lookup

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
)

// maxNamed bounds how many artifacts of one name are listed. Below it lies
// what a file name of one app collects in years of builds.
const maxNamed = 1024

// maxNameBytes bounds the names that are asked for: no name is longer than a path.
const maxNameBytes = 4096

// spelling is one way in which a name may be stored.
type spelling struct {
	text    string
	content bool // names content: it needs no narrowing, and nothing else may answer for it
}

// spellings lists how a name that a person or a stack wrote may be stored:
// in lower case, an id with and without dashes, a debug id without its age, a
// path by its last element.
func spellings(name string) []spelling {
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "" || len(name) > maxNameBytes {
		return nil
	}
	if !IsContent(name) {
		all := []spelling{{name, false}}
		if base := FileName(name); base != name {
			all = append(all, spelling{base, false})
		}
		return all
	}
	all := []spelling{{name, true}}
	add := func(s string) {
		for _, old := range all {
			if old.text == s {
				return
			}
		}
		all = append(all, spelling{s, true})
	}
	if bare := strings.ReplaceAll(name, "-", ""); isHex(bare) {
		add(bare)
		if len(bare) == 32 || len(bare) > 32 && (len(bare) == 33 || isUUID(name[:min(36, len(name))])) {
			add(uuid(bare[:32]))
		}
	}
	return all
}

// FileName returns the last element of a path, of an archive's member, or of a
// Windows path.
func FileName(name string) string {
	if i := strings.LastIndexAny(name, `!\`); i >= 0 && i+1 < len(name) {
		name = name[i+1:]
	}
	return path.Base(name)
}

// IsContent reports whether a name stands for content: nothing of another
// content may answer for it. name is in lower case.
func IsContent(name string) bool {
	for _, prefix := range []string{"go:", "sha256:", "debuglink:"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	bare := strings.ReplaceAll(name, "-", "")
	return len(bare) >= 16 && isHex(bare)
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < '0' || c > '9' && c < 'a' || c > 'f' {
			return false
		}
	}
	return s != ""
}

func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' && isHex(strings.ReplaceAll(s, "-", ""))
}

func uuid(hex string) string {
	return hex[:8] + "-" + hex[8:12] + "-" + hex[12:16] + "-" + hex[16:20] + "-" + hex[20:32]
}

// named returns what one spelling leads to. Errors are the store's and ctx's.
func (c *Client) named(ctx context.Context, name string, now time.Time) (*named, error) {
	cached := func() (*named, bool) {
		n, ok := c.refs.Get(name)
		return n, ok && now.Before(n.until)
	}
	if n, ok := cached(); ok {
		return n, nil
	}
	return c.refFlights.do(ctx, name, cached, func() (*named, error) {
		began := time.Now()
		n, err := c.readNamed(ctx, name)
		told := Read{From: LevelCatalog, Rows: 1, Err: err}
		if err == nil && len(n.ids) > 0 {
			told.Hits = 1
		}
		c.o.Observer.read(told, began)
		if err != nil {
			last, ok := c.refs.Get(name)
			if !ok || ctx.Err() != nil || statusOf(err) != symbol.Unavailable || len(last.ids) == 0 || !c.stands(last.read) {
				return nil, err
			}
			again := *last
			again.until = c.o.Now().Add(c.o.NegativeTTL)
			n = &again
		}
		c.refs.Set(name, n)
		return n, nil
	})
}

func (c *Client) readNamed(ctx context.Context, name string) (*named, error) {
	k, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	refs, err := k.catalog.Names.Find(ctx, name, maxNamed+1)
	if err != nil {
		return nil, err
	}
	n := &named{read: c.o.Now(), until: c.o.Now().Add(c.o.NegativeTTL), more: len(refs) > maxNamed}
	var zero symbol.ID
	for _, r := range refs[:min(len(refs), maxNamed)] {
		if r.Artifact != zero {
			n.ids = append(n.ids, r.Artifact)
			continue
		}
		if len(n.objects) == 16 {
			continue // enough to tell why
		}
		o, err := k.catalog.Ledger.Get(ctx, r.Object)
		if err != nil {
			return nil, err
		}
		if o == nil {
			continue
		}
		n.objects = append(n.objects, o)
	}
	if n.direct = len(n.ids) > 0; n.direct {
		n.until = c.o.Now().Add(c.o.CatalogTTL)
		return n, nil
	}
	// An object loaded since the name was noted leads to its artifacts.
	for _, o := range n.objects {
		if o.State == catalog.ObjectLoaded || o.State == catalog.ObjectKept || o.State == catalog.ObjectConflict {
			for _, a := range o.Artifacts {
				n.ids = append(n.ids, a.ID)
			}
		}
	}
	return n, nil
}

// commonEnd counts the path elements that a script's URL and a path of an
// artifact have in common, from the end.
func commonEnd(r *catalog.Record, url string) (longest int) {
	want := strings.Split(strings.ToLower(strings.ReplaceAll(url, `\`, "/")), "/")
	for _, n := range r.Names {
		if n.Kind != symbol.NamePath && n.Kind != symbol.NameFile {
			continue
		}
		have := strings.Split(strings.ToLower(n.Text), "/")
		k := 0
		for k < len(have) && k < len(want) && have[len(have)-1-k] == want[len(want)-1-k] {
			k++
		}
		longest = max(longest, k)
	}
	return longest
}

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
