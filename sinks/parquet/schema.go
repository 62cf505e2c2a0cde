package parquet

import (
	"math"
	"slices"
	"strings"
)

// Table is a table of the lake: its columns, in the order in which they stand.
type Table struct {
	Name    string
	Doc     string
	Columns []Column
	sorted  []string // rows ascend by these where artifacts do
	blooms  []string // plain files have bloom filters of these
}

// Column is a column of a table. None of the lake's is nullable: what is unknown is "" or 0.
type Column struct {
	Name string
	Type string // as SQL calls it
	Doc  string
	kind kind
	// fields of the elements, if the column is a list of structs; a list of
	// texts has none.
	fields []Column
	list   bool
	// nullable texts are NULL where their number is noText. No column of the lake is.
	nullable bool
}

// noText stands in place of a text's number where there is none.
const noText = -1

// kind is how values are held and written.
type kind uint8

const (
	text    kind = iota // BYTE_ARRAY, STRING
	integer             // INT32
	long                // INT64
	moment              // INT64, TIMESTAMP(MICROS, UTC)
	decimal             // FIXED_LEN_BYTE_ARRAY(9), DECIMAL(20,0): every unsigned 64-bit number
)

func column(name, typ, doc string, k kind) Column {
	return Column{Name: name, Type: typ, Doc: doc, kind: k}
}

// What the metadata of every file says.
const (
	schemaKey     = "symlake.schema"
	schemaVersion = "1"
	tableKey      = "symlake.table"
)

// leaf is a column as Parquet has it.
type leaf struct {
	path     []string
	kind     kind
	list     bool
	nullable bool
}

func (l leaf) String() string { return strings.Join(l.path, ".") }

// leaves are the leaves of a table, in the order of its columns.
func (t *Table) leaves() []leaf {
	var all []leaf
	for _, c := range t.Columns {
		switch {
		case !c.list:
			all = append(all, leaf{[]string{c.Name}, c.kind, false, c.nullable})
		case c.fields == nil:
			all = append(all, leaf{[]string{c.Name, "list", "element"}, c.kind, true, false})
		default:
			for _, f := range c.fields {
				all = append(all, leaf{[]string{c.Name, "list", "element", f.Name}, f.kind, true, false})
			}
		}
	}
	return all
}

// leaf is where the leaf of a column that is no list stands.
func (t *Table) leaf(name string) int {
	return slices.IndexFunc(t.leaves(), func(l leaf) bool { return l.String() == name })
}

// has reports whether a table has a column.
func (t *Table) has(name string) bool {
	return slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Name == name })
}

// names returns the names of all columns, parted by commas.
func (t *Table) names() string {
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	return strings.Join(names, ",")
}

// bloomed reports whether a plain file has a bloom filter of a column.
func (t *Table) bloomed(name string) bool {
	for _, b := range t.blooms {
		if b == name {
			return true
		}
	}
	return false
}

// lineNumber is a line or column as the tables have it: what is no INTEGER is unknown.
func lineNumber(n uint32) int32 {
	if n > math.MaxInt32 {
		return 0
	}
	return int32(n)
}
