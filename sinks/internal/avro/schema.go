package avro

import "encoding/json"

// Schema is the type of a value. In memory a value is a map[string]any for records and maps, []any for arrays, int64, float64,
// string (also of bytes and fixed ones), bool, or nil.
type Schema struct {
	kind     string
	fields   []field // of a record
	items    *Schema // of an array or map
	branches []*Schema
	size     int // of fixed
	text     any // as JSON has it
}

type field struct {
	name string
	typ  *Schema
}

// Parse reads a schema in JSON.
func Parse(text string) (*Schema, error) {
	var raw any
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return nil, fault("its schema: %w", err)
	}
	return schemaOf(raw, map[string]*Schema{}, 0)
}

// Field returns the type of a field of a record, as JSON; "": it has none. A type that the schema defines before stands by its name.
func (s *Schema) Field(path ...string) string {
	for _, name := range path {
		for s.kind == "union" && len(s.branches) == 2 {
			s = s.branches[1]
		}
		at := -1
		for i := range s.fields {
			if s.fields[i].name == name {
				at = i
			}
		}
		if at < 0 {
			return ""
		}
		s = s.fields[at].typ
	}
	text, err := json.Marshal(s.text)
	if err != nil {
		return ""
	}
	return string(text)
}

// schemaOf makes a schema of JSON.
func schemaOf(raw any, known map[string]*Schema, depth int) (*Schema, error) {
	if depth > maxDepth {
		return nil, fault("its schema is deeper than %d", maxDepth)
	}
	switch v := raw.(type) {
	case string:
		if s := known[v]; s != nil {
			return s, nil
		}
		return &Schema{kind: v, text: v}, nil
	case []any:
		s := &Schema{kind: "union", text: v}
		for _, b := range v {
			x, err := schemaOf(b, known, depth+1)
			if err != nil {
				return nil, err
			}
			s.branches = append(s.branches, x)
		}
		return s, nil
	case map[string]any:
		kind, ok := v["type"].(string)
		if !ok {
			return schemaOf(v["type"], known, depth+1)
		}
		s := &Schema{kind: kind, text: v}
		if name, ok := v["name"].(string); ok {
			known[name] = s
		}
		var err error
		switch kind {
		case "record":
			fields, _ := v["fields"].([]any)
			for _, f := range fields {
				m, _ := f.(map[string]any)
				name, _ := m["name"].(string)
				typ, err := schemaOf(m["type"], known, depth+1)
				if err != nil {
					return nil, err
				}
				s.fields = append(s.fields, field{name, typ})
			}
		case "array":
			s.items, err = schemaOf(v["items"], known, depth+1)
		case "map":
			s.items, err = schemaOf(v["values"], known, depth+1)
		case "fixed":
			n, _ := v["size"].(float64)
			if n < 0 || n > maxBlockBytes {
				return nil, fault("a fixed value of %v bytes", n)
			}
			s.size = int(n)
		}
		return s, err
	}
	return nil, fault("its schema has a %T", raw)
}
