package ranges

import (
	"math"

	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
)

// climb gives the ancestor of the last range's node, k steps up; -1: none.
func (r *reader) climb(k uint64) int32 {
	n := r.prev
	for ; k > 0 && n >= 0; k-- {
		n = r.parent(n)
	}
	return n
}

func (r *reader) parent(n int32) int32 {
	if p := r.nodes[n].parent; p != hole {
		return int32(p)
	}
	return -1
}

// back gives the node at a distance from the newest; -1: none.
func (r *reader) back(k uint64) int32 {
	if k >= uint64(len(r.nodes)) {
		return -1
	}
	return int32(uint64(len(r.nodes)) - 1 - k)
}

func (r *reader) node() (int32, error) {
	code := r.col[colNode].Next()
	var node int32
	switch {
	case code&1 == 1:
		node = r.climb(code >> 1)
	case code == 0:
		node = r.back(r.col[colBack].Next())
	default:
		return r.newNodes(code >> 1)
	}
	if node < 0 || r.col[colNode].Bad || r.col[colBack].Bad {
		return -1, r.fail("a node of the block")
	}
	return node, nil
}

// newNodes makes a chain of n nodes and gives the innermost.
func (r *reader) newNodes(n uint64) (int32, error) {
	if n > uint64(cap(r.nodes)-len(r.nodes)) {
		return -1, r.fail("as many nodes as announced")
	}
	parent := int32(-1)
	if code := r.col[colParent].Next(); code > 0 {
		if code&1 == 1 {
			parent = r.climb(code >> 1)
		} else {
			parent = r.back(code>>1 - 1)
		}
		if parent < 0 {
			return -1, r.fail("a parent of the block")
		}
	}
	if r.col[colParent].Bad {
		return -1, r.fail("a parent")
	}
	for range n {
		d := blockNode{parent: uint16(parent)} // -1 is hole
		call := int32(-1)
		if parent >= 0 {
			s, err := r.site(colCall, parent)
			if err != nil {
				return -1, err
			}
			d.file, d.line, d.column = uint16(s.file), s.line, s.column
			call = r.last[parent]
		}
		f, err := r.function(call)
		if err != nil {
			return -1, err
		}
		d.function = uint16(f)
		if call >= 0 {
			r.sites[call].callee = int32(f)
		}
		parent = int32(len(r.nodes))
		r.nodes = append(r.nodes, d)
		r.addNode()
	}
	return parent, nil
}

// function reads a function; call is the site it is called from, or -1.
func (r *reader) function(call int32) (uint32, error) {
	f := int32(-1)
	switch code := r.col[colFunction].Next(); {
	case code == 1:
		name, err := r.name(colFunctionLo)
		if err != nil {
			return 0, err
		}
		r.names = append(r.names, name)
		r.addFunction()
		return uint32(len(r.functions) - 1), nil
	case code > 1 && code-2 < uint64(len(r.functions)):
		f = int32(uint64(len(r.functions)) - 1 - (code - 2))
	case code == 0 && call >= 0:
		f = r.sites[call].callee
	}
	if f < 0 || r.col[colFunction].Bad {
		return 0, r.fail("a function of the block")
	}
	return uint32(f), nil
}

// name reads which string a new function or file is.
func (r *reader) name(lo int) (uint32, error) {
	n := uint64(r.col[lo].Byte())
	hi := r.col[lo+1].Next()
	if r.col[lo].Bad || r.col[lo+1].Bad || hi > row.MaxStrings>>8 {
		return 0, r.fail("a name")
	}
	n |= hi << 8
	if n == 0 {
		r.inline++
		return here | uint32(r.inline-1), nil
	}
	if r.dict == nil || n > uint64(r.dict.Len()) {
		return 0, r.fail("a name of the dictionary")
	}
	return uint32(n), nil
}

// site reads a place in the function of a node.
func (r *reader) site(col int, node int32) (site, error) {
	function := uint32(r.nodes[node].function)
	f := &r.functions[function]
	i := int32(-1)
	switch code := r.col[col].Next(); {
	case r.col[col].Bad:
	case code == 0:
		i = r.predicted(node, function)
	case code == 1:
		s, err := r.newSite(node, f)
		if err != nil {
			return site{}, err
		}
		i = r.addSite(function, s)
	case code-2 < uint64(f.sites):
		i = f.newest
		for range code - 2 {
			i = r.sites[i].older
		}
	}
	if i < 0 {
		return site{}, r.fail("a site of the function")
	}
	r.went(node, function, i)
	return r.sites[i].site, nil
}

func (r *reader) newSite(node int32, f *functionState) (site, error) {
	fileCol, lineCol, known := colFirstFile, colFirstLine, uint64(0)
	if f.sites > 0 {
		fileCol, lineCol, known = colNextFile, colNextLine, 1
	}
	var s site
	switch code := r.col[fileCol].Next(); {
	case known == 1 && code == 0:
		s.file = f.file
	case code == known:
		name, err := r.name(colFileLo)
		if err != nil {
			return s, err
		}
		s.file = uint32(len(r.files))
		r.files = append(r.files, name)
		r.addFile()
	case code-known-1 < uint64(len(r.recent)):
		s.file = r.touch(int(code - known - 1))
	default:
		return s, r.fail("a file of the block")
	}
	line := int64(r.baseLine(node, f, s.file)) + column.Unzigzag(r.col[lineCol].Next())
	column := r.col[colColumn].Next()
	if line < 0 || line > math.MaxUint32 || column > math.MaxUint32 ||
		r.col[fileCol].Bad || r.col[lineCol].Bad || r.col[colColumn].Bad {
		return s, r.fail("a line and a column")
	}
	s.line, s.column = uint32(line), uint32(column)
	return s, nil
}
