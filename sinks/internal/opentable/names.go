package opentable

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks/internal/equality"
	"github.com/symlake/symlake/sinks/internal/pqfile"
	"github.com/symlake/symlake/sinks/internal/relabel"
)

// Names are the columns of a table that hold values, and how its files call them.
type Names struct {
	ids map[int]string // names by the numbers that files have for columns; nil: numbers do not count
	// paths has the numbers of columns by the names that files without numbers have for them; nil: these have the table's names.
	paths map[string]int
	// physical has the names of columns by their names in files, which may have numbers, too.
	physical map[string]string
	labels   *labels
	types    map[int]string // of Iceberg's primitive columns
	defaults map[int]json.RawMessage
}

// Leaves returns the columns of a file under the names that the table has for them: "" for columns that were dropped. Files
// written before a column was renamed have another name for it.
func (n *Names) Leaves(all []pqfile.Leaf) []pqfile.Leaf {
	if n == nil {
		return all
	}
	numbered := hasNumbers(all)
	all = slices.Clone(all)
	for i := range all {
		l := &all[i]
		name, known := n.ids[l.ID]
		switch {
		case known:
			l.Path = name
		case n.physical != nil: // also of an element of an array: its number is in no schema
			l.Path = n.physical[l.Path]
		case l.ID != 0:
			l.Path = ""
		case n.paths != nil && !numbered:
			l.Path = n.ids[n.paths[l.Path]]
		}
	}
	return all
}

func hasNumbers(all []pqfile.Leaf) bool {
	return slices.ContainsFunc(all, func(l pqfile.Leaf) bool { return l.ID != 0 })
}

// leaf finds the column of a file that has a number; nil: the file lacks it.
func (n *Names) leaf(all []pqfile.Leaf, id int) *pqfile.Leaf {
	numbered := hasNumbers(all)
	for i := range all {
		l := &all[i]
		switch {
		case numbered && l.ID == id:
			return l
		case numbered:
		case n.paths != nil && n.paths[l.Path] == id, n.paths == nil && n.ids[id] == l.Path:
			return l
		}
	}
	return nil
}

// lacked returns what all rows have in a column that their file lacks, as a whole number or a text: a value of the partition, or the
// default of the schema. nil: NULL. ok is false where symlake does not read the default.
func (n *Names) lacked(f *File, id int) (v any, ok bool) {
	if v, ok := f.identity[id]; ok {
		return v, true
	}
	text := n.defaults[id]
	if text == nil {
		return nil, true
	}
	switch n.types[id] {
	case "string":
		var s string
		err := json.Unmarshal(text, &s)
		return s, err == nil
	case "int", "long":
		var x int64
		err := json.Unmarshal(text, &x)
		return x, err == nil
	}
	return nil, false
}

// constant returns what lacked does, to be compared. ok is false where symlake cannot compare it.
func (n *Names) constant(f *File, id int) (value []byte, ok bool) {
	v, ok := n.lacked(f, id)
	if !ok {
		return nil, false
	}
	typ := n.types[id]
	switch v := v.(type) {
	case nil:
		return equality.Null(), true
	case int64:
		return equality.Number(v), slices.Contains([]string{"int", "long", "date", "timestamp", "timestamptz"}, typ)
	case string:
		return equality.Text(v), typ == "string"
	}
	return nil, false
}

// beside returns the values that a file may lack, as texts by the name of their column.
func (n *Names) beside(f *File) map[string]string {
	values := map[string]string{}
	note := func(id int) {
		v, ok := n.lacked(f, id)
		if !ok {
			return
		}
		typ := n.types[id]
		switch v := v.(type) {
		case string:
			if typ == "string" {
				values[n.ids[id]] = v
			}
		case int64:
			if typ == "int" || typ == "long" {
				values[n.ids[id]] = strconv.FormatInt(v, 10)
			}
		}
	}
	for id := range n.defaults {
		note(id)
	}
	for id := range f.identity {
		note(id)
	}
	return values
}

// maxDepth bounds types within types.
const maxDepth = 64

// namesOf reads the schema of a snapshot. A table of version 1 may have none with ids: then names are what files say.
func namesOf(metadata []byte, id int) *Names {
	var m struct {
		Schemas []struct {
			ID     int         `json:"schema-id"`
			Fields []icebergID `json:"fields"`
		} `json:"schemas"`
		Properties map[string]string `json:"properties"`
	}
	if json.Unmarshal(metadata, &m) != nil {
		return nil
	}
	n := &Names{ids: map[int]string{}, types: map[int]string{}, defaults: map[int]json.RawMessage{}}
	for i := range m.Schemas {
		if m.Schemas[i].ID == id {
			n.add("", m.Schemas[i].Fields, 0)
		}
	}
	if len(n.ids) == 0 {
		return nil
	}
	var mapping []mappedName
	if text := m.Properties["schema.name-mapping.default"]; text != "" && json.Unmarshal([]byte(text), &mapping) == nil {
		n.paths = map[string]int{}
		left := maxMapped
		n.mapped("", mapping, &left)
	}
	return n
}

type icebergID struct {
	ID      int             `json:"id"`
	Name    string          `json:"name"`
	Type    json.RawMessage `json:"type"`
	Default json.RawMessage `json:"initial-default"`
}

func (n *Names) add(above string, fields []icebergID, depth int) {
	for _, f := range fields {
		if f.Default != nil && string(f.Default) != "null" {
			n.defaults[f.ID] = f.Default
		}
		n.of(above+f.Name, f.ID, f.Type, depth+1)
	}
}

// of adds the columns within a type. A path leaves out that a list has elements.
func (n *Names) of(path string, id int, typ json.RawMessage, depth int) {
	var t struct {
		Type    string          `json:"type"`
		Fields  []icebergID     `json:"fields"`
		ID      int             `json:"element-id"`
		Element json.RawMessage `json:"element"`
	}
	switch {
	case depth > maxDepth:
	case json.Unmarshal(typ, &t) != nil: // a text: a primitive type
		n.ids[id] = path
		n.types[id] = strings.Trim(string(typ), `" `)
	case t.Type == "struct":
		n.add(path+".", t.Fields, depth)
	case t.Type == "list":
		n.of(path, t.ID, t.Element, depth+1)
	}
}

// mappedName is a column of a table's name mapping: the names that files without numbers have for it.
type mappedName struct {
	ID     int          `json:"field-id"`
	Names  []string     `json:"names"`
	Fields []mappedName `json:"fields"`
}

// maxMapped bounds the paths that a mapping gives. Each name of a column gives another path to all columns within it.
const maxMapped = 1 << 16

// mapped adds the names of a mapping, left of them at most. A path leaves out that a list has elements.
func (n *Names) mapped(above string, all []mappedName, left *int) {
	for _, m := range all {
		for _, name := range m.Names {
			if *left--; *left < 0 {
				return
			}
			path := above + name
			if name == "element" && above != "" {
				path = strings.TrimSuffix(above, ".")
			}
			if _, taken := n.paths[path]; !taken || n.ids[m.ID] != "" { // an element of a list has the path of the list
				n.paths[path] = m.ID // also of a column that was dropped: rows may be deleted by its values
			}
			n.mapped(path+".", m.Fields, left)
		}
	}
}

// Modes of column mapping of a Delta table: how a column is found in its files.
const (
	MappedByName = "name" // by its physical name
	MappedByID   = "id"   // by the number that the file has for it
)

// Mapping returns the mode of column mapping of a table; "": its files have the names of the table.
func (m *DeltaMetadata) Mapping() (string, error) {
	switch mode := m.Configuration["delta.columnMapping.mode"]; mode {
	case "", "none":
		return "", nil
	case MappedByName, MappedByID:
		return mode, nil
	default:
		return "", fmt.Errorf("%w: delta.columnMapping.mode is %q, and symlake reads name and id", ErrTable, mode)
	}
}

// mapping is how the files of a Delta table call its columns.
type mapping struct {
	names *Names
	top   map[string]string // names of columns at the root by their physical ones
}

// labels are the names of a table's columns, also of columns that hold other columns.
type labels struct {
	byPath map[string]string // by the path of physical names
	byID   map[int]string    // nil: numbers do not count
}

// Label gives columns of a file other names.
type Label = relabel.Label

// Naming returns under which key the output of a file goes, how the columns of the file are named, and how they are renamed before;
// nil: not at all. bare says that no log will tell of the output: then a file of a Delta table with column mapping gets the names of
// the table, and a key that tells its partition. All other files keep their keys and names.
func (t *Table) Naming(f *File, bare bool) (key string, names *Names, label Label) {
	if !bare || t.Names == nil || t.Names.labels == nil {
		return f.Key, t.Names, nil
	}
	l := t.Names.labels
	return path.Join(t.Delta.folder(f), f.Key), nil, func(path string, id int) (string, bool) {
		if name, ok := l.byID[id]; ok {
			return name, true
		}
		name, ok := l.byPath[path]
		return name, ok
	}
}

// mapped returns the column mapping of a table; nil: it has none.
func (m *DeltaMetadata) mapped() (*mapping, error) {
	mode, err := m.Mapping()
	if err != nil || mode == "" {
		return nil, err
	}
	var s mappedStruct
	if err := json.Unmarshal([]byte(m.Schema), &s); err != nil {
		return nil, fmt.Errorf("%w: its schema cannot be read: %w", ErrTable, err)
	}
	x := &mapping{names: &Names{physical: map[string]string{}, labels: &labels{byPath: map[string]string{}}}, top: map[string]string{}}
	if mode == MappedByID {
		x.names.ids, x.names.labels.byID = map[int]string{}, map[int]string{}
	}
	if err := x.names.fields("", "", s.Fields, 0); err != nil {
		return nil, err
	}
	for _, f := range s.Fields {
		x.top[f.Metadata.Physical] = f.Name
	}
	return x, nil
}

// partition returns the values of a partition by the names of columns.
func (x *mapping) partition(physical map[string]string) map[string]string {
	values := make(map[string]string, len(physical))
	for name, v := range physical {
		if logical, ok := x.top[name]; ok {
			values[logical] = v
		}
	}
	return values
}

// folder returns the partition of a file as Hive names folders.
func (d *Delta) folder(f *File) string {
	var folders []string
	for _, name := range d.Metadata.PartitionColumns {
		value, ok := f.Values[name]
		if !ok || value == "" {
			value = "__HIVE_DEFAULT_PARTITION__"
		}
		folders = append(folders, url.PathEscape(name)+"="+url.PathEscape(value))
	}
	return strings.Join(folders, "/")
}

// mappedStruct is a structure of a schema of Delta.
type mappedStruct struct {
	Fields []mappedField `json:"fields"`
}

type mappedField struct {
	Name     string          `json:"name"`
	Type     json.RawMessage `json:"type"`
	Metadata struct {
		ID       int    `json:"delta.columnMapping.id"`
		Physical string `json:"delta.columnMapping.physicalName"`
	} `json:"metadata"`
}

// fields adds the columns of a structure, which lies at a path of physical names and at one of the table's.
func (n *Names) fields(physical, logical string, fields []mappedField, depth int) error {
	for _, f := range fields {
		m := f.Metadata
		if m.Physical == "" || m.ID == 0 && n.ids != nil {
			return fmt.Errorf("%w: its column %q has no physical name, or no id, which delta.columnMapping.mode wants", ErrTable, logical+f.Name)
		}
		n.labels.byPath[physical+m.Physical] = f.Name
		if n.labels.byID != nil {
			n.labels.byID[m.ID] = f.Name
		}
		if err := n.within(physical+m.Physical, logical+f.Name, m.ID, f.Type, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// within adds the columns within a type, or the column of a primitive one. A path leaves out that an array has elements.
func (n *Names) within(physical, logical string, id int, typ json.RawMessage, depth int) error {
	var t struct {
		Type    string          `json:"type"`
		Fields  []mappedField   `json:"fields"`
		Element json.RawMessage `json:"elementType"`
		Key     json.RawMessage `json:"keyType"`
		Value   json.RawMessage `json:"valueType"`
	}
	switch {
	case depth > maxDepth:
		return fmt.Errorf("%w: its schema has types within types, %d deep", ErrTable, depth)
	case json.Unmarshal(typ, &t) != nil: // a text: a primitive type
		n.physical[physical] = logical
		if n.ids != nil && id != 0 {
			n.ids[id] = logical
		}
		return nil
	case t.Type == "struct":
		return n.fields(physical+".", logical+".", t.Fields, depth)
	case t.Type == "array": // the file has no number of the elements
		return n.within(physical, logical, 0, t.Element, depth+1)
	case t.Type == "map":
		if err := n.within(physical+".key_value.key", logical+".key_value.key", 0, t.Key, depth+1); err != nil {
			return err
		}
		return n.within(physical+".key_value.value", logical+".key_value.value", 0, t.Value, depth+1)
	}
	return nil
}
