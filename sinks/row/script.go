package row

import (
	"github.com/symlake/symlake/formats/symbol"
)

// scriptState is what the writer knows of the open block of a script.
type scriptState struct {
	is    bool
	names []stamped // by string
	count uint32    // of names in the block
	line  uint32    // of the part added last, in the script
	at    uint32    // its column there
	first bool      // no part was added
	file  uint32    // of the last part with an answer
	none  bool      // there was no such part
}

func (s *scriptState) reset() { s.count, s.first, s.none = 0, true, true }

// addPart encodes a range of a script, which lies in one line.
func (w *blockWriter) addPart(g *symbol.Range) {
	if w.ranges == 0 {
		w.base = g.Start
	}
	if g.Start > w.end && w.ranges > 0 && uint32(w.end) != 0 {
		w.holePart(w.end)
	}
	n := w.start(g.Start)
	n += w.answer(g)
	w.bytes += n
	w.end = g.End
}

// endParts says where the answers end, if that is neither the end of a line
// nor that of the block.
func (w *blockWriter) endParts(last uint64) {
	if w.ranges > 0 && w.end != 0 && w.end <= last && uint32(w.end) != 0 {
		w.holePart(w.end)
	}
}

func (w *blockWriter) holePart(at uint64) {
	w.bytes += w.start(at)
	w.put(colWhat, partHole)
}

// start codes where the next part begins, and gives the bytes that this took.
func (w *blockWriter) start(at uint64) int {
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
func (w *blockWriter) answer(g *symbol.Range) int {
	s := &w.script
	what := uint64(0)
	file, isNew := w.file(g.At.File)
	if file != s.file || s.none {
		what |= partFile
	}
	at := w.scopes[g.Scope]
	if at.stamp != w.runAt || int32(at.at) != w.prev {
		what |= partNode
	}
	if g.Name != 0 {
		what |= partName
	}
	if g.Flags&symbol.Ignored != 0 {
		what |= partIgnored
	}
	if g.Flags&symbol.Linear != 0 {
		what |= partLinear
	}
	var last place
	if !isNew {
		last = w.lastPlace[file]
	}
	if g.At.Line == last.line {
		what |= partLine
	}
	n := w.code(colWhat, what)
	if what&partFile != 0 {
		w.scriptFile(file, isNew, g.At.File)
		s.file, s.none = file, false
	}
	if what&partNode != 0 {
		w.prev = w.node(g.Scope)
	}
	if what&partLine != 0 {
		n += w.code(colScriptColumn, zigzag(int64(g.At.Column)-int64(last.column)))
	} else {
		n += w.code(colScriptLine, zigzag(int64(g.At.Line)-int64(last.line)))
		n += w.code(colScriptRestart, uint64(g.At.Column))
	}
	w.lastPlace[file] = place{g.At.Line, g.At.Column}
	if g.Name != 0 {
		n += w.scriptName(g.Name)
	}
	return n
}

// scriptFile codes another file: 0 a new one, else how many files ago it was used.
func (w *blockWriter) scriptFile(file uint32, isNew bool, s uint32) {
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

// scriptName codes a name: 0 a new one, else the newest's number minus its own, plus 1. It gives the bytes that this took.
func (w *blockWriter) scriptName(name uint32) int {
	at := &w.script.names[name]
	if at.stamp == w.stamp {
		return w.code(colScriptName, uint64(w.script.count-at.at))
	}
	*at = stamped{w.stamp, w.script.count}
	w.script.count++
	w.name(colNameLo, name)
	return w.code(colScriptName, 0)
}
