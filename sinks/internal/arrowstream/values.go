package arrowstream

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/symlake/symlake/sinks/internal/arrowmeta"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// column is the values of a field.
type column struct {
	texts []string
	ints  []uint64
	null  []bool // nil: there is none
}

func (c *column) n() int { return len(c.texts) + len(c.ints) }

// valid reads a validity bitmap. nil: all are valid.
func (s *source) valid(i, rows int) (null []bool, err error) {
	bits, err := s.buffer(i)
	if err != nil || len(bits) == 0 {
		return nil, err
	}
	if len(bits) < (rows+7)/8 {
		return nil, short(len(bits), rows)
	}
	null = make([]bool, rows)
	any := false
	for i := range null {
		null[i] = bits[i/8]>>(i%8)&1 == 0
		any = any || null[i]
	}
	if !any {
		return nil, nil
	}
	return null, nil
}

func short(n, rows int) error {
	return fmt.Errorf("%w: a buffer of %d bytes for %d rows", ErrInput, n, rows)
}

// column reads the values of a field without children.
func (s *source) column(p *placed, dictionaries map[int64]*dictionary) (c column, err error) {
	if c.null, err = s.valid(p.buffer, p.rows); err != nil {
		return c, err
	}
	data, err := s.buffer(p.buffer + 1)
	if err != nil {
		return c, err
	}
	if d := p.f.Dictionary; d != nil {
		return s.numbered(p, c, data, dictionaries[d.ID])
	}
	switch p.f.Type {
	case arrowmeta.Int, arrowmeta.Float, arrowmeta.Decimal:
		err = numbers(p.f, data, p.rows, &c)
	case arrowmeta.FixedSizeBinary:
		size := p.f.Size
		if len(data)/size < p.rows {
			return c, short(len(data), p.rows)
		}
		c.texts = make([]string, p.rows)
		for i := range c.texts {
			c.texts[i] = identifier(p.f, data[i*size:(i+1)*size])
		}
	case arrowmeta.BinaryView, arrowmeta.UTF8View:
		err = s.views(p, data, &c)
	default:
		var bytes []byte
		if bytes, err = s.buffer(p.buffer + 2); err == nil {
			err = texts(data, bytes, p, &c)
		}
	}
	return c, err
}

// identifier is bytes of a fixed length, as text.
func identifier(f *arrowmeta.Field, b []byte) string {
	if f.Extension == "arrow.uuid" && len(b) == 16 {
		return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	}
	return hex.EncodeToString(b)
}

func numbers(f *arrowmeta.Field, data []byte, rows int, c *column) error {
	width := f.Bits / 8
	if width <= 0 || width > 32 || len(data)/width < rows {
		return short(len(data), rows)
	}
	c.ints = make([]uint64, rows)
	if width == 8 && f.Type == arrowmeta.Int {
		for i := range c.ints {
			c.ints[i] = binary.LittleEndian.Uint64(data[8*i:])
		}
		return nil
	}
	for i := range c.ints {
		b := data[i*width : (i+1)*width]
		switch f.Type {
		case arrowmeta.Float:
			x := float64(0)
			if width == 4 {
				x = float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
			} else {
				x = math.Float64frombits(binary.LittleEndian.Uint64(b))
			}
			var null bool
			if c.ints[i], null = pqfile.WholeBits(x); null {
				if c.null == nil {
					c.null = make([]bool, rows)
				}
				c.null[i] = true
			}
		default:
			c.ints[i] = whole(b, f.Signed || f.Type == arrowmeta.Decimal)
		}
	}
	return nil
}

// whole is a little-endian number; the greatest where it has no 64 bits.
func whole(b []byte, signed bool) (bits uint64) {
	negative := signed && b[len(b)-1] >= 0x80
	for len(b) > 8 {
		if last := b[len(b)-1]; last != 0 && (last != 0xff || !negative) {
			return math.MaxUint64
		}
		b = b[:len(b)-1]
	}
	if negative {
		bits = math.MaxUint64
	}
	for _, x := range slices.Backward(b) {
		bits = bits<<8 | uint64(x)
	}
	return bits
}

// offsets returns n+1 offsets into limit things, ascending.
func offsets(b []byte, large bool, n, limit int) ([]int, error) {
	width := 4
	if large {
		width = 8
	}
	if n == 0 {
		return []int{0}, nil // writers may leave it out
	}
	if len(b)/width < n+1 {
		return nil, short(len(b), n)
	}
	all := make([]int, n+1)
	last := int64(0)
	for i := range all {
		x := int64(0)
		if large {
			x = int64(binary.LittleEndian.Uint64(b[8*i:]))
		} else {
			x = int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
		if x < last || x > int64(limit) {
			return nil, fmt.Errorf("%w: offset %d of %d is %d, behind %d, of %d", ErrInput, i, n, x, last, limit)
		}
		all[i], last = int(x), x
	}
	return all, nil
}

func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func texts(ends, data []byte, p *placed, c *column) error {
	at, err := offsets(ends, p.f.Type == arrowmeta.LargeUTF8 || p.f.Type == arrowmeta.LargeBinary, p.rows, len(data))
	if err != nil {
		return err
	}
	c.texts = make([]string, p.rows)
	for i := range c.texts {
		c.texts[i] = view(data[at[i]:at[i+1]])
	}
	return nil
}

// views reads texts of 16 bytes each: up to 12 stand there, others in one of the buffers that follow.
func (s *source) views(p *placed, data []byte, c *column) error {
	if len(data)/16 < p.rows {
		return short(len(data), p.rows)
	}
	more := make([][]byte, p.buffers-2)
	for i := range more {
		var err error
		if more[i], err = s.buffer(p.buffer + 2 + i); err != nil {
			return err
		}
	}
	c.texts = make([]string, p.rows)
	for i := range c.texts {
		if i < len(c.null) && c.null[i] {
			continue
		}
		v := data[16*i : 16*i+16]
		n := int64(int32(binary.LittleEndian.Uint32(v)))
		if n >= 0 && n <= 12 {
			c.texts[i] = view(v[4 : 4+n])
			continue
		}
		k, at := binary.LittleEndian.Uint32(v[8:]), int64(binary.LittleEndian.Uint32(v[12:]))
		if n < 0 || uint64(k) >= uint64(len(more)) || at+n > int64(len(more[k])) {
			return fmt.Errorf("%w: a text of %d bytes at %d of buffer %d of %d", ErrInput, n, at, k, len(more))
		}
		c.texts[i] = view(more[k][at : at+n])
	}
	return nil
}
