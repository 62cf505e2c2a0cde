package minidump

import (
	"bufio"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/formats/unwind"
)

// stackwalk is what minidump-stackwalk says of a dump: as JSON (rust-minidump's json-schema.md), as
// text, or as lines for machines.
type stackwalk struct {
	form    *report.Form
	arch    string
	system  string
	modules map[string]walkModule // by name
	threads []walkThread
}

type walkModule struct{ code, debug string }

type walkThread struct {
	id     uint64
	name   string
	frames []walkFrame
	over   int // frames beyond the bound

	crashed bool
}

type walkFrame struct {
	span           [2]int
	indent, tail   int // see Frame
	module         string
	offset, addr   uint64
	placed, inside bool
	stepped        bool // back into the call, by the tool
	above          int  // see Frame
	trust          unwind.Trust
}

// readStackwalk makes a stack of a report; nil if it is none.
func readStackwalk(text []byte, o report.Options) *report.Report {
	j := &json.Walker{Bytes: text}
	w := &stackwalk{form: walkJSON, modules: map[string]walkModule{}}
	known := false
	j.Object(func(key string) {
		switch key {
		case "system_info":
			j.Object(func(key string) {
				switch key {
				case "cpu_arch":
					w.arch = report.ProcessorArch(j.Text())
				case "os":
					w.system = j.Text()
				}
			})
		case "modules":
			j.Array(func(int) { w.module(j) })
			known = true
		case "threads":
			j.Array(func(i int) { w.thread(j, uint64(i)) })
		case "crashing_thread": // a copy of one of them
			w.thread(j, 0)
			w.threads[len(w.threads)-1].crashed = true
		}
	})
	if j.Broken() || !known {
		return nil
	}
	return w.stack(text, o)
}

// kind returns the kind of the system's images.
func (w *stackwalk) kind() symbol.Kind {
	if w.system == "Mac OS X" || w.system == "iOS" {
		return symbol.MachO
	}
	if strings.HasPrefix(w.system, "Windows") {
		return symbol.PE
	}
	return symbol.ELF
}

func (w *stackwalk) module(j *json.Walker) {
	var name string
	var m walkModule
	j.Object(func(key string) {
		switch key {
		case "filename":
			name = j.Text()
		case "code_id":
			m.code = j.Text()
		case "debug_id":
			m.debug = j.Text()
		}
	})
	if _, twice := w.modules[name]; !twice && name != "" {
		w.modules[name] = m
	}
}

func (w *stackwalk) thread(j *json.Walker, number uint64) {
	t := walkThread{id: number}
	j.Object(func(key string) {
		switch key {
		case "thread_id":
			t.id = j.Number()
		case "thread_name":
			t.name = j.Text()
		case "frames":
			j.Array(func(int) { t.frame(j) })
		}
	})
	w.threads = append(w.threads, t)
}

func (t *walkThread) frame(j *json.Walker) {
	var f walkFrame
	j.Peek()
	f.span[0] = j.Pos
	j.Object(func(key string) {
		switch key {
		case "module":
			f.module = j.Text()
		case "module_offset":
			f.inside = j.Peek() == '"'
			f.offset = j.Number()
		case "trust":
			f.trust = unwind.ParseTrust(j.Text())
		case "offset":
			f.placed = j.Peek() == '"'
			f.addr = j.Number()
		}
	})
	f.span[1] = j.Pos
	switch {
	case j.Failed || !f.placed && !f.inside:
	case len(t.frames) < report.MaxFrames:
		t.frames = append(t.frames, f)
	default:
		t.over++
	}
}

func (w *stackwalk) stack(text []byte, o report.Options) *report.Report {
	s := &report.Report{Form: w.form, Text: text, Arch: w.arch}
	kind := o.Frame0
	if kind == report.AsFormat {
		kind = w.form.Frame0
	}
	n := 0
	for _, t := range w.threads {
		out := report.Thread{ID: t.id, Name: t.name, Crashed: t.crashed}
		s.LeaveOut(t.over)
		for i := range t.frames {
			if n++; n > report.MaxDocumentFrames {
				s.LeaveOut(len(t.frames) - i)
				break
			}
			f := &t.frames[i]
			step := func(v uint64) uint64 {
				if !f.stepped && (kind == report.Return || kind == report.Exact && i > 0) {
					return report.Step(w.arch, v)
				}
				return v
			}
			made := report.Frame{Span: f.span, Arch: w.arch, File: f.module, Raw: f.addr, Kind: w.kind(), Trust: f.trust, Layout: report.Layout{Indent: f.indent, Tail: f.tail, Above: f.above}}
			m := w.modules[f.module]
			for _, id := range []string{m.code, m.debug} {
				if scan.IsHex([]byte(id)) && len(id) >= 16 {
					made.Image = append(made.Image, id)
				}
			}
			if f.module != "" {
				made.Image = append(made.Image, f.module)
			}
			if made.At = (symbol.Where{Space: symbol.Position, Value: step(f.offset)}); !f.inside {
				made.At = symbol.Where{Space: symbol.Loaded, Value: step(f.addr), Load: report.Nowhere}
			}
			out.Frames = append(out.Frames, made)
		}
		s.AddThread(out)
	}
	if len(s.Threads) == 0 {
		return nil
	}
	return s
}

// walkGone are the members that an answer replaces.
var walkGone = []string{"function", "file", "line", "function_offset", "inlines", "missing_symbols"}

// printStackwalk fills a frame's object as the tool does: its own function is
// the outermost; functions that were inlined into it stand in "inlines", innermost first.
func printStackwalk(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
	done := 0
	report.Each(s, answers, func(f *report.Frame, chain []symbol.Frame) {
		out.Write(s.Text[done:f.Span[0]])
		done = f.Span[1]
		out.WriteByte('{')
		for _, m := range json.Members(scan.Unmarked(s.FrameText(f), scan.LineMarks), walkGone...) {
			out.Write(m)
			out.WriteString(", ")
		}
		last := len(chain) - 1
		writeWalked(out, &chain[last])
		out.WriteString(`, "inlines": `)
		if last == 0 {
			out.WriteString("null")
		}
		for i := range chain[:last] {
			out.WriteString(map[bool]string{true: "[", false: ", "}[i == 0])
			out.WriteByte('{')
			writeWalked(out, &chain[i])
			out.WriteByte('}')
		}
		if last > 0 {
			out.WriteByte(']')
		}
		out.WriteString(`, "missing_symbols": false}`)
	})
	out.Write(s.Text[done:])
}

func writeWalked(out *bufio.Writer, f *symbol.Frame) {
	json.WriteMember(out, "function", report.FunctionName(f))
	out.WriteString(", ")
	if f.File == "" {
		out.WriteString(`"file": null, "line": null`)
		return
	}
	json.WriteMember(out, "file", f.File)
	out.WriteString(`, "line": ` + strconv.FormatUint(uint64(f.Line), 10))
}
