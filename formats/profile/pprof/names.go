package pprof

import (
	"encoding/binary"
	"hash/maphash"

	"github.com/symlake/symlake/formats/demangle"
	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/symbol"
)

// key stands for a string or a function: two hashes under seeds of this process.
type key [2]uint64

// keyBytes is about what a key takes in a map, with its number.
const keyBytes = 64

// names are the functions and strings that answers add to a profile, as they will stand behind its own.
type names struct {
	seeds        [2]maphash.Seed
	strings      map[key]uint64 // to their numbers in the table
	functions    map[key]uint64 // to their ids
	nextString   uint64
	nextID       uint64
	newStrings   []byte // fields of the profile
	newFunctions []byte
	scratch      []byte
	message      []byte
}

// newNames returns names behind the tables of a profile. ok is false if no ids are left for functions.
func newNames(t *tables) (n *names, ok bool) {
	n = &names{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, strings: map[key]uint64{}, functions: map[key]uint64{}, nextString: t.strings}
	if n.nextID = t.lastID + 1; t.lastID < 1<<62 {
		return n, true
	}
	for high := range uint64(1 << 16) {
		if high > 0 && t.ids[high>>3]>>(high&7)&1 == 0 {
			n.nextID = high << 48
			return n, true
		}
	}
	return n, false
}

// bytes is about what the names take.
func (n *names) bytes() int64 {
	return int64(len(n.newStrings)+len(n.newFunctions)) + keyBytes*int64(len(n.strings)+len(n.functions))
}

func (n *names) keyOf(b []byte) key {
	return key{maphash.Bytes(n.seeds[0], b), maphash.Bytes(n.seeds[1], b)}
}

// string returns the number of a string, which is added at its first use.
func (n *names) string(s string) uint64 {
	if n.nextString == 0 { // a table begins with the empty string
		n.newStrings, n.nextString = appendMessage(n.newStrings, profileString, ""), 1
	}
	if s == "" {
		return 0
	}
	n.scratch = append(n.scratch[:0], s...)
	k := n.keyOf(n.scratch)
	at, known := n.strings[k]
	if !known {
		at = n.nextString
		n.nextString++
		n.strings[k] = at
		n.newStrings = appendMessage(n.newStrings, profileString, s)
	}
	return at
}

// function returns the id of a function by the frame of an answer. name is its name where the frame has none for it.
func (n *names) function(f *symbol.Frame, name string) uint64 {
	b := append(n.scratch[:0], f.Linkage...)
	b = append(append(append(b, 0), f.Function...), 0)
	b = append(append(append(b, f.File...), 0), name...)
	n.scratch = b
	k := n.keyOf(b)
	id, known := n.functions[k]
	if known {
		return id
	}
	system := f.Linkage
	if name == "" {
		if name = demangle.Short(f.Linkage); name == "" {
			name = demangle.Short(f.Function)
		}
	}
	if system == "" {
		system = name
	}
	id = n.nextID
	n.nextID++
	n.functions[k] = id
	m := appendNumber(n.message[:0], functionID, id)
	m = appendNumber(m, functionName, n.string(name))
	m = appendNumber(m, functionSystem, n.string(system))
	m = appendNumber(m, functionFile, n.string(f.File))
	n.message = m
	n.newFunctions = appendMessage(n.newFunctions, profileFunction, m)
	return id
}

// A record is what became of a place: the number of its lines, and for each the function's id, line and column. No lines:
// the place stays.

// appendRecord appends the record of an answer's frames, with columns that count from first.
func (n *names) appendRecord(to []byte, frames []symbol.Frame, first uint64, named func(f *symbol.Frame) string) []byte {
	to = binary.AppendUvarint(to, uint64(len(frames)))
	for i := range frames {
		f := &frames[i]
		to = binary.AppendUvarint(to, n.function(f, named(f)))
		to = binary.AppendUvarint(to, uint64(f.Line))
		column := uint64(f.Column)
		if f.Line > 0 {
			column += 1 - first
		}
		to = binary.AppendUvarint(to, column)
	}
	return to
}

// recordLines appends the lines of a record to a Location, the first with unknown fields.
func recordLines(to, record, unknown []byte) []byte {
	count, record := next(record)
	for range count {
		var l line
		var row, column uint64
		l.function, record = next(record)
		row, record = next(record)
		column, record = next(record)
		l.line, l.column = int64(row), int64(column)
		to = appendLine(to, l, unknown)
		unknown = nil
	}
	return to
}

// next reads a number of a record.
func next(b []byte) (v uint64, rest []byte) {
	v, n := protobuf.Uvarint(b)
	return v, b[max(n, 0):]
}
