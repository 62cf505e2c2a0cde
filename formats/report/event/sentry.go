package event

import (
	"bufio"
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
	"github.com/symlake/symlake/formats/symbol"
)

// sentry reads events of Sentry (its event payloads' stack trace and debug meta interfaces): lists of
// frames, the oldest first, by instruction_addr, and images anywhere beside them.
type sentry struct {
	*json.Walker
	r       *crash.Marked
	stepped bool // by the program
}

func readSentry(text []byte, o report.Options) *report.Report {
	if !bytes.Contains(text, []byte(`"instruction_addr"`)) || !bytes.Contains(text, []byte(`"debug_meta"`)) {
		return nil
	}
	e := sentry{Walker: &json.Walker{Bytes: text}, r: &crash.Marked{Form: sentryEvent}}
	e.value(0)
	if e.Broken() || len(e.r.Images) == 0 {
		return nil
	}
	if e.stepped {
		for i := range e.r.Threads {
			for k := range e.r.Threads[i].Frames {
				e.r.Threads[i].Frames[k].Kind = crash.Exact
			}
		}
	}
	return e.r.Report(text, o)
}

// value looks for stacks and images in the value at hand.
func (e *sentry) value(depth int) {
	switch c := e.Peek(); {
	case depth > json.MaxDepth:
		e.Skip()
	case c == '[':
		e.Array(func(int) { e.value(depth + 1) })
	case c == '{':
		var t crash.MarkedThread
		adjusted, from := "", len(e.r.Threads)
		e.Object(func(key string) {
			switch key {
			case "frames":
				e.Array(func(int) {
					f, inlined, ok := e.frame()
					switch n := len(t.Frames); {
					case !ok:
					case !inlined && n < report.MaxFrames:
						t.Frames = append(t.Frames, f)
					case inlined && n > 0:
						t.Frames[n-1].Above++
					}
				})
			case "images":
				e.Array(func(int) { e.image() })
			case "instruction_addr_adjustment":
				adjusted = e.Text()
			case "id", "thread_id":
				t.ID = e.Number()
			case "crashed":
				t.Crashed = e.IsTrue()
			case "sdk": // Dart steps back before it prints
				e.Object(func(key string) {
					if key == "name" {
						name := e.Text()
						e.stepped = e.stepped || strings.Contains(name, "dart") || strings.Contains(name, "flutter")
					}
				})
			default:
				e.value(depth + 1)
			}
		})
		if len(t.Frames) == 0 {
			if len(e.r.Threads) == from+1 && e.r.Threads[from].ID == 0 { // the stack stands within the thread
				e.r.Threads[from].ID, e.r.Threads[from].Crashed = t.ID, t.Crashed
			}
			return
		}
		slices.Reverse(t.Frames)
		for i := range t.Frames {
			switch {
			case adjusted == "none":
			case i > 0 || adjusted == "all":
				t.Frames[i].Kind = crash.Return
			}
		}
		e.r.Threads = append(e.r.Threads, t)
	default:
		e.Skip()
	}
}

// frame reads one; ok: its address is one of the process. inlined: it says what an earlier run found inlined at the place
// of the one before.
func (e *sentry) frame() (f crash.MarkedFrame, inlined, ok bool) {
	e.Peek()
	f.Span[0] = e.Pos
	absolute := true
	e.Object(func(key string) {
		switch key {
		case "instruction_addr":
			f.Addr, ok = e.Number(), true
		case "package":
			f.Image = string(scan.Base([]byte(e.Text())))
		case "addr_mode":
			mode := e.Text()
			absolute = mode == "" || mode == "abs"
		case "inline":
			inlined = e.IsTrue()
		}
	})
	f.Span[1] = e.Pos
	return f, inlined, ok && absolute && !e.Failed
}

// image reads an entry of debug_meta.
func (e *sentry) image() {
	var img crash.Image
	var size uint64
	code, debug, kind := "", "", ""
	e.Object(func(key string) {
		switch key {
		case "type":
			kind = e.Text()
		case "code_id":
			code = e.Text()
		case "debug_id", "uuid":
			debug = e.Text()
		case "image_addr":
			img.Start = e.Number()
		case "image_size":
			size = e.Number()
		case "code_file", "name":
			img.Path = e.Text()
		case "arch":
			img.Arch = report.AppleArch(e.Text())
		}
	})
	img.Name = string(scan.Base([]byte(img.Path)))
	if img.UUID = debug; scan.IsHex([]byte(code)) && len(code) >= 16 { // all of a build-id; the debug id is a part of it
		img.UUID = code
	}
	if size > 0 && img.Start+size > img.Start {
		img.End = img.Start + size
	}
	switch kind {
	case "elf":
		e.r.Kind = symbol.ELF
	case "macho", "apple":
		e.r.Kind = symbol.MachO
	case "":
	default: // scripts and mappings have no addresses
		return
	}
	if e.r.Arch == "" {
		e.r.Arch = img.Arch
	}
	e.r.Images = append(e.r.Images, img)
}

// sentryGone are the members that an answer replaces.
var sentryGone = []string{"function", "raw_function", "symbol", "filename", "abs_path", "lineno", "colno"}

// printSentry fills a frame's object; functions that were inlined into it stand behind it, as the oldest is the first.
func printSentry(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
	done := 0
	report.Each(s, answers, func(f *report.Frame, chain []symbol.Frame) {
		out.Write(s.Text[done:f.Span[0]])
		done = f.Span[1]
		members := json.Members(scan.Unmarked(s.FrameText(f), scan.LineMarks), sentryGone...)
		for i := range slices.Backward(chain) {
			inlined := i < len(chain)-1
			if inlined {
				out.WriteString("," + scan.LineEnd(s.Text, f.Span[1]))
			}
			out.WriteByte('{')
			for _, m := range members {
				out.Write(m)
				out.WriteString(", ")
			}
			at := &chain[i]
			json.WriteMember(out, "function", report.FunctionName(at))
			if at.File != "" {
				out.WriteString(", ")
				json.WriteMember(out, "filename", path.Base(at.File))
				out.WriteString(", ")
				json.WriteMember(out, "abs_path", at.File)
				out.WriteString(`, "lineno": ` + strconv.FormatUint(uint64(at.Line), 10) + `, "colno": ` + strconv.FormatUint(uint64(at.Column), 10))
			}
			if inlined {
				out.WriteString(`, "inline": true`)
			}
			out.WriteByte('}')
		}
	})
	out.Write(s.Text[done:])
}
