package jvm

import (
	"bufio"
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// PrintFrame writes a managed line with its answer, as R8's retrace does:
// one line a frame, each as the line was but for the names; alternatives
// side by side, all but the first marked; nothing where the answer has no
// frame. [done, …) of the text is not written yet; what it returns is where
// the rest begins.
func (j *frame) PrintFrame(out *bufio.Writer, s *report.Report, f *report.Frame, a *symbol.Answer, done int) int {
	if a.Status == symbol.Hole && s.Managed().School != report.List {
		return j.printNumber(out, s, f, done)
	}
	if a.Status != symbol.Found {
		return done
	}
	start := bytes.LastIndexByte(s.Text[:f.Span[0]], '\n') + 1
	end := f.Span[1]
	out.Write(s.Text[done:start])
	if len(a.Frames) == 0 {
		if i := bytes.IndexByte(s.Text[end:], '\n'); i >= 0 {
			return end + i + 1
		}
		return len(s.Text)
	}
	eol := "\n"
	if bytes.HasPrefix(s.Text[end:], []byte("\r\n")) {
		eol = "\r\n"
	}
	p := linePrinter{text: s.Text, start: start, at: f.Span[0], end: end, m: f.Managed, parts: j.parts, o: s.Managed()}
	first := true
	write := func(line []byte) {
		if !first {
			out.WriteString(eol)
		}
		first = false
		out.Write(line)
	}
	if len(a.Or) == 0 {
		for i := range a.Frames {
			write(p.line(&a.Frames[i]))
		}
		return end
	}
	chains := slices.Concat([][]symbol.Frame{a.Frames}, a.Or)
	if p.o.School == report.List {
		for _, chain := range chains {
			for i := range chain {
				write(p.line(&chain[i]))
			}
		}
		return end
	}
	var seen map[string]bool
	for i, more := 0, true; more; i++ {
		more = false
		clear(seen)
		for c, chain := range chains {
			if i >= len(chain) {
				continue
			}
			more = true
			line := p.line(&chain[i])
			if seen[string(line)] {
				continue
			}
			if seen == nil {
				seen = map[string]bool{}
			}
			seen[string(line)] = true
			if c > 0 {
				line = markOr(line)
			}
			write(line)
		}
	}
	return end
}

// printNumber writes the line number of a line with a class that is not mapped as
// R8 does: a number without zeros before it, and none for 0.
func (j *frame) printNumber(out *bufio.Writer, s *report.Report, f *report.Frame, done int) int {
	m := f.Managed
	for _, p := range j.parts {
		p.start, p.end = p.start+f.Span[0], p.end+f.Span[0]
		if p.kind != partLine || m.Line < 0 || m.Line > 0 && s.Text[min(p.start+1, p.end-1)] != '0' {
			continue
		}
		out.Write(s.Text[done:p.start])
		done = p.end
		if m.Line > 0 && p.colon {
			out.WriteByte(':')
		}
		if m.Line > 0 {
			out.WriteString(strconv.Itoa(m.Line))
		}
	}
	return done
}

// markOr puts R8's mark where R8 does: before the first "at ", or before the first byte that is no space.
func markOr(line []byte) []byte {
	at := bytes.Index(line, []byte("at "))
	if at < 0 {
		at = skipJavaSpace(line, 0)
	}
	return slices.Insert(line, at, []byte("<OR> ")...)
}

// linePrinter writes one line of the text again, with other names.
type linePrinter struct {
	text       []byte
	start, end int
	at         int // where parts count from
	m          *report.Managed
	parts      []part
	o          report.ManagedOptions
	buf        []byte
}

// line gives the line of one frame; it is valid until the next call.
func (p *linePrinter) line(f *symbol.Frame) []byte {
	p.buf = p.buf[:0]
	done, types := p.start, p.m.Types
	class, member := cutMember(f, p.m)
	signature := strings.TrimPrefix(f.Linkage, f.Function)
	for _, piece := range p.parts {
		piece.start, piece.end = piece.start+p.at, piece.end+p.at
		p.buf = append(p.buf, p.text[done:piece.start]...)
		done = piece.end
		was := p.text[piece.start:piece.end]
		switch piece.kind {
		case partClass:
			if piece.binary {
				class = strings.ReplaceAll(class, ".", "/")
			}
			p.name(class)
		case partMethod:
			p.method(member, signature)
		case partField:
			if of, ok := strings.CutPrefix(signature, ":"); ok && p.o.Verbose {
				p.name(of)
				p.buf = append(p.buf, ' ')
			}
			p.name(member)
		case partFile:
			if f.File == "" {
				p.buf = append(p.buf, was...)
			} else {
				p.name(f.File)
			}
		case partLine:
			p.number(f.Line, piece.colon, was)
		case partType:
			if len(types) > 0 {
				p.typeName(&types[0])
				types = types[1:]
			}
		case partParams:
			p.params(signature, types)
		}
	}
	p.buf = append(p.buf, p.text[done:p.end]...)
	return p.buf
}

// cutMember parts "CLASS.MEMBER"; a line that names only a class has no member.
func cutMember(f *symbol.Frame, m *report.Managed) (class, member string) {
	if m.Method == "" && m.Field == "" {
		return f.Function, ""
	}
	dot := strings.LastIndexByte(f.Function, '.')
	return f.Function[:max(dot, 0)], f.Function[dot+1:]
}

func (p *linePrinter) name(s string) { p.buf = append(p.buf, scan.OneLine(s)...) }

// method writes a method's name; verbose, with its type and parameters, which
// the signature "(PARAMS)TYPE" holds.
func (p *linePrinter) method(name, signature string) {
	params, of, ok := strings.Cut(signature, ")")
	if !ok || !p.o.Verbose || p.m.Params {
		p.name(name)
		return
	}
	p.name(of)
	p.buf = append(p.buf, ' ')
	p.name(name)
	p.name(params)
	p.buf = append(p.buf, ')')
}

func (p *linePrinter) number(line uint32, colon bool, was []byte) {
	switch {
	case line == 0 && p.o.School != report.List:
		if p.m.Line < 0 {
			p.buf = append(p.buf, was...)
		}
		return
	case colon:
		p.buf = append(p.buf, ':')
	}
	p.buf = strconv.AppendUint(p.buf, uint64(line), 10)
}

func (p *linePrinter) typeName(t *report.Type) {
	if t.Original == "" {
		p.buf = append(p.buf, t.Name...)
	} else {
		p.name(t.Original)
	}
}

// params writes what the method takes, as the mapping has it, else each type
// by itself.
func (p *linePrinter) params(signature string, types []report.Type) {
	if params, _, ok := strings.Cut(strings.TrimPrefix(signature, "("), ")"); ok {
		p.name(params)
		return
	}
	for i := range types {
		if i > 0 {
			p.buf = append(p.buf, ',')
		}
		p.typeName(&types[i])
	}
}
