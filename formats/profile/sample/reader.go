package sample

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/samples"
)

const (
	mostDepth  = 64 << 10 // of a tree; the samples of deeper lines count for the last one above them
	mostInline = 1 << 10  // functions of a line
	mostName   = 256      // bytes of a thread's or process's name
	mostDigits = 18       // of a count
	lineBytes  = 64 << 10
)

// marks are the branches of `sample`, and the star that spindump writes before lines of the kernel.
const marks = " \t+!:|*"

// node is a line of a tree that is not over.
type node struct {
	column int    // of its count
	text   int    // where the function stands, and functions that stand in lines of their own below
	count  uint64 // its samples
	below  uint64 // samples of the lines below it
	frames []frame
	stack  int32 // of samples, once pushed
	pushed bool
}

// reader reads lines of trees.
type reader struct {
	// sample takes the samples that end in the last node; nil: they are counted only.
	sample   func(nodes []node, self uint64) error
	thread   samples.Thread
	heaviest bool      // the lines are one stack, in one column
	sums     [2]uint64 // samples of trees, and of heaviest stacks
	placed   bool      // a line with an address was read

	nodes []node
	in    bool // a line of a tree may stand here
	last  bool // the line before was one
}

// each reads the lines of a text. begins is false for the rest of a line that is too long.
func each(ctx context.Context, in *profile.Input, visit func(line []byte, begins bool) error) (err error) {
	from, err := in.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	b := bufio.NewReaderSize(from, lineBytes)
	begins := true
	for n := 0; ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := b.ReadSlice('\n')
		if len(line) > 0 {
			if err := visit(line, begins); err != nil {
				return err
			}
		}
		begins = err == nil
		switch {
		case err == nil, errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return nil
		default:
			return err
		}
	}
}

// line reads a line without its end.
func (r *reader) line(b []byte) error {
	t := bytes.TrimLeft(b, " \t")
	if len(t) == 0 {
		r.in, r.last = false, false
		err := r.up(0)
		r.heaviest = false
		return err
	}
	if r.isHeader(t) {
		r.last = false
		if err := r.up(0); err != nil {
			return err
		}
		r.header(string(t))
		return nil
	}
	if !r.in {
		return nil
	}
	column := len(b) - len(bytes.TrimLeft(b, marks))
	if taken, err := r.tree(b, column); taken || err != nil {
		return err
	}
	r.last = false
	if t[0] == '<' { // what spindump knows of a thread's priority
		return nil
	}
	return r.up(0)
}

// tree reads a line of a tree; column is where its text begins.
func (r *reader) tree(b []byte, column int) (taken bool, err error) {
	rest := b[column:]
	digits := len(rest) - len(bytes.TrimLeft(rest, "0123456789"))
	behind := bytes.TrimLeft(rest[digits:], " \t")
	if digits == 0 || digits > mostDigits || len(behind) == 0 || len(behind) == len(rest)-digits {
		return r.inlined(rest, column), nil
	}
	n := node{column: column, text: len(b) - len(behind)}
	n.count, _ = strconv.ParseUint(string(rest[:digits]), 10, 64)
	if name, is := bytes.CutPrefix(behind, []byte("Thread_")); is {
		if err := r.up(0); err != nil {
			return true, err
		}
		r.setThread(string(name))
		return true, r.push(n)
	}
	f, ok := parseFrame(behind)
	if !ok {
		return false, nil
	}
	r.placed = r.placed || f.placed
	n.frames = []frame{f}
	return true, r.push(n)
}

// inlined reads a line without a count: the function that the functions of the lines above it were inlined into.
func (r *reader) inlined(rest []byte, column int) bool {
	if !r.last || len(r.nodes) == 0 {
		return false
	}
	n := &r.nodes[len(r.nodes)-1]
	if column != n.text || len(n.frames) == 0 || len(n.frames) == mostInline || !n.frames[len(n.frames)-1].answered || n.frames[len(n.frames)-1].placed {
		return false
	}
	f, ok := parseFrame(rest)
	if ok {
		n.frames = append(n.frames, f)
	}
	return ok
}

// push adds a line below the nearest one that stands further left.
func (r *reader) push(n node) error {
	r.last = true
	if r.heaviest {
		n.column = len(r.nodes)
	}
	if err := r.up(n.column); err != nil || len(r.nodes) == mostDepth {
		return err
	}
	if above := len(r.nodes) - 1; above >= 0 {
		r.nodes[above].below = min(r.nodes[above].below+n.count, 1<<62)
	}
	r.nodes = append(r.nodes, n)
	return nil
}

// up ends the lines that stand at column and further right.
func (r *reader) up(column int) error {
	for len(r.nodes) > 0 && r.nodes[len(r.nodes)-1].column >= column {
		n := &r.nodes[len(r.nodes)-1]
		if n.count > n.below {
			self := n.count - n.below
			of := &r.sums[r.kind()]
			*of = min(*of+self, 1<<62)
			if r.sample != nil {
				if err := r.sample(r.nodes, self); err != nil {
					return err
				}
			}
		}
		r.nodes = r.nodes[:len(r.nodes)-1]
	}
	return nil
}

// kind is 1 for a heaviest stack, and 0 for a tree.
func (r *reader) kind() int {
	if r.heaviest {
		return 1
	}
	return 0
}

// headers stand before trees, or before the reports of a process.
var headers = []string{"Process:", "Powerstats for:", "Command:", "PID:", "Analysis of sampling ", "Call graph:", "Heaviest stack for the ", "Thread 0x"}

func (r *reader) isHeader(t []byte) bool {
	for _, h := range headers {
		if bytes.HasPrefix(t, []byte(h)) {
			return true
		}
	}
	return false
}

// header reads a line that isHeader knows.
func (r *reader) header(t string) {
	r.heaviest = false
	value := ""
	if i := strings.IndexByte(t, ':'); i >= 0 {
		value = strings.TrimSpace(t[i+1:])
	}
	switch t[:2] {
	case "Pr", "Po": // "game [7] (suspended)"
		r.thread = samples.Thread{}
		r.process(value, " [")
		if _, id, found := strings.Cut(value, "] thread 0x"); found {
			r.thread.TID = number(id, 16)
		}
		r.in = t[1] == 'o' // its tree may stand below lines of facts
	case "Co":
		r.in, r.thread = false, samples.Thread{Process: name(value)}
	case "PI":
		r.thread.PID = number(value, 10)
	case "An": // "Analysis of sampling game (pid 7) every 1 millisecond"
		r.process(strings.TrimPrefix(t, "Analysis of sampling "), " (pid ")
	case "Th":
		r.in = true
		r.thread.TID = number(t[len("Thread 0x"):], 16)
		r.thread.Name = name(quoted(t, "Thread name \""))
		if r.thread.Name == "" {
			r.thread.Name = name(quoted(t, "DispatchQueue \""))
		}
	case "He":
		r.in, r.heaviest = true, true
		r.thread.TID, r.thread.Name = 0, ""
	default:
		r.in = true
	}
}

// process reads "game [7]"; open stands before the number.
func (r *reader) process(value, open string) {
	title, id, found := strings.Cut(value, open)
	if found {
		r.thread.PID = number(id, 10)
	}
	r.thread.Process = name(title)
}

// setThread reads "42   DispatchQueue_1: main  (serial)" and "42: worker".
func (r *reader) setThread(text string) {
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == 'x' || text[end] >= 'a' && text[end] <= 'f') {
		end++
	}
	id, base := text[:end], 10
	if hex, is := strings.CutPrefix(id, "0x"); is {
		id, base = hex, 16
	}
	r.thread.TID = number(id, base)
	title := strings.TrimLeft(text[end:], ": \t")
	if strings.HasPrefix(title, "DispatchQueue_") {
		if _, queue, found := strings.Cut(title, ": "); found {
			title = queue
		}
		title, _, _ = strings.Cut(title, "  (")
	}
	title, _, _ = strings.Cut(title, "  DispatchQueue_")
	r.thread.Name = name(title)
}

// quoted returns what stands between open and the next quote.
func quoted(t, open string) string {
	_, rest, found := strings.Cut(t, open)
	if !found {
		return ""
	}
	text, _, _ := strings.Cut(rest, "\"")
	return text
}

// name bounds a name.
func name(text string) string {
	return strings.ToValidUTF8(strings.TrimSpace(text[:min(len(text), mostName)]), "?")
}

// number reads the digits that a text begins with; 0: there are none.
func number(text string, base int) int64 {
	digits := "0123456789"
	if base == 16 {
		digits = "0123456789abcdefABCDEF"
	}
	n, err := strconv.ParseInt(text[:len(text)-len(strings.TrimLeft(text, digits))], base, 64)
	if err != nil {
		return 0
	}
	return n
}
