// Package clr reads stacks of .NET that name places in the code of methods, as Mono prints them where it has no lines.
//
//	at Shop.Core.Cart`1[T].Add (T item) [0x0000c] in <b1d69ab0751f4334bd0372dbdb888719>:0
//
// The number is an offset in the method's code, and the digits are the MVID of the assembly. The method is found by its
// name. Lines that name a file already pass through, and so do lines with an MVID of zeros: il2cpp prints them, without
// places. A frame comes back as Mono prints it with its debug files.
package clr

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Dialect reads frames of managed code that have no lines.
var Dialect = report.Dialect{
	Name:  "clr",
	Forms: []*report.Form{mono},
	Lines: func(b *report.Builder) report.Lines {
		r := &lines{b: b}
		return report.Lines{Find: r.find, Add: r.add}
	},
}

var mono = &report.Form{Name: "mono", Frame0: report.Stepped, Kind: symbol.CLR,
	Lines: "at Shop.Cart.Add (System.String item) [0x0000c] in <b1d69ab0751f4334bd0372dbdb888719>:0"}

// lines reads single lines.
type lines struct {
	b *report.Builder
	f frame // that find found
}

// frame is a line. Places count from the beginning of the frame.
type frame struct {
	start, end      int // in the line
	name, place     [2]int
	anchor, precise string // the method, without and with its parameters
	offset          uint64
	mvid            string
}

var (
	inMark     = []byte("] in <")
	offsetMark = []byte(" [0x")
	atMark     = []byte("at ")
	unknown    = []byte("filename unknown>:0")
)

func (r *lines) find(l *report.Line, f *report.Found) bool {
	if !l.HasAddress() || !r.f.parse(l.Text) {
		return false
	}
	*f = report.Found{Form: mono, Number: -1, Room: report.FrameRoom + 2*len(l.Text)}
	return true
}

// parse reads a line.
func (f *frame) parse(b []byte) bool {
	in := bytes.LastIndex(b, inMark)
	if in < 0 {
		return false
	}
	at := bytes.LastIndex(b[:in], offsetMark)
	if at < 0 {
		return false
	}
	offset, end, ok := scan.Hex(b, at+len(offsetMark))
	if !ok || end != in || offset > 1<<31-1 {
		return false
	}
	*f = frame{offset: offset}

	id := in + len(inMark)
	f.place[0] = id - 1
	if bytes.HasPrefix(b[id:], unknown) { // of older releases
		f.place[1] = id + len(unknown)
	} else if f.mvid, end, ok = scan.UUID(b, id); ok && f.mvid != "" {
		if end < len(b) && b[end] == '#' { // the id of code that was compiled ahead follows
			for end++; end < len(b) && scan.HexDigit(b[end]) >= 0; end++ {
			}
		}
		if !bytes.HasPrefix(b[end:], []byte(">:")) {
			return false
		}
		_, f.place[1], ok = scan.Digits(b, end+2)
		if !ok {
			return false
		}
	} else {
		return false
	}
	return f.method(b, at)
}

// method reads the method. Its parameters end at end.
func (f *frame) method(b []byte, end int) bool {
	if end == 0 || b[end-1] != ')' {
		return false
	}
	open, depth := end-1, 0
	for ; open >= 0; open-- {
		if b[open] == ')' {
			depth++
		} else if b[open] == '(' {
			if depth--; depth == 0 {
				break
			}
		}
	}
	if open <= 0 {
		return false
	}
	stop := open
	if b[stop-1] == ' ' {
		stop--
	}
	start := bytes.LastIndexByte(b[:stop], ' ') + 1
	if start >= stop || !bytes.HasSuffix(b[:start], atMark) || start > len(atMark) && !scan.IsSpace(b[start-len(atMark)-1]) {
		return false
	}
	f.start, f.end = start-len(atMark), f.place[1]
	f.anchor = plain(b[start:stop])
	f.precise = f.anchor + "(" + types(b[open+1:end-1]) + ")"
	f.name, f.place = [2]int{start - f.start, stop - f.start}, [2]int{f.place[0] - f.start, f.place[1] - f.start}
	return strings.IndexByte(f.anchor, '.') > 0
}

// plain returns a method's name as symlake stores it: without the types of generic ones, nested types behind a dot.
func plain(name []byte) string {
	var out strings.Builder
	depth := 0
	for i, c := range name {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth > 0:
		case c == '+' || c == '/':
			out.WriteByte('.')
		case c == '.' && i > 0 && name[i-1] == '.': // of a constructor, "..ctor"
		default:
			out.WriteByte(c)
		}
	}
	return out.String()
}

// types returns the types of parameters, without their names.
func types(b []byte) string {
	var out strings.Builder
	depth, from := 0, 0
	add := func(p []byte) {
		p = bytes.TrimSpace(p)
		if i := bytes.LastIndexByte(p, ' '); i > 0 {
			p = p[:i]
		}
		if len(p) == 0 {
			return
		}
		if out.Len() > 0 {
			out.WriteString(", ")
		}
		out.WriteString(strings.NewReplacer("+", ".", "/", ".").Replace(string(p)))
	}
	for i, c := range b {
		switch c {
		case '[', '(', '<':
			depth++
		case ']', ')', '>':
			depth--
		case ',':
			if depth == 0 {
				add(b[from:i])
				from = i + 1
			}
		}
	}
	add(b[from:])
	return out.String()
}

func (r *lines) add(*report.Found) {
	f := r.f
	p := report.Place{Start: f.start, Tail: f.start, End: f.end, PC: f.offset, Kind: symbol.CLR, Function: []byte(f.anchor)}
	made, _ := r.b.Frame(&p)
	if f.mvid != "" {
		made.Image = []string{r.b.Intern([]byte(f.mvid))}
	}
	made.Raw = f.offset
	made.Or = []symbol.Where{{Space: symbol.Anchored, Value: f.offset, Anchor: r.b.Intern([]byte(f.precise))}}
	made.Detail = &detail{name: f.name, place: f.place, anchor: made.At.Anchor}
	r.b.Add(made)
}

// detail is where a frame's line has what an answer changes; places count from the frame's beginning.
type detail struct {
	name, place [2]int
	anchor      string
}

// PrintFrame writes the line with the answer's file and line, and with its method if that has another name.
func (d *detail) PrintFrame(out *bufio.Writer, r *report.Report, f *report.Frame, a *symbol.Answer, done int) int {
	if a.Status != symbol.Found || len(a.Frames) == 0 {
		return done
	}
	at := &a.Frames[0]
	if name, _, _ := strings.Cut(report.FunctionName(at), "("); name != d.anchor && name != "??" {
		out.Write(r.Text[done : f.Span[0]+d.name[0]])
		out.WriteString(scan.OneLine(name))
		done = f.Span[0] + d.name[1]
	}
	if at.File == "" {
		return done
	}
	out.Write(r.Text[done : f.Span[0]+d.place[0]])
	out.WriteString(scan.OneLine(at.File))
	out.WriteByte(':')
	out.WriteString(strconv.FormatUint(uint64(at.Line), 10))
	return f.Span[0] + d.place[1]
}
