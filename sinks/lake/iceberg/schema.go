package iceberg

import (
	"encoding/json"

	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// schema is a struct of Iceberg: of a table or of the elements of a list.
type schema struct {
	Type   string  `json:"type"`
	ID     *int    `json:"schema-id,omitempty"`
	Fields []field `json:"fields"`
}

// field is a column.
type field struct {
	ID       int    `json:"id"`
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Type     any    `json:"type"` // a string, *schema or *list
	Doc      string `json:"doc,omitempty"`
}

type list struct {
	Type     string `json:"type"`
	ID       int    `json:"element-id"`
	Element  any    `json:"element"`
	Required bool   `json:"element-required"`
}

// shape is a table as Iceberg describes it.
type shape struct {
	table     *pqfile.Table
	schema    *schema
	last      int    // the highest id
	kind, day int    // ids of the columns of partitions
	sorted    []int  // ids of the columns that order rows
	mapping   string // JSON: ids by name, for files without ids
	leaves    map[string]int
}

// Names of the columns that partition a table, and ids of its partition fields.
const (
	kindColumn = "kind"
	dayColumn  = "day"
	kindField  = 1000
	dayField   = 1001
)

// Table is a table of the lake.
type Table struct {
	*pqfile.Table     // its columns have ids
	Kind, Day     int // ids of the columns that its files do not have
}

func newShape(t Table) *shape {
	s := &shape{table: t.Table, kind: t.Kind, day: t.Day, last: max(t.Kind, t.Day), leaves: map[string]int{}}
	zero := 0
	s.schema = &schema{Type: "struct", ID: &zero, Fields: s.fields(t.Columns, "")}
	s.schema.Fields = append(s.schema.Fields,
		field{ID: s.kind, Name: kindColumn, Type: "string", Doc: "kind of the artifacts: elf, macho, …"},
		field{ID: s.day, Name: dayColumn, Type: "date", Doc: "day of the loads, UTC"})
	for _, name := range t.Sorted {
		s.sorted = append(s.sorted, s.leaves[name])
	}
	text, err := json.Marshal(mapped(s.schema.Fields))
	if err != nil {
		panic(err) // it holds names and numbers
	}
	s.mapping = string(text)
	return s
}

func (s *shape) fields(columns []pqfile.Column, above string) []field {
	var all []field
	for _, c := range columns {
		f := field{ID: c.ID, Name: c.Name, Required: !c.Added, Doc: c.Doc}
		s.last = max(s.last, c.ID, c.Element)
		path := above + c.Name
		switch {
		case !c.List:
			f.Type = typeOf(&c)
			s.leaves[path] = c.ID
		case c.Fields == nil:
			f.Type = &list{"list", c.Element, typeOf(&c), true}
		default:
			f.Type = &list{"list", c.Element, &schema{Type: "struct", Fields: s.fields(c.Fields, path+".list.element.")}, true}
		}
		all = append(all, f)
	}
	return all
}

func typeOf(c *pqfile.Column) string {
	switch c.Kind {
	case pqfile.Integer:
		return "int"
	case pqfile.Long:
		return "long"
	case pqfile.Moment:
		return "timestamptz"
	case pqfile.Decimal:
		return "decimal(20, 0)"
	}
	return "string"
}

// mappedField is a column of a name mapping.
type mappedField struct {
	ID     int           `json:"field-id"`
	Names  []string      `json:"names"`
	Fields []mappedField `json:"fields,omitempty"`
}

func mapped(fields []field) []mappedField {
	var all []mappedField
	for _, f := range fields {
		m := mappedField{ID: f.ID, Names: []string{f.Name}}
		if l, ok := f.Type.(*list); ok {
			e := mappedField{ID: l.ID, Names: []string{"element"}}
			if inner, ok := l.Element.(*schema); ok {
				e.Fields = mapped(inner.Fields)
			}
			m.Fields = []mappedField{e}
		}
		all = append(all, m)
	}
	return all
}

// plain is the schema without what only people read: manifests repeat it.
func (s *schema) plain() *schema {
	p := *s
	p.Fields = nil
	for _, f := range s.Fields {
		f.Doc = ""
		p.Fields = append(p.Fields, f)
	}
	return &p
}

// ids returns the ids of the columns at the top by their names.
func (s *schema) ids() map[string]int {
	ids := make(map[string]int, len(s.Fields))
	for _, f := range s.Fields {
		ids[f.Name] = f.ID
	}
	return ids
}

// transformed is a field of a partition spec or of a sort order.
type transformed struct {
	Source    int    `json:"source-id"`
	ID        int    `json:"field-id,omitempty"`
	Name      string `json:"name,omitempty"`
	Transform string `json:"transform"`
	Direction string `json:"direction,omitempty"`
	Nulls     string `json:"null-order,omitempty"`
}

type spec struct {
	ID     int           `json:"spec-id"`
	Fields []transformed `json:"fields"`
}

type order struct {
	ID     int           `json:"order-id"`
	Fields []transformed `json:"fields"`
}

func (s *shape) spec() spec {
	return spec{0, []transformed{
		{Source: s.kind, ID: kindField, Name: kindColumn, Transform: "identity"},
		{Source: s.day, ID: dayField, Name: dayColumn, Transform: "identity"},
	}}
}

// sortOrder is the id of the order of sorted files; others have order 0, which is none.
const sortOrder = 1

func (s *shape) order() order {
	o := order{ID: sortOrder}
	for _, id := range s.sorted {
		o.Fields = append(o.Fields, transformed{Source: id, Transform: "identity", Direction: "asc", Nulls: "nulls-first"})
	}
	return o
}
