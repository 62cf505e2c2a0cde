package equality

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// Column says where the values of a column stand.
type Column struct {
	// Leaf is the column of the file, if Values is nil.
	Leaf pqfile.Leaf
	// Value is the value of all rows of a file that lacks the column, as Null, Text and Number make it.
	Value []byte
}

// Null returns NULL as the value of all rows.
func Null() []byte { return []byte{0} }

// Text returns a text, or bytes, as the value of all rows.
func Text(s string) []byte { return framed(nil, []byte(s)) }

// Number returns a whole number, days or microseconds as the value of all rows.
func Number(n int64) []byte { return framed(nil, whole(n)) }

func framed(to, v []byte) []byte {
	to = append(to, 1)
	to = binary.AppendUvarint(to, uint64(len(v)))
	return append(to, v...)
}

// whole is a number in as few bytes of two's complement as hold it, most significant first: equal numbers of any width are
// equal bytes.
func whole(n int64) []byte { return shortest(binary.BigEndian.AppendUint64(nil, uint64(n))) }

func shortest(b []byte) []byte {
	for len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xff && b[1] >= 0x80) {
		b = b[1:]
	}
	return b
}

// scanRows is how many rows are read at once.
const scanRows = 1024

// scan calls emit with the values of all rows of a file, in order. The key is valid during the call.
func scan(ctx context.Context, f *pqfile.Rows, columns []Column, emit func(row int64, key []byte) error) (err error) {
	emitting := false // what emit panics with is its own
	defer func() {
		if emitting {
			return
		}
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v", pqfile.ErrRows, v)
		}
	}()
	plain := f.Plain()
	if plain == nil {
		return fmt.Errorf("%w: the file is sealed", ErrColumn)
	}
	keys := make([][]byte, scanRows)
	row := int64(0)
	for g, group := range plain.RowGroups() {
		readers, err := open(plain, group, columns)
		if err != nil {
			return err
		}
		for left := f.Groups()[g]; left > 0; {
			if err := ctx.Err(); err != nil {
				return errors.Join(err, closeAll(readers))
			}
			n := int(min(left, scanRows))
			for i := range n {
				keys[i] = keys[i][:0]
			}
			for _, r := range readers {
				if err := r.take(keys[:n]); err != nil {
					return errors.Join(fmt.Errorf("row group %d: %w", g, err), closeAll(readers))
				}
			}
			emitting = true
			for _, key := range keys[:n] {
				if err := emit(row, key); err != nil {
					return errors.Join(err, closeAll(readers))
				}
				row++
			}
			emitting = false
			left -= int64(n)
		}
		if err := closeAll(readers); err != nil {
			return err
		}
	}
	return nil
}

// reader reads the values of a column in a row group.
type reader struct {
	constant []byte
	def      int // definition level of a value
	decimal  bool
	pages    pq.Pages // nil: the value is constant
	values   pq.ValueReader
	room     []pq.Value
}

func open(f *pq.File, group pq.RowGroup, columns []Column) ([]*reader, error) {
	all := make([]*reader, len(columns))
	for i, c := range columns {
		all[i] = &reader{constant: c.Value}
		if c.Value != nil {
			continue
		}
		at := leaf(f.Root(), c.Leaf.Index)
		if at == nil || at.MaxRepetitionLevel() > 0 || at.Type().Kind() == pq.Int96 {
			return nil, errors.Join(fmt.Errorf("%w: %s is a list, or has values of 96 bits", ErrColumn, c.Leaf.Path), closeAll(all[:i]))
		}
		all[i].def, all[i].decimal = at.MaxDefinitionLevel(), isDecimal(at.Type())
		all[i].pages, all[i].room = group.ColumnChunks()[at.Index()].Pages(), make([]pq.Value, scanRows)
	}
	return all, nil
}

// leaf finds a leaf by its number.
func leaf(c *pq.Column, index int) *pq.Column {
	if c.Leaf() {
		if c.Index() == index {
			return c
		}
		return nil
	}
	for _, below := range c.Columns() {
		if found := leaf(below, index); found != nil {
			return found
		}
	}
	return nil
}

func isDecimal(t pq.Type) bool {
	if l := t.LogicalType(); l != nil {
		_, is := l.Value.(*format.DecimalType)
		return is
	}
	c := t.ConvertedType()
	return c != nil && *c == deprecated.Decimal
}

func closeAll(readers []*reader) (err error) {
	for _, r := range readers {
		if r.pages != nil {
			err = errors.Join(err, r.pages.Close())
		}
	}
	return err
}

// take appends the next values to keys, one to each.
func (r *reader) take(keys [][]byte) error {
	if r.pages == nil {
		for i := range keys {
			keys[i] = append(keys[i], r.constant...)
		}
		return nil
	}
	for len(keys) > 0 {
		if r.values == nil {
			page, err := r.pages.ReadPage()
			if errors.Is(err, io.EOF) {
				return fmt.Errorf("%w: its values end before its rows", pqfile.ErrRows)
			}
			if err != nil {
				return fmt.Errorf("%w: %w", pqfile.ErrRows, err)
			}
			r.values = page.Values()
		}
		n, err := r.values.ReadValues(r.room[:len(keys)])
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: %w", pqfile.ErrRows, err)
		}
		if err != nil {
			r.values = nil
		}
		for i := range n {
			keys[i] = r.append(keys[i], &r.room[i])
		}
		keys = keys[n:]
	}
	return nil
}

// append appends a value to a key.
func (r *reader) append(key []byte, v *pq.Value) []byte {
	if v.DefinitionLevel() < r.def || v.IsNull() {
		return append(key, 0)
	}
	switch v.Kind() {
	case pq.Boolean:
		if v.Boolean() {
			return framed(key, []byte{1})
		}
		return framed(key, []byte{0})
	case pq.Int32:
		return framed(key, whole(int64(v.Int32())))
	case pq.Int64:
		return framed(key, whole(v.Int64()))
	case pq.Float:
		return framed(key, double(float64(v.Float())))
	case pq.Double:
		return framed(key, double(v.Double()))
	}
	if r.decimal {
		return framed(key, shortest(v.ByteArray()))
	}
	return framed(key, v.ByteArray())
}

// double is a floating-point number as bytes. All that are no numbers are equal.
func double(x float64) []byte {
	bits := math.Float64bits(x)
	if math.IsNaN(x) {
		bits = math.Float64bits(math.NaN())
	}
	return binary.BigEndian.AppendUint64(nil, bits)
}
