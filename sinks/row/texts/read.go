package texts

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/symlake/symlake/sinks/internal/column"
)

// Directory says where the texts of a load stand. Safe for concurrent use; it never changes.
type Directory struct {
	files []file
	at    map[string]int
	rows  uint64
	bytes int64
}

// DecodeDirectory reads the body of a directory, and returns its columns, too.
func DecodeDirectory(d *column.Decoder, body []byte) (*Directory, [][]byte, error) {
	count, cols, err := columns(d, body, 4)
	if err != nil {
		return nil, nil, err
	}
	if count == 0 || count > maxFiles || count > uint64(len(cols[0])) {
		return nil, nil, fmt.Errorf("%w: want the number of files", column.ErrBroken)
	}
	lengths, rows, steps := column.Reader{B: cols[0]}, column.Reader{B: cols[2]}, column.Reader{B: cols[3]}
	names := string(cols[1])
	x := &Directory{files: make([]file, count), at: make(map[string]int, count), bytes: int64(len(names)+len(cols[3])*4) + int64(count)*96}
	for i := range x.files {
		f := &x.files[i]
		n := lengths.Next()
		if n > uint64(len(names)) {
			return nil, nil, fmt.Errorf("%w: want the name of file %d", column.ErrBroken, i)
		}
		f.name, names = names[:n], names[n:]
		v := rows.Next()
		f.torn = v&1 != 0
		if v>>1 > uint64(len(cols[3])) || v>>1 == 0 {
			return nil, nil, fmt.Errorf("%w: want the rows of file %d", column.ErrBroken, i)
		}
		last := uint64(0)
		for range v >> 1 {
			last += max(steps.Next(), 1)
			if last >= math.MaxUint32 || steps.Bad {
				return nil, nil, fmt.Errorf("%w: want the lines of file %d", column.ErrBroken, i)
			}
			f.rows = append(f.rows, uint32(last))
		}
		x.at[f.name] = i
		x.rows += v >> 1
	}
	if !lengths.Done() || !rows.Done() || !steps.Done() || names != "" {
		return nil, nil, fmt.Errorf("%w: want no more than %d files", column.ErrBroken, count)
	}
	return x, cols, nil
}

// Files is the number of files.
func (x *Directory) Files() int { return len(x.files) }

// Rows is the number of rows of text.
func (x *Directory) Rows() uint64 { return x.rows }

// Bytes is the memory that the directory holds.
func (x *Directory) Bytes() int64 { return x.bytes }

// Find emits the rows that hold the lines from first to last (from 1) of a file, ascending: the
// position of each and its lines. None: there is no text of the file, or it ends before.
func (x *Directory) Find(file string, first, last uint32, emit func(position uint64, from, to uint32)) {
	n, ok := x.at[file]
	if !ok || x.files[n].torn {
		return
	}
	ends := x.files[n].rows
	i, _ := slices.BinarySearch(ends, first)
	for ; i < len(ends); i++ {
		from := uint32(1)
		if i > 0 {
			from = ends[i-1] + 1
		}
		if from > last {
			return
		}
		emit(Position(n, ends[i]), from, ends[i])
	}
}

// columns reads a count and the columns behind it, of one budget.
func columns(d *column.Decoder, body []byte, n int) (count uint64, cols [][]byte, err error) {
	count, k := binary.Uvarint(body)
	if k <= 0 {
		return 0, nil, fmt.Errorf("%w: want a number", column.ErrBroken)
	}
	body = body[k:]
	d.Budget = column.MaxRowBytes
	for range n {
		var c []byte
		if c, body, err = d.Column(nil, body); err != nil {
			return 0, nil, err
		}
		cols = append(cols, c)
	}
	if len(body) > 0 {
		return 0, nil, fmt.Errorf("%w: want nothing behind them", column.ErrBroken)
	}
	return count, cols, nil
}

// Decode reads the body of a row of text: its lines, which share their bytes, and its columns.
func Decode(d *column.Decoder, body []byte) (lines []string, cols [][]byte, err error) {
	count, cols, err := columns(d, body, 2)
	if err != nil {
		return nil, nil, err
	}
	if count == 0 || count > uint64(len(cols[0])) {
		return nil, nil, fmt.Errorf("%w: want the number of lines", column.ErrBroken)
	}
	lengths, text := column.Reader{B: cols[0]}, string(cols[1])
	lines = make([]string, count)
	for i := range lines {
		n := lengths.Next()
		if n > uint64(len(text)) {
			return nil, nil, fmt.Errorf("%w: want line %d", column.ErrBroken, i)
		}
		lines[i], text = text[:n], text[n:]
	}
	if !lengths.Done() || text != "" {
		return nil, nil, fmt.Errorf("%w: want no more than %d lines", column.ErrBroken, count)
	}
	return lines, cols, nil
}
