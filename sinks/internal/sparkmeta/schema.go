// Package sparkmeta extends the schema that Spark notes in a Parquet file. Spark sees the columns that it lists, and no others.
package sparkmeta

import (
	"encoding/json"

	"github.com/symlake/symlake/sinks/internal/arrowmeta"
)

// field is a field of Spark's schema.
type field struct {
	Name     string         `json:"name"`
	Type     any            `json:"type"`
	Nullable bool           `json:"nullable"`
	Metadata map[string]any `json:"metadata"`
}

// Extend adds columns to a schema in Spark's JSON. keeping tells of a schema with so many fields which of them stay; false:
// the schema is of another file. Extend returns false if it cannot extend the schema: then the note must go.
func Extend(text string, keeping func(fields int) (keep func(i int) bool, ok bool), columns []arrowmeta.Column) (string, bool) {
	var s struct {
		Type   string            `json:"type"`
		Fields []json.RawMessage `json:"fields"`
	}
	if json.Unmarshal([]byte(text), &s) != nil || s.Type != "struct" {
		return "", false
	}
	keep, ok := keeping(len(s.Fields))
	if !ok {
		return "", false
	}
	var kept []json.RawMessage
	for i, f := range s.Fields {
		if keep(i) {
			kept = append(kept, f)
		}
	}
	for _, f := range fields(columns) {
		b, err := json.Marshal(f)
		if err != nil {
			return "", false
		}
		kept = append(kept, b)
	}
	s.Fields = kept
	b, err := json.Marshal(s)
	return string(b), err == nil
}

func fields(columns []arrowmeta.Column) (all []field) {
	for _, c := range columns {
		f := field{Name: c.Name, Type: "string", Nullable: true, Metadata: map[string]any{}}
		switch {
		case c.Fields != nil:
			f.Type = map[string]any{"type": "array", "containsNull": true, "elementType": map[string]any{"type": "struct", "fields": fields(c.Fields)}}
		case c.Kind == arrowmeta.Integer:
			f.Type = "integer"
		}
		all = append(all, f)
	}
	return all
}
