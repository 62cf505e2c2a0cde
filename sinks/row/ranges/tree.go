package ranges

import (
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/column"
)

// node returns the node of a scope. It makes the node and the parents that the block lacks, always a
// chain.
func (w *Writer) node(scope int32) int32 {
	if at := w.scopes[scope]; at.stamp == w.runAt {
		w.existing(int32(at.at))
		return int32(at.at)
	}
	w.chain = w.chain[:0]
	parent := int32(-1)
	for s := scope; s >= 0; s = w.run.Scopes[s].Parent {
		if at := w.scopes[s]; at.stamp == w.runAt {
			parent = int32(at.at)
			break
		}
		w.chain = append(w.chain, s)
	}
	w.put(colNode, uint64(len(w.chain))*2)
	w.hang(parent)
	for i := len(w.chain) - 1; i >= 0; i-- {
		parent = w.newNode(w.chain[i], parent)
	}
	return parent
}

// up counts the steps from the last range's node to one of its ancestors; -1
// if it is none.
func (w *Writer) up(to int32) int {
	k := 0
	for n := w.prev; n >= 0; n = w.nodes[n].parent {
		if n == to {
			return k
		}
		k++
	}
	return -1
}

func (w *Writer) existing(node int32) {
	if k := w.up(node); k >= 0 {
		w.put(colNode, uint64(k)*2+1)
		return
	}
	w.put(colNode, 0)
	w.put(colBack, uint64(int32(len(w.nodes))-1-node))
}

// hang says what a chain of new nodes hangs from.
func (w *Writer) hang(parent int32) {
	if parent < 0 {
		w.put(colParent, 0)
	} else if k := w.up(parent); k >= 0 {
		w.put(colParent, uint64(k)*2+1)
	} else {
		w.put(colParent, uint64(int32(len(w.nodes))-1-parent)*2+2)
	}
}

func (w *Writer) newNode(scope, parent int32) int32 {
	s := &w.run.Scopes[scope]
	callee := int32(-1)
	call := int32(-1)
	if parent >= 0 {
		call = w.site(colCall, parent, w.nodes[parent].function, s.Call)
		callee = w.sites[call].callee
	}
	at := int32(len(w.nodes))
	f := w.function(s.Function, callee)
	if call >= 0 {
		w.sites[call].callee = int32(f)
	}
	w.nodes = append(w.nodes, nodeRef{parent, f})
	w.addNode()
	w.scopes[scope] = stamped{w.runAt, uint32(at)}
	return at
}

// function codes a function, callee being the expected one.
func (w *Writer) function(s uint32, callee int32) uint32 {
	at := &w.functions[s]
	if at.stamp != w.stamp {
		*at = stamped{w.stamp, uint32(len(w.model.functions))}
		w.addFunction()
		w.put(colFunction, 1)
		w.name(colFunctionLo, s)
		return at.at
	}
	if int32(at.at) == callee {
		w.put(colFunction, 0)
	} else {
		w.put(colFunction, uint64(len(w.model.functions)-1)-uint64(at.at)+2)
	}
	return at.at
}

// name codes which string a new function or file is.
func (w *Writer) name(lo int, s uint32) {
	n := w.shared[s]
	w.cols[lo] = append(w.cols[lo], byte(n))
	w.bytes++
	w.put(lo+1, uint64(n>>8))
	if n == 0 {
		w.put(colTextLength, uint64(len(w.strings[s])))
		w.cols[colText] = append(w.cols[colText], w.strings[s]...)
		w.bytes += len(w.strings[s])
	}
}

// site codes a place in a function and gives its number.
func (w *Writer) site(col int, node int32, function uint32, at symbol.Site) int32 {
	file, isNew := w.file(at.File)
	i := w.predicted(node, function)
	if i >= 0 && w.sites[i].is(file, at.Line, at.Column) {
		w.put(col, 0)
		w.last[node] = i // what comes next is what it was
		return i
	}
	i, slot := w.index.find(w.sites, function, file, at.Line, at.Column)
	if i >= 0 {
		w.put(col, uint64(w.model.functions[function].sites-1-w.sites[i].ordinal)+2)
	} else {
		w.put(col, 1)
		f := &w.model.functions[function]
		w.newFile(f, file, isNew, at.File)
		base := w.baseLine(node, f, file)
		line := colNextLine
		if f.sites == 0 {
			line = colFirstLine
		}
		w.put(line, column.Zigzag(int64(at.Line)-int64(base)))
		w.put(colColumn, uint64(at.Column))
		i = w.addSite(function, site{file, at.Line, at.Column})
		w.index.add(w.sites, slot)
	}
	w.went(node, function, i)
	return i
}

// file gives a file's number in the block, and whether it was just made.
func (w *Writer) file(s uint32) (file uint32, isNew bool) {
	at := &w.files[s]
	if at.stamp == w.stamp {
		return at.at, false
	}
	*at = stamped{w.stamp, w.nFiles}
	w.nFiles++
	return at.at, true
}

// newFile codes the file of a new site.
func (w *Writer) newFile(f *functionState, file uint32, isNew bool, s uint32) {
	col, code := colFirstFile, uint64(0)
	if f.sites > 0 {
		col, code = colNextFile, 1
	}
	switch {
	case isNew:
		w.put(col, code)
		w.name(colFileLo, s)
		w.addFile()
	case f.sites > 0 && f.file == file:
		w.put(col, 0)
	default:
		rank := 0
		for i := len(w.recent) - 1; w.recent[i] != file; i-- {
			rank++
		}
		w.put(col, code+1+uint64(rank))
		w.touch(rank)
	}
}
