package avro

import (
	"bytes"
	"compress/flate"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// blockBytes is how many bytes of records make a block.
const blockBytes = 64 << 10

// Write returns records as a file, compressed by deflate, with entries in the metadata of its header. Fields that a record does
// not have are null.
func Write(schema string, meta map[string]string, records []map[string]any) ([]byte, error) {
	s, err := Parse(schema)
	if err != nil {
		return nil, err
	}
	head := map[string]any{"avro.schema": schema, "avro.codec": "deflate"}
	for name, v := range meta {
		head[name] = v
	}
	w := &writer{b: []byte(magic)}
	if err := w.value(&Schema{kind: "map", items: &Schema{kind: "bytes"}}, head); err != nil {
		return nil, err
	}
	sync := make([]byte, 16)
	rand.Read(sync) // it never fails
	w.b = append(w.b, sync...)

	block := &writer{}
	count := 0
	end := func() error {
		if count == 0 {
			return nil
		}
		var packed bytes.Buffer
		z, err := flate.NewWriter(&packed, 6)
		if err != nil {
			return err
		}
		if _, err := z.Write(block.b); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		w.long(int64(count))
		w.long(int64(packed.Len()))
		w.b = append(append(w.b, packed.Bytes()...), sync...)
		block.b, count = block.b[:0], 0
		return nil
	}
	for i, r := range records {
		if err := block.value(s, r); err != nil {
			return nil, fmt.Errorf("record %d: %w", i, err)
		}
		if count++; len(block.b) >= blockBytes {
			if err := end(); err != nil {
				return nil, err
			}
		}
	}
	if err := end(); err != nil {
		return nil, err
	}
	return w.b, nil
}

// writer appends values.
type writer struct{ b []byte }

func (w *writer) long(v int64) { w.b = binary.AppendVarint(w.b, v) }

func (w *writer) text(s string) {
	w.long(int64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) value(s *Schema, v any) error {
	bad := func() error { return fmt.Errorf("a value of %T is no %s of Avro", v, s.kind) }
	switch s.kind {
	case "null":
		if v != nil {
			return bad()
		}
	case "union":
		return w.union(s, v)
	case "boolean":
		x, ok := v.(bool)
		if !ok {
			return bad()
		}
		w.b = append(w.b, 0)
		if x {
			w.b[len(w.b)-1] = 1
		}
	case "int", "long", "enum":
		switch x := v.(type) {
		case int64:
			w.long(x)
		case int:
			w.long(int64(x))
		default:
			return bad()
		}
	case "float", "double":
		x, ok := v.(float64)
		if !ok {
			return bad()
		}
		w.float(s, x)
	case "bytes", "string":
		x, ok := v.(string)
		if !ok {
			return bad()
		}
		w.text(x)
	case "fixed":
		x, ok := v.(string)
		if !ok || len(x) != s.size {
			return bad()
		}
		w.b = append(w.b, x...)
	case "record":
		x, ok := v.(map[string]any)
		if !ok {
			return bad()
		}
		for _, f := range s.fields {
			if err := w.value(f.typ, x[f.name]); err != nil {
				return fmt.Errorf("field %s: %w", f.name, err)
			}
		}
	case "array":
		return w.array(s, v)
	case "map":
		x, ok := v.(map[string]any)
		if !ok {
			return bad()
		}
		return w.pairs(s, x)
	default:
		return bad()
	}
	return nil
}

func (w *writer) float(s *Schema, x float64) {
	if s.kind == "float" {
		w.b = binary.LittleEndian.AppendUint32(w.b, math.Float32bits(float32(x)))
	} else {
		w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(x))
	}
}

func (w *writer) pairs(s *Schema, x map[string]any) error {
	if len(x) > 0 {
		w.long(int64(len(x)))
	}
	for name, item := range x {
		w.text(name)
		if err := w.value(s.items, item); err != nil {
			return err
		}
	}
	w.long(0)
	return nil
}

func (w *writer) array(s *Schema, v any) error {
	x, ok := v.([]any)
	if !ok {
		return fmt.Errorf("a value of %T is no array of Avro", v)
	}
	if len(x) > 0 {
		w.long(int64(len(x)))
	}
	for _, item := range x {
		if err := w.value(s.items, item); err != nil {
			return err
		}
	}
	w.long(0)
	return nil
}

// union writes nil as null, and all else as the first other branch.
func (w *writer) union(s *Schema, v any) error {
	at := slices.IndexFunc(s.branches, func(b *Schema) bool { return (b.kind == "null") == (v == nil) })
	if at < 0 || len(s.branches) > 2 {
		return fmt.Errorf("a value of %T has no branch in a union of Avro", v)
	}
	w.long(int64(at))
	return w.value(s.branches[at], v)
}
