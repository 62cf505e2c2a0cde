package cpuprofile

import "strings"

// style is how a place is said.
type style uint8

const (
	begin    style = iota // the line and column from 0 where a function begins
	called                // the line and column from 0 in a function, in a node
	traced                // the same, in stackFrames
	bytecode              // the column is a byte of Hermes's bytecode, of a file without a name
)

// place is a distinct place.
type place struct {
	function, url int32 // of table.texts
	line, column  int32 // from 0
	style         style
}

// result is what a place became.
type result struct {
	function, file int32 // of table.texts
	line, column   int32 // from 1, and from 0
	is             int32 // the number of the function at its line: places that became one function share it
	found          bool
}

// table is distinct places and the strings in them.
type table struct {
	room    int64 // for places and their strings, then for answers
	nodes   int64 // room for trees
	full    bool  // there was no room for another place
	known   map[string]int32
	texts   []string
	numbers map[place]int32
	places  []place
	results []result        // by place, after asking
	scripts map[int32]int32 // the number of an url's script: it may change its query
	ticks   map[lineOf]int32
	becomes map[result]int32
}

// lineOf is a line of the script, from 1, in which hits of a place fell.
type lineOf struct{ place, line int32 }

// About what an entry takes, with its part of a map.
const (
	placeBytes = 160
	textBytes  = 64
	tickBytes  = 32
	nodeBytes  = 48
)

func newTable(room int64) *table {
	return &table{room: room * 3 / 8, nodes: room / 2, known: map[string]int32{"": 0}, texts: []string{""}, numbers: map[place]int32{}, scripts: map[int32]int32{}, ticks: map[lineOf]int32{}, becomes: map[result]int32{}}
}

// take counts memory; false: there is none left.
func (t *table) take(n int) bool {
	if t.room < int64(n) {
		t.full = true
		return false
	}
	t.room -= int64(n)
	return true
}

// takeNode counts memory of trees; false: there is none left.
func (t *table) takeNode(n int) bool {
	if t.nodes < int64(n) {
		return false
	}
	t.nodes -= int64(n)
	return true
}

// intern returns the number of a string; -1: there is no room for it.
func (t *table) intern(s string) int32 {
	if n, ok := t.known[s]; ok {
		return n
	}
	if !t.take(textBytes + len(s)) {
		return -1
	}
	s = strings.Clone(s)
	n := int32(len(t.texts))
	t.texts = append(t.texts, s)
	t.known[s] = n
	return n
}

// placeOf is a frame's place, without its strings.
func placeOf(f *frame) place {
	p := place{line: small(f.line), column: small(f.column)}
	if f.one {
		p.line, p.column = p.line-1, p.column-1
	}
	if isHermes(f) {
		p.style, p.line, p.column = called, small(f.line)-1, small(f.column)-1
	}
	return p
}

// add returns the number of a place; -1: there is no room for it.
func (t *table) add(p place, function, url string) int32 {
	if n := t.find(p, function, url); n >= 0 {
		return n
	}
	p.function, p.url = t.intern(function), t.intern(url)
	if p.function < 0 || p.url < 0 || !t.take(placeBytes) {
		return -1
	}
	n := int32(len(t.places))
	t.numbers[p] = n
	t.places = append(t.places, p)
	return n
}

// find returns the number of a place that was added; -1: it was not.
func (t *table) find(p place, function, url string) int32 {
	var known bool
	if p.function, known = t.known[function]; !known {
		return -1
	}
	if p.url, known = t.known[url]; !known {
		return -1
	}
	if n, known := t.numbers[p]; known {
		return n
	}
	return -1
}

// tick notes that hits of a place fell in a line.
func (t *table) tick(place int32, line int64) {
	at := lineOf{place, small(line)}
	if _, known := t.ticks[at]; place >= 0 && !known && t.take(tickBytes) {
		t.ticks[at] = 0
	}
}

// small is a number as a line or a column; -1: it is none.
func small(v int64) int32 {
	if v < 0 || v > 1<<31-2 {
		return -1
	}
	return int32(v)
}

// isHermes: the name of a function has its place behind it, which counts from 1: Hermes's serializer writes it so.
func isHermes(f *frame) bool {
	return f.url != "" && strings.HasSuffix(f.function, ")") && strings.HasSuffix(f.function, placeIn(f.url, f.line, f.column))
}

// placeIn is a place as Hermes writes it behind a name.
func placeIn(url string, line, column int64) string {
	return "(" + url + ":" + string(spelled(line)) + ":" + string(spelled(column)) + ")"
}
