package hbase

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// Exported says what Export wrote.
type Exported struct {
	Rows    uint64 `json:"rows"`
	Records uint64 `json:"records"` // of the catalog
	Bytes   uint64 `json:"bytes"`   // keys and values of rows
	// Commands load the files, for whoever may: HBase's own tools.
	Commands []string `json:"commands"`
}

// Export writes all of a store as HFiles for HBase's own completebulkload, where a
// cluster does not let symlake in: dir/blocks, cut for a table of the address's
// regions, dir/catalog, and dir/tables.rb, a script for the HBase shell that makes the tables.
// Records are copied unchanged, so the cluster's store has the keys of the source. No
// process may write the source meanwhile, and dir must be empty or absent. rest follows
// "hbase:" in the URL of the store to be. Export asks no server.
func Export(ctx context.Context, from *sinks.Store, dir, rest string, now time.Time) (*Exported, error) {
	a, err := parse(rest, false)
	if err != nil {
		return nil, err
	}
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return nil, fmt.Errorf("folder %s is not empty", dir)
	}
	out := &Exported{}
	for _, d := range []string{"blocks", "catalog"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o777); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "tables.rb"), []byte(a.script()), 0o666); err != nil {
		return nil, err
	}
	if err := out.blocks(ctx, from.Blocks, filepath.Join(dir, "blocks"), &a, now); err != nil {
		return nil, fmt.Errorf("write rows: %w", err)
	}
	if out.Records, err = exportCatalog(ctx, from.Catalog, filepath.Join(dir, "catalog"), &a, now); err != nil {
		return nil, fmt.Errorf("write catalog: %w", err)
	}
	out.Commands = []string{"hbase shell -n " + filepath.Join(dir, "tables.rb")}
	for _, t := range []client.Table{a.blocks(), a.catalog()} {
		out.Commands = append(out.Commands, fmt.Sprintf("hbase completebulkload %s %s", filepath.Join(dir, t.Name), t))
	}
	return out, nil
}

// folder is a bulk.Target that leaves the files where they are staged.
type folder struct {
	dir     string
	regions [][]byte
}

func (f *folder) Begin(ctx context.Context) (bulk.FileSystem, string, []bulk.Region, error) {
	files, err := bulk.OpenFileSystem(ctx, f.dir, bulk.FileOptions{})
	return files, f.dir, bulk.Boundaries(f.regions), err
}

func (*folder) Deliver(context.Context, []*bulk.File) error { return nil }
func (*folder) End(context.Context) error                   { return nil }

func (x *Exported) blocks(ctx context.Context, from sinks.Blocks, dir string, a *address, now time.Time) error {
	first := func(_ context.Context, prefixes [][]byte) ([]uint64, error) { // generation of every load
		list := make([]uint64, len(prefixes))
		for i := range list {
			list[i] = firstGeneration
		}
		return list, nil
	}
	b := bulk.New(ctx, bulk.Options{To: &folder{dir, splits(a.regions)}, Generations: first,
		Bloom: bloomOf(a.schemas()[0].Families[0]), Now: func() time.Time { return now }})
	defer b.Abort()
	err := from.Scan(ctx, sinks.Span{}, func(r sinks.Row) error {
		x.Rows++
		x.Bytes += uint64(len(r.Key) + len(r.Value))
		return b.Write(r)
	})
	if err != nil {
		return err
	}
	return b.Commit(ctx)
}

// script makes the tables, in the words of the HBase shell.
func (a *address) script() string {
	var b strings.Builder
	fmt.Fprintf(&b, "create_namespace '%s'\n", a.namespace)
	for _, s := range a.schemas() {
		fmt.Fprintf(&b, "create '%s'", s.Table)
		for _, f := range s.Families {
			fmt.Fprintf(&b, ", {NAME => '%s'%s", f.Name, settings(f.Attributes))
			if len(f.Configuration) > 0 {
				fmt.Fprintf(&b, ", CONFIGURATION => {%s}", strings.TrimPrefix(quoted(f.Configuration), ", "))
			}
			b.WriteString("}")
		}
		if len(s.Attributes) > 0 {
			fmt.Fprintf(&b, ", {METADATA => {%s}}", strings.TrimPrefix(quoted(s.Attributes), ", "))
		}
		b.WriteString(", SPLITS => [")
		for j, k := range a.boundaries(s.Table) {
			if j > 0 {
				b.WriteString(", ")
			}
			b.WriteString(`"`)
			for _, c := range k {
				fmt.Fprintf(&b, `\x%02X`, c)
			}
			b.WriteString(`"`)
		}
		b.WriteString("]")
		b.WriteString("\n")
	}
	return b.String()
}

func settings(m map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, ", %s => '%s'", k, m[k])
	}
	return b.String()
}

func quoted(m map[string]string) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fmt.Fprintf(&b, ", '%s' => '%s'", k, m[k])
	}
	return b.String()
}
