package row

import (
	"encoding/binary"
	"fmt"
)

// classBytes and fullClasses close a block of classes. A look-up of one class decodes the columns of all that
// share its block: blocks of a quarter take a fifth off a cold trace's time, and 10 % more room.
const (
	classBytes  = 64 << 10
	fullClasses = 4096
)

// blocksPerTrial is how many blocks are coded as the first of them turned out best: classes of a mapping stand in
// an order of chance, so their blocks are alike.
const blocksPerTrial = 16

// maxMembers bounds the members of a class that a reader makes: 36 MiB of them.
const maxMembers = 1 << 18

// classWriter gathers the columns of one block of classes.
type classWriter struct {
	table   *Table
	dict    []uint32 // by the number of a string: its number in the dictionary + 1
	cols    [classColumns][]byte
	bytes   int
	classes int
	starts  [classColumns]int
	texts   textIndex // of the strings that stand in the open block
	head    []byte
	out     []byte
	coded   [classColumns]trial // what suited each column in the last block that was tried with both
	blocks  int
}

func newClassWriter(t *Table, picked []sorted) *classWriter {
	dict := make([]uint32, len(t.Strings))
	for i, p := range picked {
		dict[p.at] = uint32(i + 1)
	}
	if t.Numbers != nil {
		byIndex := dict
		dict = make([]uint32, len(t.Numbers))
		for number, at := range t.Numbers {
			dict[number] = byIndex[at]
		}
	}
	return &classWriter{table: t, dict: dict, texts: newTextIndex()}
}

func (w *classWriter) reset() {
	for i := range w.cols {
		w.cols[i] = w.cols[i][:0]
	}
	w.bytes, w.classes = 0, 0
	w.texts.reset()
}

// open says which position the block speaks from.
func (w *classWriter) open(from uint64) { w.head = binary.AppendUvarint(w.head[:0], from) }

func (w *classWriter) full() bool { return w.bytes >= classBytes || w.classes >= fullClasses }

func (w *classWriter) put(col int, v uint64) {
	if v < 0x80 {
		w.cols[col] = append(w.cols[col], byte(v))
		return
	}
	w.cols[col] = binary.AppendUvarint(w.cols[col], v)
}

// add takes a class into the block.
func (w *classWriter) add(p *packedClass) error {
	fresh := w.texts.count()
	for i := parted; i < partedEnd; i++ {
		w.starts[i] = len(w.cols[i])
	}
	w.put(colClassLen, uint64(len(p.name)))
	w.cols[colClassName] = append(w.cols[colClassName], p.name...)
	for i, col := range p.cols {
		w.cols[packedFrom+i] = append(w.cols[packedFrom+i], col...)
	}
	for p.refs.at < len(p.refs.b) && !p.refs.bad {
		number, s, name := p.ref()
		col := colRefLo
		if name {
			col = colOrigNameLo
		}
		if number != 0 {
			if number >= uint32(len(w.dict)) {
				p.refs.bad = true
				break
			}
			if d := w.dict[number]; d != 0 {
				w.pair(col, d-1+refDict)
				continue
			}
			s = w.table.Strings[w.table.index(number)]
		}
		w.text(col, s)
	}
	if p.refs.bad {
		return fmt.Errorf("%w: the strings of a packed class", errColumn)
	}
	w.put(colFresh, uint64(w.texts.count()-fresh))
	for i := parted; i < partedEnd; i++ {
		w.put(colPart, uint64(len(w.cols[i])-w.starts[i]))
	}
	w.classes++
	w.bytes = 0
	for i := range w.cols {
		w.bytes += len(w.cols[i])
	}
	return nil
}

// text codes a string that the dictionary does not hold.
func (w *classWriter) text(col int, s string) {
	if s == "" {
		w.pair(col, refEmpty)
		return
	}
	if back, ok := w.texts.find(s, w.cols[colFreshText]); ok {
		w.pair(col, refBack)
		w.pair(col, back)
		return
	}
	w.pair(col, refFresh)
	w.put(colFreshLength, uint64(len(s)))
	w.cols[colFreshText] = append(w.cols[colFreshText], s...)
}

func (w *classWriter) pair(col int, v uint32) {
	w.cols[col] = append(w.cols[col], byte(v))
	w.put(col+1, uint64(v>>8))
}

// body gives the block; it is valid until the next.
func (w *classWriter) body(c *compressor) []byte {
	b := append(w.out[:0], w.head...)
	b = binary.AppendUvarint(b, uint64(w.classes))
	both := w.blocks%blocksPerTrial == 0
	w.blocks++
	for i := range w.cols {
		try := classCoders[i]
		if try == tryBoth && !both {
			try = w.coded[i]
		}
		at := len(b)
		if b = c.column(b, w.cols[i], try); try == tryBoth {
			w.coded[i] = tryEntropy
			if coderOf(b[at:]) == codeZstd {
				w.coded[i] = tryZstd
			}
		}
	}
	w.out = b
	return b
}
