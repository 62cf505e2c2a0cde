package opentable

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// avroSchema is the type of a value. In memory it is a [string]any for records and maps, []any for arrays, int64, float64, string,
// bool, or nil.
type avroSchema struct {
	kind     string
	fields   []avroField // of a record
	items    *avroSchema // of an array or map
	branches []*avroSchema
	size     int // of fixed
}

type avroField struct {
	name string
	typ  *avroSchema
}

const (
	maxBlockBytes = 256 << 20
	maxAvroDepth  = 32
	avroMagic     = "Obj\x01"
)

func avroError(format string, args ...any) error {
	return fmt.Errorf("%w: no whole file of Avro: "+format, append([]any{ErrTable}, args...)...)
}

// readAvro emits the records of an object container file.
func readAvro(file []byte, emit func(r map[string]any) error) error {
	d := &avroReader{b: file}
	if string(d.take(4)) != avroMagic {
		return avroError("it begins with %q", file[:min(4, len(file))])
	}
	meta, _ := d.value(&avroSchema{kind: "map", items: &avroSchema{kind: "bytes"}}, 0).(map[string]any)
	sync := string(d.take(16))
	if d.bad {
		return avroError("its header is cut")
	}
	text, _ := meta["avro.schema"].(string)
	var raw any
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		return avroError("its schema: %w", err)
	}
	schema, err := avroOf(raw, map[string]*avroSchema{}, 0)
	if err != nil {
		return err
	}
	if schema.kind != "record" {
		return avroError("its schema is a %s", schema.kind)
	}
	codec, _ := meta["avro.codec"].(string)
	for len(d.b) > 0 {
		count, size := d.long(), d.long()
		body := d.take(size)
		if d.bad || count < 0 || string(d.take(16)) != sync {
			return avroError("a block is cut")
		}
		plain, err := avroInflate(codec, body)
		if err != nil {
			return avroError("a block of codec %q: %w", codec, err)
		}
		block := &avroReader{b: plain}
		for range count {
			if len(block.b) == 0 {
				return avroError("a block has fewer records than it says")
			}
			r, _ := block.value(schema, 0).(map[string]any)
			if block.bad {
				return avroError("a record is cut")
			}
			if err := emit(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func avroInflate(codec string, b []byte) ([]byte, error) {
	switch codec {
	case "", "null":
		return b, nil
	case "deflate":
		return limited(flate.NewReader(bytes.NewReader(b)))
	case "snappy":
		if len(b) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		b = b[:len(b)-4] // a checksum
		if n, err := snappy.DecodedLen(b); err != nil || n > maxBlockBytes {
			return nil, fmt.Errorf("%d bytes: %w", n, err)
		}
		return snappy.Decode(nil, b)
	case "zstandard":
		z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBlockBytes))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return limited(z)
	}
	return nil, fmt.Errorf("it is not known")
}

func limited(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxBlockBytes+1))
	if err == nil && len(b) > maxBlockBytes {
		err = fmt.Errorf("more than %d bytes", maxBlockBytes)
	}
	return b, err
}

// avroOf makes a schema of JSON.
func avroOf(raw any, known map[string]*avroSchema, depth int) (*avroSchema, error) {
	if depth > maxAvroDepth {
		return nil, avroError("its schema is deeper than %d", maxAvroDepth)
	}
	switch v := raw.(type) {
	case string:
		if s := known[v]; s != nil {
			return s, nil
		}
		return &avroSchema{kind: v}, nil
	case []any:
		s := &avroSchema{kind: "union"}
		for _, b := range v {
			x, err := avroOf(b, known, depth+1)
			if err != nil {
				return nil, err
			}
			s.branches = append(s.branches, x)
		}
		return s, nil
	case map[string]any:
		kind, ok := v["type"].(string)
		if !ok {
			return avroOf(v["type"], known, depth+1)
		}
		s := &avroSchema{kind: kind}
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
				typ, err := avroOf(m["type"], known, depth+1)
				if err != nil {
					return nil, err
				}
				s.fields = append(s.fields, avroField{name, typ})
			}
		case "array":
			s.items, err = avroOf(v["items"], known, depth+1)
		case "map":
			s.items, err = avroOf(v["values"], known, depth+1)
		case "fixed":
			n, _ := v["size"].(float64)
			if n < 0 || n > maxBlockBytes {
				return nil, avroError("a fixed value of %v bytes", n)
			}
			s.size = int(n)
		}
		return s, err
	}
	return nil, avroError("its schema has a %T", raw)
}

// avroReader reads values. bad notes that they are cut.
type avroReader struct {
	b     []byte
	bad   bool
	spent int // items without bytes
}

func (d *avroReader) take(n int64) []byte {
	if n < 0 || n > int64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *avroReader) long() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *avroReader) value(s *avroSchema, depth int) any {
	if d.bad || depth > maxAvroDepth {
		d.bad = true
		return nil
	}
	switch s.kind {
	case "null":
		return nil
	case "boolean":
		b := d.take(1)
		return len(b) == 1 && b[0] != 0
	case "int", "long", "enum":
		return d.long()
	case "float":
		if b := d.take(4); len(b) == 4 {
			return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	case "double":
		if b := d.take(8); len(b) == 8 {
			return math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	case "bytes", "string":
		return string(d.take(d.long()))
	case "fixed":
		return string(d.take(int64(s.size)))
	case "union":
		if i := d.long(); i >= 0 && i < int64(len(s.branches)) {
			return d.value(s.branches[i], depth+1)
		}
		d.bad = true
	case "record":
		m := make(map[string]any, len(s.fields))
		for _, f := range s.fields {
			m[f.name] = d.value(f.typ, depth+1)
		}
		return m
	case "array":
		var all []any
		d.items(func() { all = append(all, d.value(s.items, depth+1)) })
		return all
	case "map":
		m := map[string]any{}
		d.items(func() {
			key := string(d.take(d.long()))
			m[key] = d.value(s.items, depth+1)
		})
		return m
	default:
		d.bad = true
	}
	return nil
}

// items reads the blocks of an array or map.
func (d *avroReader) items(one func()) {
	for {
		n := d.long()
		if n < 0 {
			n = -n
			d.long() // bytes of the block
		}
		if n <= 0 || d.bad {
			return
		}
		for range n {
			before := len(d.b)
			one()
			if len(d.b) == before {
				d.spent++
			}
			if d.bad || d.spent > 1<<20 {
				d.bad = true
				return
			}
		}
	}
}
