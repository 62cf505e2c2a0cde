package pqfile

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"unsafe"

	pa "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	pq "github.com/parquet-go/parquet-go"
)

// Cells holds the values of one column in some rows. Texts may alias a page, which is never overwritten: they stay valid as
// long as the caller holds them. Equal texts of a dictionary mostly have one address.
type Cells struct {
	Texts []string // of LeafText
	Ints  []uint64 // of LeafInt: two's complement where the column is signed; the greatest where the value is no whole number of 64 bits
	Null  []bool   // by value; nil: there is none
	// Ends, of a list: the values of row i stand in [Ends[i-1], Ends[i]).
	Ends []int
}

func (c *Cells) reset() {
	c.Texts, c.Ints, c.Null, c.Ends = c.Texts[:0], c.Ints[:0], c.Null[:0], c.Ends[:0]
}

// scanRows is how many rows Scan hands out at once.
const scanRows = 4096

// Scan reads columns of a row group: emit gets the next rows of all of them, valid during the call. A kind LeafOther
// cannot be read. It is safe to scan several row groups at once.
func (f *Rows) Scan(ctx context.Context, group int, leaves []Leaf, emit func(rows int, cells []Cells) error) (err error) {
	emitting := false // what emit panics with is its own
	defer func() {
		if emitting {
			return
		}
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", ErrRows, v)
		}
	}()
	var sealed *file.Reader
	if f.sealed != nil {
		if sealed, err = f.lent.take(ctx); err != nil {
			return err
		}
		defer f.lent.give(sealed)
	}
	cursors := make([]cursor, len(leaves))
	for i, l := range leaves {
		if l.Kind == LeafOther {
			return fmt.Errorf("column %s holds neither texts nor whole numbers", l.Path)
		}
		cursors[i].leaf = l
		if f.plain != nil {
			pages := f.plain.RowGroups()[group].ColumnChunks()[l.Index].Pages()
			defer pages.Close()
			cursors[i].next = plainValues(pages, l)
		} else {
			chunk, err := sealed.RowGroup(group).Column(l.Index)
			if err != nil {
				return fmt.Errorf("%w: column %s: %w", ErrRows, l.Path, err)
			}
			if cursors[i].next, err = sealedValues(chunk, l); err != nil {
				return err
			}
		}
		if f.gone != nil {
			cursors[i].next = left(cursors[i].next, l, f.gone[group])
		}
	}
	cells := make([]Cells, len(leaves))
	for left := f.groups[group]; left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := int(min(left, scanRows))
		for i := range cursors {
			if err := cursors[i].take(n, &cells[i]); err != nil {
				return fmt.Errorf("row group %d, column %s: %w", group, leaves[i].Path, err)
			}
		}
		emitting = true
		if err := emit(n, cells); err != nil {
			return err
		}
		emitting = false
		left -= int64(n)
	}
	return nil
}

// left passes on the values of rows that are left.
func left(next func(to []value) (int, error), l Leaf, gone []uint32) func(to []value) (int, error) {
	rows := living{gone: gone}
	return func(to []value) (int, error) {
		n, err := next(to)
		kept := to[:0]
		for _, v := range to[:n] {
			if (!l.List || v.first) && rows.next() || l.List && !v.first && rows.last {
				kept = append(kept, v)
			}
		}
		return len(kept), err
	}
}

// value is a value with its levels, as far as they say something.
type value struct {
	text  string
	bits  uint64
	null  bool // no value, or no element
	none  bool // of a list: there is no element here
	first bool // of its row
}

// cursor walks the values of a column chunk.
type cursor struct {
	leaf Leaf
	next func(to []value) (int, error) // io.EOF with 0 after the last
	room [readValues]value
	buf  []value // read, and not taken
}

func (c *cursor) fill() error {
	for len(c.buf) == 0 {
		n, err := c.next(c.room[:])
		if c.buf = c.room[:n]; n == 0 && err != nil {
			return err
		}
	}
	return nil
}

// take puts the values of the next n rows into cells.
func (c *cursor) take(n int, to *Cells) error {
	to.reset()
	for row := 0; row < n; {
		if err := c.fill(); err != nil {
			return ended(err, row, n)
		}
		if !c.leaf.List {
			k := min(len(c.buf), n-row)
			for i := range c.buf[:k] {
				c.put(&c.buf[i], to)
			}
			c.buf, row = c.buf[k:], row+k
			continue
		}
		if !c.buf[0].first {
			return fmt.Errorf("%w: an element before its row", ErrRows)
		}
		for {
			if !c.buf[0].none {
				c.put(&c.buf[0], to)
			}
			c.buf = c.buf[1:]
			if err := c.fill(); err != nil && !errors.Is(err, io.EOF) {
				return ended(err, row, n)
			} else if err != nil || c.buf[0].first {
				break
			}
		}
		row++
		to.Ends = append(to.Ends, len(to.Texts)+len(to.Ints))
	}
	return nil
}

func ended(err error, row, rows int) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: its values end in row %d of %d", ErrRows, row, rows)
	}
	return err
}

func (c *cursor) put(v *value, to *Cells) {
	if v.null {
		for n := len(to.Texts) + len(to.Ints); len(to.Null) < n; {
			to.Null = append(to.Null, false)
		}
		to.Null = append(to.Null, true)
	} else if len(to.Null) > 0 {
		to.Null = append(to.Null, false)
	}
	if c.leaf.Kind == LeafText {
		to.Texts = append(to.Texts, v.text)
	} else {
		to.Ints = append(to.Ints, v.bits)
	}
}

// plainValues reads the values of a chunk of a plain file.
func plainValues(pages pq.Pages, l Leaf) func([]value) (int, error) {
	var values pq.ValueReader
	room := make([]pq.Value, readValues)
	return func(to []value) (int, error) {
		for {
			if values == nil {
				page, err := pages.ReadPage()
				if errors.Is(err, io.EOF) {
					return 0, io.EOF
				}
				if err != nil {
					return 0, fmt.Errorf("%w: %w", ErrRows, err)
				}
				values = page.Values()
			}
			n, err := values.ReadValues(room[:min(len(to), len(room))])
			if err != nil && !errors.Is(err, io.EOF) {
				return 0, fmt.Errorf("%w: %w", ErrRows, err)
			}
			if err != nil {
				values = nil
			}
			if n == 0 {
				continue
			}
			for i := range room[:n] {
				v := &room[i]
				to[i] = value{null: v.DefinitionLevel() < l.def, none: l.List && v.DefinitionLevel() < l.element, first: v.RepetitionLevel() == 0}
				switch {
				case to[i].null:
				case v.Kind() == pq.Int32:
					to[i].bits = l.extend(v.Int32())
				case v.Kind() == pq.Int64:
					to[i].bits = uint64(v.Int64())
				case v.Kind() == pq.Float:
					to[i].bits, to[i].null = WholeBits(float64(v.Float()))
				case v.Kind() == pq.Double:
					to[i].bits, to[i].null = WholeBits(v.Double())
				default:
					l.bytes(v.ByteArray(), &to[i])
				}
			}
			return n, nil
		}
	}
}

// extend makes 64 bits of 32.
func (l Leaf) extend(x int32) uint64 {
	if l.unsigned {
		return uint64(uint32(x))
	}
	return uint64(int64(x))
}

// bytes makes a value of bytes, which it may alias.
func (l Leaf) bytes(b []byte, v *value) {
	switch {
	case l.Kind == LeafInt:
		v.bits = decimalBits(b)
	case l.fixedUUID && len(b) == 16:
		v.text = fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	case l.fixed:
		v.text = hex.EncodeToString(b)
	default:
		v.text = unsafe.String(unsafe.SliceData(b), len(b))
	}
}

// WholeBits returns a floating-point number as an integer; null of NaN.
func WholeBits(x float64) (bits uint64, null bool) {
	switch {
	case math.IsNaN(x):
		return 0, true
	case x != math.Trunc(x) || x < math.MinInt64 || x >= 1<<64:
		return math.MaxUint64, false
	case x < 0:
		return uint64(int64(x)), false
	}
	return uint64(x), false
}

// decimalBits is a big-endian number in two's complement.
func decimalBits(b []byte) (bits uint64) {
	negative := len(b) > 0 && b[0] >= 0x80
	for len(b) > 8 {
		if b[0] != 0 && b[0] != 0xff {
			return math.MaxUint64
		}
		b = b[1:]
	}
	if negative {
		bits = math.MaxUint64
	}
	for _, x := range b {
		bits = bits<<8 | uint64(x)
	}
	return bits
}

// sealedValues reads the values of a chunk of a sealed file. The library uses its memory again with each page, so texts
// are copied, a text of a dictionary mostly once.
func sealedValues(chunk file.ColumnChunkReader, l Leaf) (func([]value) (int, error), error) {
	def, rep := make([]int16, readValues), make([]int16, readValues)
	var bits []uint64
	var absent []bool // of floating-point numbers
	var texts []string
	var read func(n int64) (total int64, values int, err error)
	known := map[string]string{}
	text := func(b []byte) string {
		if s, ok := known[string(b)]; ok {
			return s
		}
		if len(known) >= scanRows || len(b) > scanRows { // a column without repetition
			clear(known)
		}
		var v value
		l.bytes(append([]byte(nil), b...), &v)
		known[v.text] = v.text
		return v.text
	}
	switch c := chunk.(type) {
	case *file.Int32ColumnChunkReader:
		room := make([]int32, readValues)
		read = func(n int64) (int64, int, error) {
			total, k, err := c.ReadBatch(n, room, def, rep)
			for _, x := range room[:k] {
				bits = append(bits, l.extend(x))
			}
			return total, k, err
		}
	case *file.Int64ColumnChunkReader:
		room := make([]int64, readValues)
		read = func(n int64) (int64, int, error) {
			total, k, err := c.ReadBatch(n, room, def, rep)
			for _, x := range room[:k] {
				bits = append(bits, uint64(x))
			}
			return total, k, err
		}
	case *file.Float32ColumnChunkReader:
		room := make([]float32, readValues)
		read = func(n int64) (int64, int, error) {
			total, k, err := c.ReadBatch(n, room, def, rep)
			for _, x := range room[:k] {
				b, null := WholeBits(float64(x))
				bits, absent = append(bits, b), append(absent, null)
			}
			return total, k, err
		}
	case *file.Float64ColumnChunkReader:
		room := make([]float64, readValues)
		read = func(n int64) (int64, int, error) {
			total, k, err := c.ReadBatch(n, room, def, rep)
			for _, x := range room[:k] {
				b, null := WholeBits(x)
				bits, absent = append(bits, b), append(absent, null)
			}
			return total, k, err
		}
	case *file.ByteArrayColumnChunkReader:
		room := make([]pa.ByteArray, readValues)
		read = func(n int64) (int64, int, error) {
			total, k, err := c.ReadBatch(n, room, def, rep)
			for _, b := range room[:k] {
				if l.Kind == LeafInt {
					bits = append(bits, decimalBits(b))
				} else {
					texts = append(texts, text(b))
				}
			}
			return total, k, err
		}
	case *file.FixedLenByteArrayColumnChunkReader:
		room := make([]pa.FixedLenByteArray, readValues)
		read = func(n int64) (int64, int, error) {
			total, k, err := c.ReadBatch(n, room, def, rep)
			for _, b := range room[:k] {
				var v value
				l.bytes(b, &v)
				bits, texts = append(bits, v.bits), append(texts, v.text)
			}
			return total, k, err
		}
	default:
		return nil, fmt.Errorf("%w: column %s is a %T", ErrRows, l.Path, chunk)
	}
	return func(to []value) (int, error) {
		bits, absent, texts = bits[:0], absent[:0], texts[:0]
		if !chunk.HasNext() {
			return 0, io.EOF
		}
		total, _, err := read(int64(min(len(to), readValues)))
		if err != nil {
			return 0, fmt.Errorf("%w: %w", ErrRows, err)
		}
		l.sealed(to[:total], def, rep, bits, absent, texts)
		return int(total), nil
	}, nil
}

// sealed puts values and their levels together. bits, absent and texts have the values alone, or are empty.
func (l Leaf) sealed(to []value, def, rep []int16, bits []uint64, absent []bool, texts []string) {
	k := 0
	for i := range to {
		v := value{first: true}
		if l.def > 0 {
			v.null, v.none = int(def[i]) < l.def, l.List && int(def[i]) < l.element
		}
		if l.repeated > 0 {
			v.first = rep[i] == 0
		}
		if !v.null {
			if k < len(bits) {
				v.bits = bits[k]
			}
			v.null = k < len(absent) && absent[k]
			if k < len(texts) {
				v.text = texts[k]
			}
			k++
		}
		to[i] = v
	}
}
