package pqfile

import (
	"math"
	"slices"
	"strings"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Table describes a table: its columns in their order.
type Table struct {
	Name    string
	Doc     string
	Columns []Column
	Sorted  []string // rows ascend by these where artifacts do
	Blooms  []string // plain files have bloom filters of these
}

// Column is a column of a table. No column of the lake is nullable: an unknown value is "" or 0.
type Column struct {
	Name string
	Type string // as SQL calls it
	Doc  string
	Kind kind
	// Fields of the elements, if the column is a list of structs; a list of
	// texts has none.
	Fields []Column
	List   bool
	// Nullable texts are NULL where their number is NoText.
	Nullable bool
	// Added says that files of earlier versions lack the column: engines read NULL there.
	Added bool
	// ID is the durable number of the column, and Element of the elements of a list, as Iceberg and Parquet's field_id have
	// it. 0: none. Sealed files have none.
	ID, Element int
}

// NoText takes the place of a text's number where the text is NULL.
const NoText = -1

// kind says how memory and file hold values.
type kind uint8

// The kinds of values, as Parquet types.
const (
	Text    kind = iota // BYTE_ARRAY, STRING
	Integer             // INT32
	Long                // INT64
	Moment              // INT64, TIMESTAMP(MICROS, UTC)
	Decimal             // FIXED_LEN_BYTE_ARRAY(9), DECIMAL(20,0): every unsigned 64-bit number
)

// AddedColumn returns a column outside lists that files of earlier versions lack.
func AddedColumn(name, typ, doc string, k kind) Column {
	return Column{Name: name, Type: typ, Doc: doc, Kind: k, Added: true}
}

// NewColumn returns a required column outside lists.
func NewColumn(name, typ, doc string, k kind) Column {
	return Column{Name: name, Type: typ, Doc: doc, Kind: k}
}

// Keys and values in the metadata of every file. Durable.
const (
	schemaKey     = "symlake.schema"
	SchemaVersion = "2"
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

// leaves returns the leaves of a table, in the order of its columns.
func (t *Table) leaves() []leaf {
	var all []leaf
	for _, c := range t.Columns {
		switch {
		case !c.List:
			all = append(all, leaf{[]string{c.Name}, c.Kind, false, c.Nullable})
		case c.Fields == nil:
			all = append(all, leaf{[]string{c.Name, "list", "element"}, c.Kind, true, false})
		default:
			for _, f := range c.Fields {
				all = append(all, leaf{[]string{c.Name, "list", "element", f.Name}, f.Kind, true, false})
			}
		}
	}
	return all
}

// leaf returns the index of the leaf of a column outside lists.
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
	for _, b := range t.Blooms {
		if b == name {
			return true
		}
	}
	return false
}

// LineNumber returns a line or column as the tables have it: a number above INTEGER counts as unknown.
func LineNumber(n uint32) int32 {
	if n > math.MaxInt32 {
		return 0
	}
	return int32(n)
}

// inOrder is a group with its fields in the order of the table's columns; parquet-go orders them by name.
type inOrder struct {
	pq.Group
	names []string
}

// Fields implements pq.Node.
func (o inOrder) Fields() []pq.Field {
	by := map[string]pq.Field{}
	for _, f := range o.Group.Fields() {
		by[f.Name()] = f
	}
	fields := make([]pq.Field, len(o.names))
	for i, n := range o.names {
		fields[i] = by[n]
	}
	return fields
}

// group returns columns as parquet-go describes a schema.
func group(columns []Column) inOrder {
	o := inOrder{Group: pq.Group{}}
	for _, c := range columns {
		n := node(c.Kind)
		if c.Nullable {
			n = pq.Optional(n)
		}
		if c.List {
			if c.Fields != nil {
				n = group(c.Fields)
			}
			n = pq.List(withID(n, c.Element))
		}
		o.Group[c.Name] = withID(n, c.ID)
		o.names = append(o.names, c.Name)
	}
	return o
}

// withID gives a node its number; 0: it has none.
func withID(n pq.Node, id int) pq.Node {
	if id == 0 {
		return n
	}
	return pq.FieldID(n, id)
}

func node(k kind) pq.Node {
	switch k {
	case Integer:
		return pq.Leaf(pq.Int32Type)
	case Long:
		return pq.Leaf(pq.Int64Type)
	case Moment:
		return pq.Timestamp(pq.Microsecond)
	case Decimal:
		return pq.Decimal(0, 20, pq.FixedLenByteArrayType(decimalBytes))
	}
	return pq.String()
}

// physical is the type in which the values of a kind are stored.
func physical(k kind) format.Type {
	switch k {
	case Integer:
		return format.Int32
	case Long, Moment:
		return format.Int64
	case Decimal:
		return format.FixedLenByteArray
	}
	return format.ByteArray
}

// kindOf returns a kind whose bounds compare as those of a type.
func kindOf(t format.Type) kind {
	switch t {
	case format.Int32:
		return Integer
	case format.Int64:
		return Long
	}
	return Text
}

// decimalBytes hold every unsigned 64-bit number, signed.
const decimalBytes = 9
