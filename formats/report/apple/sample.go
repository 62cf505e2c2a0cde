package apple

import (
	"bytes"
	"slices"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report/internal/crash"
)

// sampled are the call trees of a report: callers stand above what they call. Lines without a
// branch between them are a thread of the report, and the last of them is where it stood.
type sampled struct {
	heaviest bool   // all lines to the next that is none are one stack, in one column
	column   int    // of the last line's count; -1: nothing that is read next belongs to it
	id       uint64 // of the thread
}

var heaviestStack = []byte("Heaviest stack for the ")

// header reads the lines that stand above stacks and trees.
func (t *sampled) header(b []byte) {
	t.heaviest, t.column = bytes.HasPrefix(b, heaviestStack), -1
	if t.heaviest {
		t.id = 0
	}
	if rest, ok := bytes.CutPrefix(b, []byte("Thread 0x")); ok {
		t.id, _, _ = scan.Hex(rest, 0)
	} else if _, end, ok := scan.Digits(b, 0); ok {
		if rest, ok := bytes.CutPrefix(b[scan.SkipSpace(b, end):], []byte("Thread_")); ok {
			t.id, _, _ = scan.Number(rest, 0)
		}
	}
}

// add takes a frame to the threads of r.
func (t *sampled) add(r *crash.Loaded, f crash.LoadedFrame, column int) {
	if t.column < 0 || !t.heaviest && column <= t.column {
		r.Threads = append(r.Threads, crash.LoadedThread{ID: t.id})
	}
	t.column = column
	last := &r.Threads[len(r.Threads)-1]
	last.Frames = append(last.Frames, f)
	r.Form = appleSample
}

// innermostFirst turns threads that were read in the order of trees.
func innermostFirst(r *crash.Loaded) {
	if r.Form == appleSample {
		for i := range r.Threads {
			slices.Reverse(r.Threads[i].Frames)
		}
	}
}

// parseSampledFrame reads the lines of the trees that spindump, reports on resources and sample
// print; column is where the count of samples stands, which says how deep the frame is:
//
//	18  ??? (game + 16460) [0x104a3004c] 1-18
//	 *1  turn() + 12 (game.swift:3,1 in game + 16460) [0x104a3004c]
//	+ ! 18 turn()  (in game) + 12  [0x104a3004c]  game.swift:3
//	+ 18 ???  (in game)  load address 0x104a2c000 + 0x404c  [0x104a3004c]
//
// The function with its image makes room for answers; the address behind it stays.
func parseSampledFrame(b []byte) (f crash.LoadedFrame, column int, ok bool) {
	f = crash.LoadedFrame{Number: -1, Image: -1}
	column = len(b) - len(bytes.TrimLeft(b, " \t+!:|*"))
	_, end, ok := scan.Digits(b, column)
	if !ok || end == len(b) || !scan.IsSpace(b[end]) {
		return f, 0, false
	}
	start := scan.SkipSpace(b, end)
	open := bytes.LastIndex(b, []byte("[0x"))
	if open < start {
		return f, 0, false
	}
	f.Addr, end, ok = scan.Hex(b, open+3)
	if !ok || end == len(b) || b[end] != ']' && b[end] != ',' { // of several places in a function, the first
		return f, 0, false
	}
	text := bytes.TrimRight(b[start:open], " \t")
	if len(text) == 0 {
		return f, 0, false
	}
	f.Span = [2]int{start, len(bytes.TrimRight(b, " \t"))}
	f.Tail = f.Span[1] - start - len(text)
	if in := bytes.LastIndex(text, []byte("  (in ")); in > 0 {
		inImage(&f, text[in+len("  (in "):])
	} else {
		inBrackets(&f, text)
	}
	return f, column, true
}

// inImage reads "game) + 12" and "game)  load address 0x104a2c000 + 0x404c".
func inImage(f *crash.LoadedFrame, b []byte) {
	end := bytes.LastIndexByte(b, ')')
	if end <= 0 {
		return
	}
	f.Name = b[:end]
	if base, ok := bytes.CutPrefix(bytes.TrimLeft(b[end+1:], " "), []byte("load address ")); ok {
		if load, offset, _ := crash.ParseOffset(base); load != nil {
			f.Load, _, _ = scan.Hex(load, 2)
			f.Based, f.Offset = true, offset
		}
	}
}

// inBrackets reads what stands in the last brackets: "game + 16460", "game.swift:3 in game + 16460".
func inBrackets(f *crash.LoadedFrame, b []byte) {
	if b[len(b)-1] != ')' {
		return
	}
	open, depth := len(b)-1, 0
	for ; open >= 0; open-- {
		if b[open] == ')' {
			depth++
		} else if b[open] == '(' {
			if depth--; depth == 0 {
				break
			}
		}
	}
	if open < 0 {
		return
	}
	inside := b[open+1 : len(b)-1]
	if _, offset, name := crash.ParseOffset(inside); name != nil && offset <= f.Addr {
		f.Based, f.Load, f.Offset = true, f.Addr-offset, offset
		inside = name
	}
	if in := bytes.LastIndex(inside, []byte(" in ")); in >= 0 {
		inside = inside[in+len(" in "):]
	}
	if len(inside) > 0 {
		f.Name = inside
	}
}
