package ranges

import (
	"math"
	"slices"
	"sort"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
)

// scriptParts is what the parts of a script's block have besides.
type scriptParts struct {
	starts []uint64 // nil: they begin within 4 GiB, as the parts of any block
	says   []uint32 // the number of the part's name plus 1, or 0, above its symbol.Flags
	names  names
	// compiled are the functions of the script, by part, plus 1; 0: none. nil: no part has one.
	compiled []uint16
}

// tokenShift is where in scriptParts.says the number of a name begins.
const tokenShift = 8

func (s *scriptParts) bytes() int64 {
	if s == nil {
		return 0
	}
	return int64(unsafe.Sizeof(*s)) + int64(cap(s.starts))*8 + int64(cap(s.says))*4 + int64(cap(s.compiled))*2 + int64(len(s.names.strings))*int64(stringBytes+4)
}

// at gives the index of the part that holds pos, which lies in the block.
func (s *scriptParts) at(pos uint64) int {
	return sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > pos }) - 1
}

// tell adds to the innermost frame what part i, which begins at start, says of it at pos.
func (s *scriptParts) tell(i int, start, pos uint64, f *symbol.Frame, functions *names) {
	if i < len(s.compiled) && s.compiled[i] > 0 {
		f.Compiled = functions.get(s.compiled[i] - 1)
	}
	says := s.says[i]
	if n := says >> tokenShift; n > 0 {
		f.Name = s.names.get(uint16(n - 1))
	}
	flags := symbol.Flags(says)
	f.Ignored = flags&symbol.Ignored != 0
	if flags&symbol.Linear != 0 {
		at := flags.At(symbol.Site{Line: f.Line, Column: f.Column}, start, pos)
		f.Line, f.Column = at.Line, at.Column
	}
}

// goesOn reports whether the part added last goes over line ends, so that only the next part ends it.
func (s *scriptParts) goesOn() bool {
	return len(s.says) > 0 && symbol.Flags(s.says[len(s.says)-1])&symbol.OverLines != 0
}

// parts reads n parts of a script.
func (r *reader) parts(b *Block, n int) error {
	most := n + len(r.col[colLineStep].B)
	if most > maxParts {
		return r.fail("fewer parts")
	}
	s := &scriptParts{says: make([]uint32, 0, most)}
	b.script = s
	b.base, b.end = b.from, b.from
	starts := r.starts[:0]
	add := func(at uint64, p part, says uint32) {
		starts, s.says, b.parts = append(starts, at), append(s.says, says), append(b.parts, p)
	}
	line, col := b.from>>32, uint64(0)
	file, none := uint32(0), true
	compiled := uint16(0)
	for i := range n {
		if step := r.col[colStep].Next(); step > 0 && i > 0 {
			col += step
		} else {
			line += r.col[colLineStep].Next()
			col = r.col[colStart].Next()
		}
		at := line<<32 | col
		if line > math.MaxUint32 || col > math.MaxUint32 || at < b.from || at > b.last || i > 0 && at <= starts[len(starts)-1] {
			return r.fail("ascending parts within the block")
		}
		if i == 0 {
			b.base = at
		} else if end := (starts[len(starts)-1]>>32 + 1) << 32; end < at && b.parts[len(b.parts)-1].node != hole && !s.goesOn() {
			add(end, part{node: hole}, 0)
		}
		what := r.col[colWhat].Next()
		if what == partHole {
			add(at, part{node: hole}, 0)
			continue
		}
		if what&partHole != 0 || what >= partCompiled<<1 {
			return r.fail("a known kind of part")
		}
		var err error
		if what&partFile != 0 {
			if file, err = r.scriptFile(); err != nil {
				return err
			}
			none = false
		}
		if what&partNode != 0 {
			if r.prev, err = r.node(); err != nil {
				return err
			}
		}
		if what&partCompiled != 0 {
			if compiled, err = r.compiled(); err != nil {
				return err
			}
			if s.compiled == nil {
				s.compiled = make([]uint16, 0, most)
			}
		}
		if none || r.prev < 0 {
			return r.fail("a file and a function")
		}
		to := &r.lastPlace[file]
		l, c := int64(to.line), int64(0)
		if what&partLine == 0 {
			l += column.Unzigzag(r.col[colScriptLine].Next())
		}
		if l == int64(to.line) {
			c = int64(to.column) + column.Unzigzag(r.col[colScriptColumn].Next())
		} else {
			c = int64(min(r.col[colScriptRestart].Next(), math.MaxInt64))
		}
		if l < 0 || l > math.MaxUint32 || c < 0 || c > math.MaxUint32 {
			return r.fail("a line and a column")
		}
		*to = place{uint32(l), uint32(c)}
		token := uint16(0)
		if what&partName != 0 {
			if token, err = r.scriptName(); err != nil {
				return err
			}
		}
		var flags symbol.Flags
		if what&partIgnored != 0 {
			flags |= symbol.Ignored
		}
		if what&partLinear != 0 {
			flags |= symbol.Linear
		}
		if what&partLines != 0 {
			flags |= symbol.OverLines
		}
		add(at, part{0, uint16(r.prev), uint16(file), to.line, to.column}, uint32(token)<<tokenShift|uint32(flags))
		if s.compiled != nil {
			for len(s.compiled) < len(b.parts)-1 {
				s.compiled = append(s.compiled, 0)
			}
			s.compiled = append(s.compiled, compiled)
		}
	}
	if n > 0 {
		last := len(b.parts) - 1
		if b.end = (starts[last]>>32 + 1) << 32; b.parts[last].node == hole || s.goesOn() || b.end > b.last || b.end == 0 {
			b.end = b.last + 1
		}
		if starts[last]-b.base > math.MaxUint32 {
			s.starts = slices.Clone(starts)
		} else { // as in any block
			for i, at := range starts {
				b.parts[i].start = uint32(at - b.base)
			}
			b.by.build(b.parts, starts[last]-b.base+1)
		}
	}
	r.starts = starts
	for i := range r.col {
		if r.col[i].Bad {
			return r.fail("all columns")
		}
	}
	return nil
}

// compiled reads a function of the script, plus 1; 0: none.
func (r *reader) compiled() (uint16, error) {
	if c := &r.col[colFunction]; c.At < len(c.B) && c.B[c.At] == 0 {
		c.At++
		return 0, nil
	}
	f, err := r.function(-1)
	return uint16(f + 1), err
}

func (r *reader) scriptFile() (uint32, error) {
	code := r.col[colScriptFile].Next()
	switch {
	case r.col[colScriptFile].Bad || code > uint64(len(r.recent)):
		return 0, r.fail("a file of the block")
	case code > 0:
		return r.touch(int(code - 1)), nil
	}
	name, err := r.name(colFileLo)
	if err != nil {
		return 0, err
	}
	r.files = append(r.files, name)
	r.addFile()
	return uint32(len(r.files) - 1), nil
}

func (r *reader) scriptName() (uint16, error) {
	code := r.col[colScriptName].Next()
	n := uint64(len(r.tokens))
	switch {
	case r.col[colScriptName].Bad || code > n || n >= hole:
		return 0, r.fail("a name of the block")
	case code > 0:
		return uint16(n - code + 1), nil
	}
	name, err := r.name(colNameLo)
	if err != nil {
		return 0, err
	}
	r.tokens = append(r.tokens, name)
	return uint16(n + 1), nil
}
