package cpuprofile

import (
	"bytes"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/profile/internal/rewrite"
)

// span is the bytes [from, to) of a value; zero: there is none.
type span struct{ from, to int }

// frame is the place in a node's text.
type frame struct {
	function, url string
	line, column  int64
	one           bool // line and column count from 1
	at            [4]span
}

// Members of a frame, in the order of frame.at.
const (
	atFunction = iota
	atURL
	atLine
	atColumn
)

// node is a node's text, and what it says.
type node struct {
	frame
	whole           span
	id, parent      int64
	hasID, hasUp    bool
	hits, size      int64
	atHits, atSize  span
	atUp            span
	children, ticks span
}

// walk visits the members of the object at hand with the place of each value.
func walk(j *json.Walker, visit func(key string, value *span)) {
	j.Object(func(key string) {
		j.Peek()
		value := span{from: j.Pos}
		visit(key, &value)
		if j.Pos == value.from {
			j.Skip()
		}
	})
}

// read reads the node at hand. below reads each child that is an object, or leaves it to be passed over; nil: all are.
func (n *node) read(j *json.Walker, below func()) bool {
	if j.Peek() != '{' {
		return false
	}
	*n = node{whole: span{from: j.Pos}}
	called := false
	walk(j, func(key string, value *span) {
		switch key {
		case "id":
			n.id, n.hasID = int64(j.Number()), true
		case "parent":
			n.parent, n.hasUp = int64(j.Number()), true
			n.atUp = span{value.from, j.Pos}
		case "hitCount":
			n.hits = int64(j.Number())
			n.atHits = span{value.from, j.Pos}
		case "selfSize":
			n.size = int64(j.Number())
			n.atSize = span{value.from, j.Pos}
		case "children":
			if below == nil || j.Peek() != '[' {
				j.Skip()
			} else {
				j.Array(func(int) {
					if j.Peek() == '{' {
						below()
					}
				})
			}
			n.children = span{value.from, j.Pos}
		case "positionTicks":
			j.Skip()
			n.ticks = span{value.from, j.Pos}
		case "callFrame":
			called = true
			n.frame = frame{}
			walk(j, func(key string, value *span) { n.frame.member(j, key, value) })
		default:
			if !called {
				n.frame.member(j, key, value)
			}
		}
	})
	n.whole.to = j.Pos
	n.one = !called
	return !j.Failed
}

// member reads a member of a frame.
func (f *frame) member(j *json.Walker, key string, value *span) {
	i := 0
	switch key {
	case "functionName":
		i, f.function = atFunction, j.Text()
	case "url":
		i, f.url = atURL, j.Text()
	case "lineNumber":
		i, f.line = atLine, int64(j.Number())
	case "columnNumber":
		i, f.column = atColumn, int64(j.Number())
	default:
		return
	}
	f.at[i] = span{value.from, j.Pos}
}

// tick is hits of a line.
type tick struct{ line, ticks int64 }

// ticksOf reads the ticks of a node.
func ticksOf(text []byte, at span) (all []tick) {
	if at.to == 0 {
		return nil
	}
	j := &json.Walker{Bytes: text[:at.to], Pos: at.from}
	j.Array(func(int) {
		var t tick
		j.Object(func(key string) {
			switch key {
			case "line":
				t.line = int64(j.Number())
			case "ticks":
				t.ticks = int64(j.Number())
			}
		})
		all = append(all, t)
	})
	return all
}

// numbersOf calls each for the numbers of a list; other elements are passed over.
func numbersOf(text []byte, at span, each func(v int64)) {
	if at.to == 0 {
		return
	}
	j := &json.Walker{Bytes: text[:at.to], Pos: at.from}
	j.Array(func(int) {
		if c := j.Peek(); c != '{' && c != '[' {
			each(int64(j.Number()))
		}
	})
}

// quoted spells a string.
func quoted(text string) []byte { return []byte(`"` + json.Quote(text) + `"`) }

func spelled(v int64) []byte { return strconv.AppendInt(nil, v, 10) }

// edits are the edits of a node's text.
type edits struct {
	text []byte
	all  []rewrite.Edit
	more []byte // members that are added at the end
	end  int    // of the object: its bracket
}

// put puts a value in the place of a member, or adds the member.
func (e *edits) put(key string, at span, value []byte) {
	if at.to == 0 {
		e.more = append(append(append(append(e.more, `,"`...), key...), `":`...), value...)
		return
	}
	if !bytes.Equal(e.text[at.from:at.to], value) {
		e.all = append(e.all, rewrite.Edit{From: at.from, To: at.to, Text: value})
	}
}

// apply appends the text with its edits.
func (e *edits) apply(to []byte) []byte {
	if len(e.more) > 0 {
		e.all = append(e.all, rewrite.Edit{From: e.end, To: e.end, Text: e.more})
	}
	return rewrite.Apply(to, e.text, e.all)
}
