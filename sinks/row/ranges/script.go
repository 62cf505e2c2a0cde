package ranges

import (
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
)

// scriptState is what the writer knows of the open block of a script.
type scriptState struct {
	is    bool
	names []scriptName // by string
	count uint32       // of names in the block
	line  uint32       // of the part added last, in the script
	at    uint32       // its column there
	first bool         // no part was added
	file  uint32       // of the last part with an answer
	path  uint32       // that file as a string
	none  bool         // there was no such part
	over  bool         // the last part goes over line ends

	compiled uint32 // of the last part with an answer
}

// scriptName is a string as a name: in the block, and in the dictionary.
type scriptName struct {
	stamped        // its number among the block's names
	shared  uint32 // as in Writer.shared
}

func newScriptState(shared []uint32) scriptState {
	s := scriptState{is: true, names: make([]scriptName, len(shared))}
	for i, n := range shared {
		s.names[i].shared = n
	}
	return s
}

func (s *scriptState) reset() {
	s.count, s.first, s.none, s.over, s.compiled = 0, true, true, false, 0
}

// addPart encodes a range of a script.
func (w *Writer) addPart(g *symbol.Range, mark *symbol.Mark) {
	if w.ranges == 0 {
		w.base = g.Start
	}
	if g.Start > w.end && w.ranges > 0 && w.script.needsHole(w.end) {
		w.holePart(w.end)
	}
	n := w.start(g.Start)
	n += w.answer(g, mark)
	w.script.over = mark.Flags&symbol.OverLines != 0
	w.bytes += n
	w.end = g.End
}

// endParts says where the answers end, if that is neither the end of a line
// nor the end of the block.
func (w *Writer) endParts(last uint64) {
	if w.ranges > 0 && w.end != 0 && w.end <= last && w.script.needsHole(w.end) {
		w.holePart(w.end)
	}
}

// needsHole reports whether a part must say that the part before it ends at end. The end of a line says so by itself.
func (s *scriptState) needsHole(end uint64) bool { return uint32(end) != 0 || s.over }

func (w *Writer) holePart(at uint64) {
	w.bytes += w.start(at)
	w.put(colWhat, partHole)
}

// start codes where the next part begins, and gives the bytes that this took.
func (w *Writer) start(at uint64) int {
	w.ranges++
	s := &w.script
	line, column := uint32(at>>32), uint32(at)
	step := uint64(column - s.at)
	s.at = column
	if line == s.line && !s.first {
		return w.code(colStep, step)
	}
	if s.first {
		s.first, s.line = false, uint32(w.from>>32)
	}
	n := w.code(colStep, 0) + w.code(colLineStep, uint64(line-s.line)) + w.code(colStart, uint64(column))
	s.line = line
	return n
}

// answer codes what a part says, and gives the bytes that its numbers took.
func (w *Writer) answer(g *symbol.Range, mark *symbol.Mark) int {
	s := &w.script
	what := uint64(0)
	if g.At.File != s.path || s.none {
		if file, isNew := w.file(g.At.File); file != s.file || s.none {
			what |= partFile
			w.scriptFile(file, isNew, g.At.File)
			s.file, s.path, s.none = file, g.At.File, false
		}
	}
	if at := w.scopes[g.Scope]; at.stamp != w.runAt || int32(at.at) != w.prev {
		what |= partNode
		w.prev = w.node(g.Scope)
	}
	named := 0
	if mark.Name != 0 {
		named = partName
	}
	what |= uint64(named)
	if mark.Flags&symbol.Ignored != 0 {
		what |= partIgnored
	}
	if mark.Flags&symbol.Linear != 0 {
		what |= partLinear
	}
	if mark.Flags&symbol.OverLines != 0 {
		what |= partLines
	}
	n := 0
	if mark.Compiled != s.compiled {
		what |= partCompiled
		s.compiled = mark.Compiled
		w.compiled(mark.Compiled)
	}
	last := &w.lastPlace[s.file]
	if g.At.Line == last.line {
		what |= partLine
		n = w.code(colScriptColumn, column.Zigzag(int64(g.At.Column)-int64(last.column)))
	} else {
		n = w.code(colScriptLine, column.Zigzag(int64(g.At.Line)-int64(last.line))) + w.code(colScriptRestart, uint64(g.At.Column))
	}
	last.line, last.column = g.At.Line, g.At.Column
	return n + w.code(colWhat, what) + w.scriptName(mark.Name, named/partName)
}

// compiled codes a function of the script, among the functions of the block: 0 for none.
func (w *Writer) compiled(s uint32) {
	if s == 0 {
		w.put(colFunction, 0)
		return
	}
	w.function(s, -1)
}

// scriptFile codes another file: 0 a new one, else how many files ago it was used.
func (w *Writer) scriptFile(file uint32, isNew bool, s uint32) {
	if isNew {
		w.put(colScriptFile, 0)
		w.name(colFileLo, s)
		w.addFile()
		return
	}
	rank := 0
	for i := len(w.recent) - 1; w.recent[i] != file; i-- {
		rank++
	}
	w.put(colScriptFile, uint64(rank)+1)
	w.touch(rank)
}

// scriptName codes the name of a part, which has one or none: 0 a new one, else the newest's number minus its own, plus
// 1. It gives the bytes that this took. Whether a part has a name, and whether that is new or of long ago, is chance: no
// branch depends on it, but how much of the output stays.
func (w *Writer) scriptName(name uint32, named int) int {
	s := &w.script
	at := &s.names[name]
	back, isNew := s.count-at.at, 0
	if at.stamp != w.stamp {
		back, isNew = 0, named
	}
	at.at = s.count - back
	if isNew != 0 {
		at.stamp = w.stamp
	}
	s.count += uint32(isNew)
	if isNew != 0 && at.shared == 0 || at.shared>>8 >= twoBytes {
		n := w.code(colScriptName, uint64(back))
		if isNew != 0 {
			w.name(colNameLo, name)
		}
		return n
	}
	w.cols[colNameLo] = append(w.cols[colNameLo], byte(at.shared))[:len(w.cols[colNameLo])+isNew]
	return w.codeSome(colScriptName, back, named) + w.codeSome(colNameHi, at.shared>>8, isNew) + isNew
}

// twoBytes is what no number of two bytes reaches.
const twoBytes = 1 << 14

// codeSome codes v, which is below twoBytes, some times: once, or not at all.
func (w *Writer) codeSome(col int, v uint32, some int) int {
	more := (v + (twoBytes - 0x80)) / twoBytes // 1: it takes a second byte
	b := append(w.cols[col], byte(v)|byte(more<<7), byte(v>>7))
	n := some * int(1+more)
	w.cols[col] = b[:len(b)-2+n]
	return n
}
