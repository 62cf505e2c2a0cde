package report

import (
	"bufio"
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// sentry reads events of Sentry (its event payloads' stack trace and debug meta interfaces): lists of
// frames, the oldest first, by instruction_addr, and images anywhere beside them.
type sentry struct {
	*jsonText
	r       *swiftReport
	stepped bool // by the program
}

func readSentry(text []byte, o Options) *Report {
	if !bytes.Contains(text, []byte(`"instruction_addr"`)) || !bytes.Contains(text, []byte(`"debug_meta"`)) {
		return nil
	}
	e := sentry{jsonText: &jsonText{b: text}, r: &swiftReport{form: sentryEvent}}
	e.value(0)
	if e.broken() || len(e.r.images) == 0 {
		return nil
	}
	if e.stepped {
		for i := range e.r.threads {
			for k := range e.r.threads[i].frames {
				e.r.threads[i].frames[k].kind = swiftExact
			}
		}
	}
	return e.r.stack(text, o)
}

// value looks for stacks and images in the value at hand.
func (e *sentry) value(depth int) {
	switch c := e.peek(); {
	case depth > maxJSONDepth:
		e.skip()
	case c == '[':
		e.array(func(int) { e.value(depth + 1) })
	case c == '{':
		var t swiftThread
		adjusted, from := "", len(e.r.threads)
		e.object(func(key string) {
			switch key {
			case "frames":
				e.array(func(int) {
					f, inlined, ok := e.frame()
					switch n := len(t.frames); {
					case !ok:
					case !inlined && n < MaxFrames:
						t.frames = append(t.frames, f)
					case inlined && n > 0:
						t.frames[n-1].above++
					}
				})
			case "images":
				e.array(func(int) { e.image() })
			case "instruction_addr_adjustment":
				adjusted = e.text()
			case "id", "thread_id":
				t.id = e.number()
			case "sdk": // Dart steps back before it prints
				e.object(func(key string) {
					if key == "name" {
						name := e.text()
						e.stepped = e.stepped || strings.Contains(name, "dart") || strings.Contains(name, "flutter")
					}
				})
			default:
				e.value(depth + 1)
			}
		})
		if len(t.frames) == 0 {
			if len(e.r.threads) == from+1 && e.r.threads[from].id == 0 { // the stack stands within the thread
				e.r.threads[from].id = t.id
			}
			return
		}
		slices.Reverse(t.frames)
		for i := range t.frames {
			switch {
			case adjusted == "none":
			case i > 0 || adjusted == "all":
				t.frames[i].kind = swiftReturn
			}
		}
		e.r.threads = append(e.r.threads, t)
	default:
		e.skip()
	}
}

// frame reads one; ok: its address is one of the process. inlined: it says what an earlier run found inlined at the place
// of the one before.
func (e *sentry) frame() (f swiftFrame, inlined, ok bool) {
	e.peek()
	f.span[0] = e.p
	absolute := true
	e.object(func(key string) {
		switch key {
		case "instruction_addr":
			f.addr, ok = e.number(), true
		case "package":
			f.image = string(scan.Base([]byte(e.text())))
		case "addr_mode":
			mode := e.text()
			absolute = mode == "" || mode == "abs"
		case "inline":
			inlined = e.isTrue()
		}
	})
	f.span[1] = e.p
	return f, inlined, ok && absolute && !e.bad
}

// image reads an entry of debug_meta.
func (e *sentry) image() {
	var img appleImage
	var size uint64
	code, debug, kind := "", "", ""
	e.object(func(key string) {
		switch key {
		case "type":
			kind = e.text()
		case "code_id":
			code = e.text()
		case "debug_id", "uuid":
			debug = e.text()
		case "image_addr":
			img.start = e.number()
		case "image_size":
			size = e.number()
		case "code_file", "name":
			img.path = e.text()
		case "arch":
			img.arch = AppleArch(e.text())
		}
	})
	img.name = string(scan.Base([]byte(img.path)))
	if img.uuid = debug; scan.IsHex([]byte(code)) && len(code) >= 16 { // all of a build-id, of which the debug id is a part
		img.uuid = code
	}
	if size > 0 && img.start+size > img.start {
		img.end = img.start + size
	}
	switch kind {
	case "elf":
		e.r.kind = symbol.ELF
	case "macho", "apple":
		e.r.kind = symbol.MachO
	case "":
	default: // scripts and mappings have no addresses
		return
	}
	if e.r.arch == "" {
		e.r.arch = img.arch
	}
	e.r.images = append(e.r.images, img)
}

// sentryGone are the members that what was found replaces.
var sentryGone = []string{"function", "raw_function", "symbol", "filename", "abs_path", "lineno", "colno"}

// printSentry fills a frame's object; what was inlined into it stands behind it, as the oldest is the first.
func printSentry(out *bufio.Writer, s *Report, answers [][]symbol.Answer) {
	done := 0
	each(s, answers, func(f *Frame, chain []symbol.Frame) {
		out.Write(s.Text[done:f.Span[0]])
		done = f.Span[1]
		members := jsonMembers(scan.Unmarked(s.FrameText(f), scan.LineMarks), sentryGone...)
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
			writeMember(out, "function", function(at))
			if at.File != "" {
				out.WriteString(", ")
				writeMember(out, "filename", path.Base(at.File))
				out.WriteString(", ")
				writeMember(out, "abs_path", at.File)
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
