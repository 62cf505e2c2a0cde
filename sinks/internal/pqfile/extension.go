package pqfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go/format"
)

// answersKey names, in the metadata of an extended file, the columns that Extend added, parted by commas. Another Extend
// replaces them.
const answersKey = "symlake.answers"

// sourceKey names, in the metadata of an extended file, the file that the rows come from.
const sourceKey = "symlake.source"

// groupsKey names, in the metadata of an extended file, the version of the rule that made its groups.
const groupsKey = "symlake.group_version"

// Extension says how a file is written again.
type Extension struct {
	Table   *Table // the columns that are added
	Profile string // of the new file: sinks.LakeSealed or sinks.LakePlain
	Source  string // noted in the file
	Groups  int    // version of the rule for groups; noted in the file
}

// Extended writes a file with the rows of another one and columns added. One goroutine.
type Extended interface {
	// Group writes the next row group of the old file, with the rows of added beside its rows.
	Group(ctx context.Context, added *RowGroup) error
	// Close ends the file, which cannot be read without it.
	Close() error
}

// ErrColumn says that the file has a column of the name of an added one, and that Extend did not add it.
var ErrColumn = errors.New("the column exists")

// top returns the names of the columns at the root.
func (f *Rows) top() (names []string) {
	for i := range f.leaves {
		name, _, _ := strings.Cut(f.leaves[i].Path, ".")
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}

// Accepts reports whether the columns of a table can be added: ErrColumn if a name is taken.
func (f *Rows) Accepts(t *Table) error {
	_, err := f.dropped(t)
	return err
}

// dropped returns the columns that an earlier Extend added and that the new ones replace.
func (f *Rows) dropped(t *Table) (drop []string, err error) {
	ours := strings.Split(f.Meta(answersKey), ",")
	for _, name := range f.top() {
		switch {
		case slices.Contains(ours, name):
			drop = append(drop, name)
		case t.has(name):
			return nil, fmt.Errorf("column %q: %w; give --prefix", name, ErrColumn)
		}
	}
	return drop, nil
}

// schema puts the schema of f without the columns that are dropped before the columns of w's table, and the metadata of f
// beside notes on the extension. It returns the leaves of f that stay.
func (f *Rows) schema(w *Writer, x Extension, drop []string) (kept []int) {
	old, added := f.footer, w.footer
	all := []format.SchemaElement{old.Schema[0]}
	children := added.Schema[0].NumChildren.V
	leaf, at := 0, 1
	columns := int(old.Schema[0].NumChildren.V)
	gone := make([]bool, columns)
	for column := range columns {
		from, first := at, leaf
		for left := 1; left > 0; left-- {
			if n := int(old.Schema[at].NumChildren.V); n > 0 {
				left += n
			} else {
				leaf++
			}
			at++
		}
		if slices.Contains(drop, old.Schema[from].Name) {
			gone[column] = true
			continue
		}
		children++
		all = append(all, old.Schema[from:at]...)
		for i := first; i < leaf; i++ {
			kept = append(kept, i)
		}
	}
	all = append(all, added.Schema[1:]...)
	all[0].NumChildren.Set(children)

	w.footer = &format.FileMetaData{Version: max(old.Version, 1), CreatedBy: added.CreatedBy, Schema: all}
	for _, kv := range old.KeyValueMetadata {
		if kv.Key == answersKey || kv.Key == sourceKey || kv.Key == groupsKey {
			continue
		}
		if kv, ok := engineSchema(kv, columns, func(i int) bool { return gone[i] }, x.Table); ok {
			w.footer.KeyValueMetadata = append(w.footer.KeyValueMetadata, kv)
		}
	}
	w.footer.KeyValueMetadata = append(w.footer.KeyValueMetadata, format.KeyValue{Key: answersKey, Value: x.Table.names()}, format.KeyValue{Key: sourceKey, Value: x.Source},
		format.KeyValue{Key: groupsKey, Value: strconv.Itoa(x.Groups)})
	return kept
}

// orderColumns notes that the bounds of n columns compare as their types do.
func (x *Writer) orderColumns(n int) {
	for range n {
		x.footer.ColumnOrders = append(x.footer.ColumnOrders, format.ColumnOrder{Value: &format.TypeDefinedOrder{}})
	}
}
