package row

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
)

const (
	// textRowBytes is how much text closes a row: a look-up wants a few lines of it.
	textRowBytes = 64 << 10
	// MaxTextLine is what is kept of a line, in bytes. Nobody reads on in a longer one.
	MaxTextLine = 64 << 10
	// maxTextFiles and maxTextNames bound the directory, which is one row.
	maxTextFiles = 1 << 18
	maxTextNames = maxBodyBytes / 2
	// directoryAt is the position of the directory.
	directoryAt = math.MaxUint64
)

// texts is what an Encoder has of the source texts of its load.
type texts struct {
	files  []textFile
	at     map[string]int // index in files
	names  int            // bytes of them
	line   uint32         // the last one of the file being written
	counts []byte         // column 0 of the open row
	text   []byte         // column 1
	lines  uint32         // in the open row
}

// textFile is an entry of the directory.
type textFile struct {
	name string
	sum  [32]byte
	rows []uint32 // the last line of each
	torn bool     // the name has several texts: none is served
}

// textKey is the position of the row that ends with a line of a file.
func textKey(file int, last uint32) uint64 { return uint64(file)<<32 | uint64(last) }

// AddText stores the text of a source file, as frames name it, beside the rows
// of a script. It comes after the last run, and files in any order, which shows in the
// rows. A file whose name came before with another text is given up, and so is
// one beyond what the directory holds: it counts in Loaded.TextsLeft.
func (e *Encoder) AddText(file string, text []byte) error {
	if e.err != nil {
		return e.err
	}
	if e.texts == nil {
		if err := e.endRanges(); err != nil {
			return err
		}
		e.texts = &texts{at: make(map[string]int)}
	}
	t := e.texts
	sum := sha256.Sum256(text)
	if i, ok := t.at[file]; ok {
		if f := &t.files[i]; f.sum != sum && !f.torn {
			f.torn = true
			e.out.TextsLeft++
		}
		return nil
	}
	if len(t.files) == maxTextFiles || t.names+len(file) > maxTextNames || len(text) == 0 {
		e.out.TextsLeft++
		return nil
	}
	t.at[file] = len(t.files)
	t.names += len(file)
	t.files = append(t.files, textFile{name: file, sum: sum})
	for line := range lines(text) {
		if len(t.text) > 0 && len(t.text)+len(line) > textRowBytes {
			e.flushText()
		}
		t.line++
		t.lines++
		t.counts = binary.AppendUvarint(t.counts, uint64(len(line)))
		t.text = append(t.text, line...)
	}
	e.flushText()
	t.line = 0
	return e.err
}

// lines yields the lines of a text without their ends, which are LF, CR LF or CR,
// cut to MaxTextLine. What follows the last end is a line unless it is empty.
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
			if !yield(line[:min(len(line), MaxTextLine)]) {
				return
			}
		}
	}
}

// flushText writes the open row of text, which ends with line.
func (e *Encoder) flushText() {
	t := e.texts
	if t.lines == 0 {
		return
	}
	n := len(t.files) - 1
	t.files[n].rows = append(t.files[n].rows, t.line)
	e.emitText(textKey(n, t.line), bodyText, uint64(t.lines), t.counts, t.text)
	t.counts, t.text, t.lines = t.counts[:0], t.text[:0], 0
}

// emitText writes a row of a count and columns of plain bytes.
func (e *Encoder) emitText(position uint64, form byte, count uint64, columns ...[]byte) {
	body := binary.AppendUvarint(nil, count)
	for _, c := range columns {
		body = e.comp.column(body, c, tryZstd)
	}
	addCount(e.sum, int(count))
	addBlock(e.sum, position, columns)
	e.emit(Texts, position, form, body)
}

// closeTexts writes the directory.
func (e *Encoder) closeTexts() {
	var lengths, names, rows, steps []byte
	for i := range e.texts.files {
		f := &e.texts.files[i]
		lengths = binary.AppendUvarint(lengths, uint64(len(f.name)))
		names = append(names, f.name...)
		rows = binary.AppendUvarint(rows, uint64(len(f.rows))<<1|uint64(bit(f.torn)))
		from := uint32(0)
		for _, last := range f.rows {
			steps = binary.AppendUvarint(steps, uint64(last-from))
			from = last
		}
		e.out.TextRows += uint64(len(f.rows))
	}
	e.emitText(directoryAt, bodyTextDirectory, uint64(len(e.texts.files)), lengths, names, rows, steps)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// directory says where the texts of a load stand.
type directory struct {
	files []textFile // without sums
	at    map[string]int
	rows  uint64
	bytes int64
}

// decodeDirectory reads the body of a directory.
func decodeDirectory(d *decompressor, body []byte) (*directory, [][]byte, error) {
	count, cols, err := textColumns(d, body, 4)
	if err != nil {
		return nil, nil, err
	}
	if count == 0 || count > maxTextFiles || count > uint64(len(cols[0])) {
		return nil, nil, fmt.Errorf("%w: want the number of files", errColumn)
	}
	lengths, rows, steps := reader{b: cols[0]}, reader{b: cols[2]}, reader{b: cols[3]}
	names := string(cols[1])
	x := &directory{files: make([]textFile, count), at: make(map[string]int, count), bytes: int64(len(names)+len(cols[3])*4) + int64(count)*96}
	for i := range x.files {
		f := &x.files[i]
		n := lengths.next()
		if n > uint64(len(names)) {
			return nil, nil, fmt.Errorf("%w: want the name of file %d", errColumn, i)
		}
		f.name, names = names[:n], names[n:]
		v := rows.next()
		f.torn = v&1 != 0
		if v>>1 > uint64(len(cols[3])) || v>>1 == 0 {
			return nil, nil, fmt.Errorf("%w: want the rows of file %d", errColumn, i)
		}
		last := uint64(0)
		for range v >> 1 {
			last += max(steps.next(), 1)
			if last >= math.MaxUint32 || steps.bad {
				return nil, nil, fmt.Errorf("%w: want the lines of file %d", errColumn, i)
			}
			f.rows = append(f.rows, uint32(last))
		}
		x.at[f.name] = i
		x.rows += v >> 1
	}
	if !lengths.done() || !rows.done() || !steps.done() || names != "" {
		return nil, nil, fmt.Errorf("%w: want no more than %d files", errColumn, count)
	}
	return x, cols, nil
}

// textColumns reads a count and the columns behind it, of one budget.
func textColumns(d *decompressor, body []byte, n int) (count uint64, cols [][]byte, err error) {
	count, k := binary.Uvarint(body)
	if k <= 0 {
		return 0, nil, fmt.Errorf("%w: want a number", errColumn)
	}
	body = body[k:]
	d.budget = maxBodyBytes
	for range n {
		var c []byte
		if c, body, err = d.column(nil, body); err != nil {
			return 0, nil, err
		}
		cols = append(cols, c)
	}
	if len(body) > 0 {
		return 0, nil, fmt.Errorf("%w: want nothing behind them", errColumn)
	}
	return count, cols, nil
}

// decodeText reads the body of a row of text: its lines, which share their bytes.
func decodeText(d *decompressor, body []byte) (lines []string, cols [][]byte, err error) {
	count, cols, err := textColumns(d, body, 2)
	if err != nil {
		return nil, nil, err
	}
	if count == 0 || count > uint64(len(cols[0])) {
		return nil, nil, fmt.Errorf("%w: want the number of lines", errColumn)
	}
	lengths, text := reader{b: cols[0]}, string(cols[1])
	lines = make([]string, count)
	for i := range lines {
		n := lengths.next()
		if n > uint64(len(text)) {
			return nil, nil, fmt.Errorf("%w: want line %d", errColumn, i)
		}
		lines[i], text = text[:n], text[n:]
	}
	if !lengths.done() || text != "" {
		return nil, nil, fmt.Errorf("%w: want no more than %d lines", errColumn, count)
	}
	return lines, cols, nil
}
