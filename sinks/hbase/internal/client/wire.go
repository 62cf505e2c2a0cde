package client

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is a protobuf message being built, field by field.
type message []byte

func (m message) bytes(n protowire.Number, b []byte) message {
	return protowire.AppendBytes(protowire.AppendTag(m, n, protowire.BytesType), b)
}

func (m message) text(n protowire.Number, s string) message {
	return protowire.AppendString(protowire.AppendTag(m, n, protowire.BytesType), s)
}

func (m message) number(n protowire.Number, v uint64) message {
	return protowire.AppendVarint(protowire.AppendTag(m, n, protowire.VarintType), v)
}

func (m message) flag(n protowire.Number, v bool) message {
	return m.number(n, protowire.EncodeBool(v))
}

// delimited appends the message's length and itself.
func delimited(to []byte, m message) []byte { return protowire.AppendBytes(to, m) }

// errMalformed says that an answer is no protobuf, or not the expected message.
var errMalformed = errors.New("malformed answer")

// field is one field of a message that was read: number or bytes, by its type.
type field struct {
	id     protowire.Number
	number uint64
	bytes  []byte // aliases the message
}

// fields walks the fields of a message; a malformed one ends the walk and is left in err.
func fields(b []byte, err *error) iter.Seq[field] {
	return func(yield func(field) bool) {
		for len(b) > 0 {
			id, typ, n := protowire.ConsumeTag(b)
			if n < 0 {
				*err = fmt.Errorf("%w: %w", errMalformed, protowire.ParseError(n))
				return
			}
			b = b[n:]
			f := field{id: id}
			switch typ {
			case protowire.VarintType:
				f.number, n = protowire.ConsumeVarint(b)
			case protowire.BytesType:
				f.bytes, n = protowire.ConsumeBytes(b)
			default:
				n = protowire.ConsumeFieldValue(id, typ, b)
			}
			if n < 0 {
				*err = fmt.Errorf("%w: field %d: %w", errMalformed, id, protowire.ParseError(n))
				return
			}
			b = b[n:]
			if !yield(f) {
				return
			}
		}
	}
}

// Cell is one value. Its bytes alias the answer it came in, which is never reused.
type Cell struct {
	Row, Family, Qualifier, Value []byte
	Timestamp                     uint64
	Type                          byte
}

// Types of cells, as HBase stores them.
const (
	typePut          = 4
	typeDeleteColumn = 12 // every version up to its timestamp
)

// appendCell appends a cell as a cell block holds it: u32 length ‖ KeyValue.
func appendCell(to []byte, c *Cell) []byte {
	key := 2 + len(c.Row) + 1 + len(c.Family) + len(c.Qualifier) + 8 + 1
	be := binary.BigEndian
	to = be.AppendUint32(to, uint32(8+key+len(c.Value)))
	to = be.AppendUint32(to, uint32(key))
	to = be.AppendUint32(to, uint32(len(c.Value)))
	to = be.AppendUint16(to, uint16(len(c.Row)))
	to = append(to, c.Row...)
	to = append(to, byte(len(c.Family)))
	to = append(to, c.Family...)
	to = append(to, c.Qualifier...)
	to = be.AppendUint64(to, c.Timestamp)
	to = append(to, c.Type)
	return append(to, c.Value...)
}

// nextCell takes the first cell off a cell block.
func nextCell(b []byte) (c Cell, rest []byte, err error) {
	be := binary.BigEndian
	if len(b) < 12 {
		return c, nil, fmt.Errorf("%w: cell block ends within a cell", errMalformed)
	}
	size, key, value := uint64(be.Uint32(b)), uint64(be.Uint32(b[4:])), uint64(be.Uint32(b[8:]))
	if size > uint64(len(b)-4) || size < 8+key+value || key < 12 {
		return c, nil, fmt.Errorf("%w: cell of %d bytes with key %d and value %d, in %d", errMalformed, size, key, value, len(b)-4)
	}
	rest = b[4+size:]
	k := b[12 : 12+key]
	c.Value = b[12+key : 12+key+value : 12+key+value]
	row := int(be.Uint16(k))
	if row+12 > len(k) {
		return c, nil, fmt.Errorf("%w: row of %d bytes in a key of %d", errMalformed, row, len(k))
	}
	c.Row, k = k[2:2+row:2+row], k[2+row:]
	family := int(k[0])
	if 1+family+9 > len(k) {
		return c, nil, fmt.Errorf("%w: family of %d bytes in what is left of a key, %d", errMalformed, family, len(k))
	}
	c.Family, c.Qualifier = k[1:1+family], k[1+family:len(k)-9]
	c.Timestamp, c.Type = be.Uint64(k[len(k)-9:]), k[len(k)-1]
	return c, rest, nil
}

// varints reads a packed field.
func varints(b []byte) ([]uint64, error) {
	var list []uint64
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil, fmt.Errorf("%w: %w", errMalformed, protowire.ParseError(n))
		}
		list, b = append(list, v), b[n:]
	}
	return list, nil
}
