package snapshots

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/symlake/symlake/sinks/internal/pqfile"
)

type jsonText = json.RawMessage

// schema is a struct of Iceberg. Its fields stay as they came.
type schema struct {
	others map[string]jsonText // besides fields
	fields []field
}

// field is a column.
type field struct {
	ID       int      `json:"id"`
	Name     string   `json:"name"`
	Required bool     `json:"required"`
	Type     jsonText `json:"type"`
	Doc      string   `json:"doc,omitempty"`

	text jsonText // as it came; nil: it is new
}

type listType struct {
	Type     string   `json:"type"`
	ID       int      `json:"element-id"`
	Element  jsonText `json:"element"`
	Required bool     `json:"element-required"`
}

type structType struct {
	Type   string  `json:"type"`
	Fields []field `json:"fields"`
}

func parseSchema(text []byte) (*schema, error) {
	s := &schema{}
	var fields []jsonText
	err := json.Unmarshal(text, &s.others)
	if err == nil {
		err = json.Unmarshal(s.others["fields"], &fields)
	}
	for _, text := range fields {
		f := field{text: text}
		if err == nil {
			err = json.Unmarshal(text, &f)
		}
		s.fields = append(s.fields, f)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: a schema of Iceberg cannot be read: %w", ErrTable, err)
	}
	return s, nil
}

// encode returns the schema under an id.
func (s *schema) encode(id int) (jsonText, error) {
	var fields []jsonText
	for _, f := range s.fields {
		text := f.text
		if text == nil {
			var err error
			if text, err = json.Marshal(f); err != nil {
				return nil, err
			}
		}
		fields = append(fields, text)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(s.others)
	all["type"], all["fields"], all["schema-id"] = jsonText(`"struct"`), text, jsonText(fmt.Sprint(id))
	return json.Marshal(all)
}

// plain refuses types that version 2 does not have.
func (s *schema) plain() error {
	for _, f := range s.fields {
		for _, word := range []string{`"timestamp_ns"`, `"timestamptz_ns"`, `"variant"`, `"unknown"`, `"geometry`, `"geography`, `"initial-default"`, `"write-default"`} {
			if bytes.Contains(f.text, []byte(word)) {
				return fmt.Errorf("%w: column %s of the input has %s, which tables of version 2 do not have", ErrTable, f.Name, strings.Trim(word, `"`))
			}
		}
	}
	return nil
}

func (s *schema) find(is func(f *field) bool) *field {
	for i := range s.fields {
		if is(&s.fields[i]) {
			return &s.fields[i]
		}
	}
	return nil
}

// firstID is the least id of a column that is added. Columns that the source gets later have ids below it, which its data files
// carry.
const firstID = 1_000_000

// evolve adds to s the columns of the source and of added that it lacks, and gives the columns of added their ids. last is the
// highest id so far.
func (s *schema) evolve(source *schema, added *pqfile.Table, last *int) (changed bool, err error) {
	for _, f := range source.fields {
		have := s.find(func(x *field) bool { return x.ID == f.ID })
		same := s.find(func(x *field) bool { return x.Name == f.Name })
		switch {
		case have == nil && same == nil:
			f.Required, f.text = false, nil // older rows do not have it
			s.fields = append(s.fields, f)
			changed = true
		case have != nil && same == nil && sameJSON(have.Type, f.Type): // the input has renamed it
			have.Name, have.text = f.Name, nil
			changed = true
		case have == nil || have != same:
			return false, fmt.Errorf("%w: column %s of the input has the id %d, and another one in the table. Write to a new folder", ErrTable, f.Name, f.ID)
		case !sameJSON(have.Type, f.Type):
			return false, fmt.Errorf("%w: column %s is %s, and %s in the input. Write to a new folder", ErrTable, f.Name, have.Type, f.Type)
		}
	}
	next := func() int {
		*last = max(*last+1, firstID)
		return *last
	}
	for i := range added.Columns {
		c := &added.Columns[i]
		if have := s.find(func(x *field) bool { return x.Name == c.Name }); have != nil {
			if err := adopt(c, have.ID, have.Type); err != nil {
				return false, err
			}
			continue
		}
		f, err := newField(c, next)
		if err != nil {
			return false, err
		}
		s.fields = append(s.fields, f)
		changed = true
	}
	for _, f := range s.fields {
		if f.Required && source.find(func(x *field) bool { return x.ID == f.ID }) == nil {
			return false, fmt.Errorf("%w: its column %s wants a value, which the input does not have", ErrTable, f.Name)
		}
	}
	return changed, nil
}

func sameJSON(a, b jsonText) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && textOf(x) == textOf(y)
}

// newField describes a column and gives it ids.
func newField(c *pqfile.Column, next func() int) (f field, err error) {
	c.ID = next()
	f = field{ID: c.ID, Name: c.Name, Doc: c.Doc}
	if !c.List {
		f.Type = jsonText(typeOf(c))
		return f, nil
	}
	c.Element = next()
	element := structType{Type: "struct"}
	for i := range c.Fields {
		inner, err := newField(&c.Fields[i], next)
		if err != nil {
			return f, err
		}
		element.Fields = append(element.Fields, inner)
	}
	l := listType{Type: "list", ID: c.Element}
	if l.Element, err = json.Marshal(element); err == nil {
		f.Type, err = json.Marshal(l)
	}
	return f, err
}

func typeOf(c *pqfile.Column) string {
	if c.Kind == pqfile.Integer {
		return `"int"`
	}
	return `"string"`
}

// adopt gives a column the ids of a column of the table that has its name.
func adopt(c *pqfile.Column, id int, typ jsonText) error {
	bad := fmt.Errorf("%w: its column %s is %s, and the rows have another type under this name; --prefix gives the added columns other names", ErrTable, c.Name, typ)
	c.ID = id
	if !c.List {
		if !sameJSON(typ, jsonText(typeOf(c))) {
			return bad
		}
		return nil
	}
	var l listType
	var element structType
	if json.Unmarshal(typ, &l) != nil || l.Type != "list" || json.Unmarshal(l.Element, &element) != nil || len(element.Fields) != len(c.Fields) {
		return bad
	}
	c.Element = l.ID
	for i := range c.Fields {
		inner := &c.Fields[i]
		at := slices.IndexFunc(element.Fields, func(f field) bool { return f.Name == inner.Name })
		if at < 0 {
			return bad
		}
		if err := adopt(inner, element.Fields[at].ID, element.Fields[at].Type); err != nil {
			return bad
		}
	}
	return nil
}

// mappedField is a column of a name mapping.
type mappedField struct {
	ID     int           `json:"field-id,omitempty"`
	Names  []string      `json:"names"`
	Fields []mappedField `json:"fields,omitempty"`
}

// mapping returns the property that finds columns of files without ids: of a table that has one, with the columns that it lacks.
func (s *schema) mapping(properties map[string]string) (map[string]string, error) {
	var all []mappedField
	if text, ok := properties[mappingProperty]; ok {
		if err := json.Unmarshal([]byte(text), &all); err != nil {
			return nil, fmt.Errorf("%w: its %s cannot be read: %w", ErrTable, mappingProperty, err)
		}
	}
	at := make(map[int]int, len(all)) // by id
	for i := range all {
		at[all[i].ID] = i
	}
	for _, m := range mapped(s.fields) {
		switch i, ok := at[m.ID]; {
		case !ok:
			all = append(all, m)
		case !slices.Contains(all[i].Names, m.Names[0]): // it has a new name
			all[i].Names = append(all[i].Names, m.Names[0])
		}
	}
	text, err := json.Marshal(all)
	return map[string]string{mappingProperty: string(text)}, err
}

// mapped maps fields, and fields within them.
func mapped(fields []field) (all []mappedField) {
	for _, f := range fields {
		all = append(all, mappedField{f.ID, []string{f.Name}, within(f.Type)})
	}
	return all
}

// within maps the fields within a type.
func within(typ jsonText) []mappedField {
	var t struct {
		Type    string   `json:"type"`
		Fields  []field  `json:"fields"`
		ID      int      `json:"element-id"`
		Element jsonText `json:"element"`
		KeyID   int      `json:"key-id"`
		Key     jsonText `json:"key"`
		ValueID int      `json:"value-id"`
		Value   jsonText `json:"value"`
	}
	if json.Unmarshal(typ, &t) != nil { // a text: a primitive type
		return nil
	}
	switch t.Type {
	case "struct":
		return mapped(t.Fields)
	case "list":
		return []mappedField{{t.ID, []string{"element"}, within(t.Element)}}
	case "map":
		return []mappedField{{t.KeyID, []string{"key"}, within(t.Key)}, {t.ValueID, []string{"value"}, within(t.Value)}}
	}
	return nil
}
