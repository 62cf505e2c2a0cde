package otlp

import (
	"bytes"
	"encoding/binary"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/internal/json"
)

// field is a field of a message. Of repeated messages and strings each element is a field.
type field struct {
	name   name
	number protowire.Number // of protobuf
	wire   protowire.Type
	value  uint64 // of a number
	from   int    // where the field, or the element in a list of JSON, begins
	body   int    // where the text, the message or the list begins
	end    int
}

// damage is where a message cannot be read.
type damage struct{ at int }

func (d *damage) Error() string { return "a message is cut short or damaged" }

// reader reads a message in memory. Offsets count from the first byte of the message.
type reader struct {
	b       []byte
	json    bool
	snake   bool // members of JSON are called as the fields of the schema, string_table
	version version
	lines   string // the member of JSON with the lines of a location
}

// fields visits the fields of a message at [from, to). The error is visit's or a *damage.
func (r *reader) fields(k kind, from, to int, visit func(f *field) error) error {
	if r.json {
		return r.members(k, from, to, visit)
	}
	names := numbersOf(r.version, k)
	var f field
	for at := from; at < to; {
		number, wire, n := protowire.ConsumeTag(r.b[at:to])
		if n < 0 {
			return &damage{at}
		}
		f = field{name: names.field(number), number: number, wire: wire, from: at, body: at + n}
		switch wire {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(r.b[f.body:to])
		case protowire.Fixed64Type:
			f.value, n = protowire.ConsumeFixed64(r.b[f.body:to])
		case protowire.BytesType:
			var size uint64
			size, n = protowire.ConsumeVarint(r.b[f.body:to])
			if n >= 0 && size > uint64(to-f.body-n) {
				n = -1
			} else if n >= 0 {
				f.body += n
				n = int(size)
			}
		default:
			n = protowire.ConsumeFieldValue(number, wire, r.b[f.body:to])
			f.name = nNone
		}
		if n < 0 {
			return &damage{at}
		}
		f.end = f.body + n
		if err := visit(&f); err != nil {
			return err
		}
		at = f.end
	}
	return nil
}

// members visits the members of an object of JSON as fields.
func (r *reader) members(k kind, from, to int, visit func(f *field) error) error {
	j := &json.Walker{Bytes: r.b[:to], Pos: from}
	var failed error
	one := func(n name) {
		f := field{name: n, from: j.Pos, body: j.Pos, wire: protowire.BytesType}
		switch c := j.Peek(); {
		case c == '{' || c == '[':
			f.from, f.body = j.Pos, j.Pos
			j.Skip()
			f.end = j.Pos
		case c == '"':
			f.from = j.Pos
			f.body, f.end = j.Inside()
			if n.isNumber(k) {
				f.wire = protowire.VarintType
				f.value = number(r.b[f.body:f.end])
			}
		default:
			f.from = j.Pos
			j.Skip()
			f.end = j.Pos
			f.wire, f.value = protowire.VarintType, number(r.b[f.from:f.end])
			if string(r.b[f.from:f.end]) == "null" {
				return
			}
		}
		if failed == nil && !j.Failed {
			failed = visit(&f)
		}
	}
	j.Object(func(key string) {
		if failed != nil {
			return
		}
		if strings.IndexByte(key, '_') >= 0 {
			r.snake = true
			key = camel(key)
		}
		n := members[k][key]
		if n == nNone {
			return
		}
		if n == nLines || n == nSamples {
			r.lined(key)
		}
		if j.Peek() == '[' && !n.isList() {
			j.Array(func(int) { one(n) })
			return
		}
		one(n)
	})
	if failed == nil && j.Failed {
		failed = &damage{j.Pos}
	}
	return failed
}

// lined notes how the version calls the lines of a location: since samples are called samples, they are called lines.
func (r *reader) lined(key string) {
	if key == "line" || key == "sample" {
		r.lines = "line"
	}
}

// isNumber reports whether a string of JSON may spell the field's number.
func (n name) isNumber(k kind) bool {
	switch n {
	case nText, nOctets, nKey, nStrings, nFormat, nPayload:
		return false
	case nName:
		return k != kScope
	}
	return true
}

// number reads a number of JSON; 0: it is none.
func number(b []byte) uint64 {
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	v := uint64(0)
	for i, c := range b {
		if c < '0' || c > '9' || i == 20 {
			w := json.Walker{Bytes: append(append([]byte(nil), b...), ' ')}
			v = w.Number()
			break
		}
		v = 10*v + uint64(c-'0')
	}
	if negative {
		return -v
	}
	return v
}

// camel returns the name in JSON of a field of the schema.
func camel(s string) string {
	var b strings.Builder
	for at := 0; at < len(s); at++ {
		if s[at] == '_' && at+1 < len(s) && s[at+1] >= 'a' && s[at+1] <= 'z' {
			at++
			b.WriteByte(s[at] - 'a' + 'A')
			continue
		}
		b.WriteByte(s[at])
	}
	return b.String()
}

// ints visits the numbers of a field, packed or alone.
func (r *reader) ints(f *field, visit func(v uint64)) error {
	switch {
	case f.wire != protowire.BytesType:
		visit(f.value)
		return nil
	case r.json:
		j := &json.Walker{Bytes: r.b[:f.end], Pos: f.body}
		j.Array(func(int) { visit(j.Number()) })
		if j.Failed {
			return &damage{j.Pos}
		}
		return nil
	case f.name == nTimes && r.version >= v18:
		for at := f.body; at < f.end; at += 8 {
			if f.end-at < 8 {
				return &damage{at}
			}
			visit(binary.LittleEndian.Uint64(r.b[at:]))
		}
		return nil
	}
	for at := f.body; at < f.end; {
		v, n := binary.Uvarint(r.b[at:f.end])
		if n <= 0 {
			return &damage{at}
		}
		visit(v)
		at += n
	}
	return nil
}

// text returns the text of a string.
func (r *reader) text(s span) string {
	b := r.b[s.from:s.to]
	if r.json && bytes.IndexByte(b, '\\') >= 0 {
		return string(json.AppendUnescaped(nil, b))
	}
	return string(b)
}

// span is [from, to) of a message.
type span struct{ from, to int32 }
