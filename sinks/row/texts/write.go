// Package texts turns the texts of sources into rows of lines, and finds the rows again by file and
// line. The package doc of sinks/row specifies the form.
package texts

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strings"

	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
)

const (
	// rowBytes is how much text closes a row: a look-up wants a few lines of it.
	rowBytes = 64 << 10
	// MaxLine is the length to which a line is cut, in bytes. People do not read on in a longer one.
	MaxLine = 64 << 10
	// maxFiles and maxNames bound the directory, which is one row.
	maxFiles = 1 << 18
	maxNames = column.MaxRowBytes / 2
	// DirectoryAt is the position of the directory.
	DirectoryAt = math.MaxUint64
)

// Emit takes the body of a row of that form: a count and columns, which it was made of. It keeps
// none of them.
type Emit func(position uint64, form row.Form, body []byte, count int, columns [][]byte) error

// Writer turns the source texts of a load into rows. One goroutine.
type Writer struct {
	Rows uint64 // emitted, without the directory
	Left uint64 // texts that no reader will be served

	emit   Emit
	coder  *column.Encoder
	files  []file
	at     map[string]int // index in files
	names  int            // bytes of them
	line   uint32         // the last one of the file being written
	counts []byte         // column 0 of the open row
	text   []byte         // column 1
	lines  uint32         // in the open row
}

// file is an entry of the directory.
type file struct {
	name string
	sum  [sha256.Size]byte // of the text; a directory that was read has none
	rows []uint32          // the last line of each
	torn bool              // the name has several texts: none is served
}

// Position is the position of the row that ends with a line of a file.
func Position(file int, last uint32) uint64 { return uint64(file)<<32 | uint64(last) }

// NewWriter returns a writer without texts.
func NewWriter(coder *column.Encoder, emit Emit) *Writer {
	return &Writer{emit: emit, coder: coder, at: make(map[string]int)}
}

// Add stores the text of a source file, which frames name so. Files come in any order, which shows in
// the rows. A file that came before with another text is given up, and so is one beyond the
// bounds of the directory: both count as Left. Add keeps neither name nor text.
func (w *Writer) Add(name string, text []byte) error {
	sum := sha256.Sum256(text)
	if i, ok := w.at[name]; ok {
		if f := &w.files[i]; f.sum != sum && !f.torn {
			f.torn = true
			w.Left++
		}
		return nil
	}
	if len(w.files) == maxFiles || w.names+len(name) > maxNames || len(text) == 0 {
		w.Left++
		return nil
	}
	name = strings.Clone(name) // it may lie in a mapped file, which is closed before w is
	w.at[name] = len(w.files)
	w.names += len(name)
	w.files = append(w.files, file{name: name, sum: sum})
	for line := range lines(text) {
		if len(w.text) > 0 && len(w.text)+len(line) > rowBytes {
			if err := w.flush(); err != nil {
				return err
			}
		}
		w.line++
		w.lines++
		w.counts = binary.AppendUvarint(w.counts, uint64(len(line)))
		w.text = append(w.text, line...)
	}
	err := w.flush()
	w.line = 0
	return err
}

// lines yields the lines of a text without their ends, which are LF, CR LF or CR,
// cut to MaxLine. The rest behind the last end is a line unless it is empty.
func lines(text []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for n := uint32(0); len(text) > 0 && n < math.MaxUint32-1; n++ {
			line, end := text, len(text)
			if i := bytes.IndexByte(text, '\n'); i >= 0 {
				line, end = text[:i], i+1
			}
			if i := bytes.IndexByte(line, '\r'); i >= 0 {
				if i+1 < len(line) || end == len(line) { // no LF behind it
					end = i + 1
				}
				line = line[:i]
			}
			text = text[end:]
			if !yield(line[:min(len(line), MaxLine)]) {
				return
			}
		}
	}
}

// flush writes the open row, which ends with line.
func (w *Writer) flush() error {
	if w.lines == 0 {
		return nil
	}
	n := len(w.files) - 1
	w.files[n].rows = append(w.files[n].rows, w.line)
	w.Rows++
	err := w.row(Position(n, w.line), row.FormText, int(w.lines), w.counts, w.text)
	w.counts, w.text, w.lines = w.counts[:0], w.text[:0], 0
	return err
}

// row writes a row of a count and columns of plain bytes.
func (w *Writer) row(position uint64, form row.Form, count int, columns ...[]byte) error {
	body := binary.AppendUvarint(nil, uint64(count))
	for _, c := range columns {
		body = w.coder.Append(body, c, column.TryZstd)
	}
	return w.emit(position, form, body, count, columns)
}

// Close writes the directory, if any text came.
func (w *Writer) Close() error {
	if len(w.files) == 0 {
		return nil
	}
	var lengths, names, rows, steps []byte
	for i := range w.files {
		f := &w.files[i]
		lengths = binary.AppendUvarint(lengths, uint64(len(f.name)))
		names = append(names, f.name...)
		count := uint64(len(f.rows)) << 1
		if f.torn {
			count |= 1
		}
		rows = binary.AppendUvarint(rows, count)
		from := uint32(0)
		for _, last := range f.rows {
			steps = binary.AppendUvarint(steps, uint64(last-from))
			from = last
		}
	}
	return w.row(DirectoryAt, row.FormTextDirectory, len(w.files), lengths, names, rows, steps)
}
