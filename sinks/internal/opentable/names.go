package opentable

import (
	"encoding/json"
	"slices"

	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// Names are the columns of a table that hold values, by the numbers that its files have for them. Files written before a column
// was renamed have another name for it.
type Names map[int]string

// Leaves returns the columns of a file under the names that the table has for them: "" for columns that were dropped. Files
// without numbers keep their names.
func (n Names) Leaves(all []pqfile.Leaf) []pqfile.Leaf {
	if len(n) == 0 {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		if all[i].ID != 0 {
			all[i].Path = n[all[i].ID]
		}
	}
	return all
}

// maxDepth bounds types within types.
const maxDepth = 64

// namesOf reads the schema of a snapshot. A table of version 1 may have none with ids: then names are what files say.
func namesOf(metadata []byte, id int) Names {
	var m struct {
		Schemas []struct {
			ID     int         `json:"schema-id"`
			Fields []icebergID `json:"fields"`
		} `json:"schemas"`
	}
	if json.Unmarshal(metadata, &m) != nil {
		return nil
	}
	n := Names{}
	for i := range m.Schemas {
		if m.Schemas[i].ID == id {
			n.add("", m.Schemas[i].Fields, 0)
		}
	}
	return n
}

type icebergID struct {
	ID   int             `json:"id"`
	Name string          `json:"name"`
	Type json.RawMessage `json:"type"`
}

func (n Names) add(above string, fields []icebergID, depth int) {
	for _, f := range fields {
		n.of(above+f.Name, f.ID, f.Type, depth+1)
	}
}

// of adds the columns within a type. A path leaves out that a list has elements.
func (n Names) of(path string, id int, typ json.RawMessage, depth int) {
	var t struct {
		Type    string          `json:"type"`
		Fields  []icebergID     `json:"fields"`
		ID      int             `json:"element-id"`
		Element json.RawMessage `json:"element"`
	}
	switch {
	case depth > maxDepth:
	case json.Unmarshal(typ, &t) != nil: // a text: a primitive type
		n[id] = path
	case t.Type == "struct":
		n.add(path+".", t.Fields, depth)
	case t.Type == "list":
		n.of(path, t.ID, t.Element, depth+1)
	}
}
