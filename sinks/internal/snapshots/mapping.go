package snapshots

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// Column mapping of Delta: the names in metadata of columns, and in the configuration of a table.
const (
	mappedID    = "delta.columnMapping.id"
	mappedName  = "delta.columnMapping.physicalName"
	mappingMode = "delta.columnMapping.mode"
	maxColumnID = "delta.columnMapping.maxColumnId"
)

// physical is the name that files have for a column.
func (f *deltaField) physical() string {
	if name, ok := f.Metadata[mappedName].(string); ok {
		return name
	}
	return f.Name
}

// id is the number of a column; 0: it has none.
func (f *deltaField) id() int {
	switch n := f.Metadata[mappedID].(type) {
	case int:
		return n
	case float64: // of JSON
		return int(n)
	}
	return 0
}

// find finds the column that files know by the name of another one. Engines tell names apart by more than case.
func (s *deltaSchema) find(f *deltaField) *deltaField {
	i := slices.IndexFunc(s.Fields, func(have deltaField) bool { return strings.EqualFold(have.physical(), f.physical()) })
	if i < 0 {
		return nil
	}
	return &s.Fields[i]
}

// called finds the column of a name.
func (s *deltaSchema) called(name string) *deltaField {
	if i := slices.IndexFunc(s.Fields, func(f deltaField) bool { return strings.EqualFold(f.Name, name) }); i >= 0 {
		return &s.Fields[i]
	}
	return nil
}

// alike reports whether two columns of one name in files have values of one type, and one number.
func (f *deltaField) alike(other *deltaField) bool {
	return f.physical() == other.physical() && f.id() == other.id() && reflect.DeepEqual(bareType(f.Type), bareType(other.Type))
}

// physical returns the names that files have for columns.
func (s *deltaSchema) physical(columns []string) []string {
	names := slices.Clone(columns)
	for i, name := range names {
		if f := s.called(name); f != nil {
			names[i] = f.physical()
		}
	}
	return names
}

// logical returns the names of columns that files call otherwise.
func (s *deltaSchema) logical(physical []string) []string {
	names := []string{}
	for _, name := range physical {
		if f := s.find(&deltaField{Name: name}); f != nil {
			name = f.Name
		}
		names = append(names, name)
	}
	return names
}

// number gives the added columns the numbers that a table with column mapping wants: the table's own ones, or new ones above all
// others. It returns the highest number, and refuses numbers that two columns have.
func (t *Table) number(now, source *deltaSchema) (last int, err error) {
	for _, m := range []map[string]string{t.o.Source.Delta.Metadata.Configuration, t.configuration()} {
		if n, err := strconv.Atoi(m[maxColumnID]); err == nil {
			last = max(last, n)
		}
	}
	for _, f := range source.Fields {
		last = max(last, f.id())
		for _, have := range now.Fields {
			if have.id() == f.id() && have.physical() != f.physical() {
				return 0, fmt.Errorf("%w: column %s of the input has the id %d, and so has its column %s. Write to a new folder", ErrTable, f.Name, f.id(), have.Name)
			}
		}
	}
	next := func() int {
		last = max(last+1, firstID)
		return last
	}
	for i := range t.added.Columns {
		c := &t.added.Columns[i]
		if have := now.find(&deltaField{Name: c.Name}); have == nil {
			numbered(c, next)
		} else if !adopted(c, have.id(), have.Type) {
			return 0, fmt.Errorf("%w: its column %s is %s, and the rows have another type under this name; --prefix gives the added columns other names", ErrTable, have.Name, textOf(have.Type))
		}
	}
	return last, nil
}

// configuration returns what the table is set to; nil: there is no table yet.
func (t *Table) configuration() map[string]string {
	if t.base == nil {
		return nil
	}
	return t.base.Delta.Metadata.Configuration
}

// numbered gives a column, and the columns within it, new numbers.
func numbered(c *pqfile.Column, next func() int) {
	c.ID = next()
	for i := range c.Fields {
		numbered(&c.Fields[i], next)
	}
}

// adopted gives a column the numbers that a table has for it, and reports whether the types agree.
func adopted(c *pqfile.Column, id int, typ any) bool {
	c.ID = id
	if !c.List {
		return id != 0
	}
	array, _ := typ.(map[string]any)
	element, _ := array["elementType"].(map[string]any)
	fields, _ := element["fields"].([]any)
	if id == 0 || len(fields) != len(c.Fields) {
		return false
	}
	for i := range c.Fields {
		m, _ := fields[i].(map[string]any)
		inner := deltaField{Type: m["type"]}
		inner.Name, _ = m["name"].(string)
		inner.Metadata, _ = m["metadata"].(map[string]any)
		if inner.physical() != c.Fields[i].Name || !adopted(&c.Fields[i], inner.id(), inner.Type) {
			return false
		}
	}
	return true
}
