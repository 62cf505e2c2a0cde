// Package collapsed answers and writes collapsed stacks: a line for each stack, its functions outermost first and parted by
// semicolons, and behind a space how often it was found.
//
//	main;game::Cart::total(int);libcart.so+0x1f3a 12
//
// Brendan Gregg's scripts, async-profiler, py-spy, rbspy, inferno and eBPF tools write it. Names that say a place are asked for:
// package named knows them. A function that was inlined becomes an entry of its own with the mark _[i], as async-profiler and
// stackcollapse-perf write it. Lines keep their order, also if two become one stack: a conversion adds them up.
//
// An address of the innermost entry is exact, those before it are where calls return to.
package collapsed

import (
	"bytes"

	"github.com/symlake/symlake/formats/profile"
)

// Format is collapsed stacks.
var Format = &profile.Format{
	Name:    "collapsed",
	Title:   "collapsed stacks",
	Endings: []string{".collapsed", ".folded", ".collapsed.txt", ".folded.txt"},
	Media:   []string{"text/vnd.collapsed-stacks"},
	Begins:  begins,
	Answer:  answer,
	Samples: samplesOf,
	Write:   write,
}

// mostLines tell the form: all must end in a count, and half have several functions.
const mostLines = 400

// begins reports whether all lines are stacks with a count.
func begins(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	whole := len(head) < profile.HeadBytes
	lines, deep := 0, 0
	for len(head) > 0 && lines < mostLines {
		line, rest, ended := bytes.Cut(head, []byte{'\n'})
		if !ended && !whole && lines > 0 {
			break // it goes on behind the head
		}
		head = rest
		line = bytes.TrimSuffix(line, []byte{'\r'})
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
			continue
		}
		stack, _ := split(line)
		if stack == nil || line[0] == ' ' || line[0] == '\t' || line[0] == '{' || line[0] == '<' || bytes.HasSuffix(stack, []byte{';'}) || bytes.HasPrefix(stack, []byte{';'}) ||
			bytes.ContainsAny(stack, "\x00\t") || bytes.Contains(stack, []byte("; ")) {
			return false
		}
		lines++
		if bytes.IndexByte(stack, ';') >= 0 {
			deep++
		}
	}
	return deep > 0 && 2*deep >= lines
}

// split parts a line into its stack and its counts: one, or two of a difference. The stack is nil if the line has no count.
func split(line []byte) (stack, counts []byte) {
	line = bytes.TrimRight(line, " ")
	at := len(line)
	for range 2 {
		space := bytes.LastIndexByte(line[:at], ' ')
		if space <= 0 || !isCount(line[space+1:at]) {
			break
		}
		at = space
	}
	if at == len(line) {
		return nil, nil
	}
	return line[:at], line[at:]
}

func isCount(b []byte) bool {
	digits, points := 0, 0
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case c == '.':
			points++
		default:
			return false
		}
	}
	return digits > 0 && points <= 1
}
