package avro

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

const (
	maxBlockBytes = 256 << 20
	maxDepth      = 32
	magic         = "Obj\x01"
)

// ErrFile says that bytes are no whole file of Avro.
var ErrFile = errors.New("no whole file of Avro")

func fault(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrFile}, args...)...)
}

// File is an object container file.
type File struct {
	Meta map[string]string // of its header
	// Schema is the type of its records.
	Schema *Schema
	sync   string
	blocks []byte
}

// Open reads the header of a file. The File refers to its bytes.
func Open(file []byte) (*File, error) {
	d := &reader{b: file}
	if string(d.take(4)) != magic {
		return nil, fault("it begins with %q", file[:min(4, len(file))])
	}
	meta, _ := d.value(&Schema{kind: "map", items: &Schema{kind: "bytes"}}, 0).(map[string]any)
	f := &File{Meta: map[string]string{}, sync: string(d.take(16))}
	if d.bad {
		return nil, fault("its header is cut")
	}
	for name, v := range meta {
		f.Meta[name], _ = v.(string)
	}
	var err error
	if f.Schema, err = Parse(f.Meta["avro.schema"]); err != nil {
		return nil, err
	}
	if f.Schema.kind != "record" {
		return nil, fault("its schema is a %s", f.Schema.kind)
	}
	f.blocks = d.b
	return f, nil
}

// Each emits the records in their order. It returns emit's error unchanged.
func (f *File) Each(emit func(r map[string]any) error) error {
	codec := f.Meta["avro.codec"]
	d := &reader{b: f.blocks}
	for len(d.b) > 0 {
		count, size := d.long(), d.long()
		body := d.take(size)
		if d.bad || count < 0 || string(d.take(16)) != f.sync {
			return fault("a block is cut")
		}
		plain, err := inflate(codec, body)
		if err != nil {
			return fault("a block of codec %q: %w", codec, err)
		}
		block := &reader{b: plain}
		for range count {
			if len(block.b) == 0 {
				return fault("a block has fewer records than it says")
			}
			r, _ := block.value(f.Schema, 0).(map[string]any)
			if block.bad {
				return fault("a record is cut")
			}
			if err := emit(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func inflate(codec string, b []byte) ([]byte, error) {
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

// reader reads values. bad notes a cut value.
type reader struct {
	b     []byte
	bad   bool
	spent int // items without bytes
}

func (d *reader) take(n int64) []byte {
	if n < 0 || n > int64(len(d.b)) {
		d.bad, d.b = true, nil
		return nil
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *reader) long() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.bad, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *reader) value(s *Schema, depth int) any {
	if d.bad || depth > maxDepth {
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
		all := []any{}
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
func (d *reader) items(one func()) {
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
