package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// readAppleJSON reads .ips reports (the body; their first line, a JSON value of
// its own, is text) and KSCrash's reports.
func readAppleJSON(text []byte, o Options) *Report {
	j := &jsonText{b: text}
	r := &appleReport{form: appleIPS}
	crash := false
	j.object(func(key string) {
		switch key {
		case "cpuType":
			r.arch = AppleArch(j.text())
		case "osVersion":
			j.object(func(key string) {
				if key == "train" {
					r.system = j.text()
				}
			})
		case "usedImages":
			j.array(func(int) { r.usedImage(j) })
		case "threads":
			j.array(func(i int) { r.ipsThread(j, uint64(i)) })
		case "lastExceptionBacktrace":
			t := appleThread{name: "Last Exception Backtrace", returns: true}
			j.array(func(int) { r.ipsFrame(j, &t) })
			r.threads = append(r.threads, t)
		case "binary_images":
			j.array(func(int) { r.kscrashImage(j) })
		case "system":
			r.kscrashSystem(j)
		case "crash":
			crash = true
			r.kscrashCrash(j)
		case "recrash_report": // the handler itself crashed: what it saw of that
			j.object(func(key string) {
				if key == "crash" {
					r.kscrashCrash(j)
				}
			})
		}
	})
	if j.broken() || len(r.images) == 0 {
		return nil
	}
	if crash {
		r.form = kscrash
	}
	return r.stack(text, o)
}

func (r *appleReport) usedImage(j *jsonText) {
	var img appleImage
	var size uint64
	j.object(func(key string) {
		switch key {
		case "base":
			img.start = j.number()
		case "size":
			size = j.number()
		case "uuid":
			s := j.text()
			img.uuid, _, _ = scan.UUID([]byte(s), 0)
		case "path":
			img.path = j.text()
		case "name":
			img.name = j.text()
		case "arch":
			img.arch = AppleArch(j.text())
		}
	})
	if size > 0 && img.start+size > img.start {
		img.end = img.start + size
	}
	r.images = append(r.images, img)
}

func (r *appleReport) ipsThread(j *jsonText, number uint64) {
	t := appleThread{id: number}
	j.object(func(key string) {
		switch key {
		case "id":
			t.id = j.number()
		case "name":
			t.name = j.text()
		case "queue":
			if q := j.text(); t.name == "" {
				t.name = q
			}
		case "frames":
			j.array(func(int) { r.ipsFrame(j, &t) })
		}
	})
	r.threads = append(r.threads, t)
}

func (r *appleReport) ipsFrame(j *jsonText, t *appleThread) {
	f := appleFrame{image: -1, number: -1}
	inlined := false
	j.peek()
	f.span[0] = j.p
	j.object(func(key string) {
		switch key {
		case "imageOffset":
			f.offset = j.number()
		case "imageIndex":
			f.image = int(min(j.number(), 1<<30))
		case "inline":
			inlined = j.isTrue()
		}
	})
	f.span[1] = j.p
	if !j.bad {
		t.object(f, inlined)
	}
}

// object takes a frame's object, or one that says what an earlier run found inlined at the place of the next.
func (t *appleThread) object(f appleFrame, inlined bool) {
	if inlined {
		t.inlined++
		return
	}
	f.above, t.inlined = t.inlined, 0
	if len(t.frames) < MaxDocumentFrames {
		t.frames = append(t.frames, f)
	}
}

func (r *appleReport) kscrashImage(j *jsonText) {
	var img appleImage
	var size, cpu, subtype uint64
	j.object(func(key string) {
		switch key {
		case "image_addr":
			img.start = j.number()
		case "image_size":
			size = j.number()
		case "name":
			img.path = j.text()
		case "uuid":
			s := j.text()
			img.uuid, _, _ = scan.UUID([]byte(s), 0)
		case "cpu_type":
			cpu = j.number()
		case "cpu_subtype":
			subtype = j.number()
		}
	})
	img.name = string(scan.Base([]byte(img.path)))
	img.arch = cpuArch(uint32(cpu), uint32(subtype))
	if size > 0 && img.start+size > img.start {
		img.end = img.start + size
	}
	r.images = append(r.images, img)
}

// cpuArch names a kind of processor by the numbers of mach/machine.h.
func cpuArch(cpu, subtype uint32) string {
	subtype &= 0xffffff
	switch cpu {
	case 7:
		return "x86"
	case 7 | 1<<24:
		return "x86_64"
	case 12 | 1<<24:
		if subtype == 2 {
			return "arm64e"
		}
		return "arm64"
	case 12 | 1<<25:
		return "arm64_32"
	case 12:
		switch subtype {
		case 6:
			return "armv6"
		case 9:
			return "armv7"
		case 11:
			return "armv7s"
		case 12:
			return "armv7k"
		}
		return "arm"
	}
	return ""
}

func (r *appleReport) kscrashSystem(j *jsonText) {
	j.object(func(key string) {
		switch key {
		case "cpu_arch":
			r.arch = AppleArch(j.text())
		case "system_name":
			r.system = j.text()
		}
	})
}

// kscrashCrash reads the threads. The backtrace of an exception is a list of
// return addresses, which stands in place of the crashed thread's.
func (r *appleReport) kscrashCrash(j *jsonText) {
	exception := false
	crashed := -1
	j.object(func(key string) {
		switch key {
		case "error":
			j.object(func(key string) {
				if key == "type" {
					kind := j.text()
					exception = kind == "nsexception" || kind == "cpp_exception"
				}
			})
		case "crashed_thread":
			r.kscrashThread(j)
		case "threads":
			j.array(func(int) {
				if r.kscrashThread(j) {
					crashed = len(r.threads) - 1
				}
			})
		}
	})
	if exception && crashed >= 0 {
		r.threads[crashed].returns = true
	}
}

func (r *appleReport) kscrashThread(j *jsonText) (crashed bool) {
	var t appleThread
	j.object(func(key string) {
		switch key {
		case "index":
			t.id = j.number()
		case "name":
			t.name = j.text()
		case "crashed":
			crashed = j.isTrue()
		case "backtrace":
			j.object(func(key string) {
				if key == "contents" {
					j.array(func(int) { r.kscrashFrame(j, &t) })
				}
			})
		}
	})
	r.threads = append(r.threads, t)
	return crashed
}

func (r *appleReport) kscrashFrame(j *jsonText, t *appleThread) {
	f := appleFrame{image: -1, number: -1}
	inlined := false
	j.peek()
	f.span[0] = j.p
	j.object(func(key string) {
		switch key {
		case "inline":
			inlined = j.isTrue()
		case "instruction_addr":
			f.addr = j.number()
		case "object_addr":
			f.load = j.number()
		case "object_name":
			f.name = []byte(j.text())
		}
	})
	f.span[1] = j.p
	f.based = f.load != 0
	if !j.bad {
		t.object(f, inlined)
	}
}

// frameKeys are the names under which a form of report keeps what is found.
type frameKeys struct {
	function, file, line string
	gone                 string // what no longer holds beside another function
}

var (
	ipsKeys     = frameKeys{"symbol", "sourceFile", "sourceLine", "symbolLocation"}
	kscrashKeys = frameKeys{"symbol_name", "source_file", "source_line", "symbol_addr"}
)

// printJSON writes a frame's function, file and line under the names that the report's own tools use.
func printJSON(keys frameKeys) func(*bufio.Writer, *Report, [][]symbol.Answer) {
	return printObjects("inline", []string{keys.function, keys.file, keys.line, keys.gone}, keys.write)
}

// printObjects writes a report that stays one JSON value: each frame's object gets what write
// writes, in place of the members gone.
// For each function of the inline chain but the outermost, an object on a line
// of its own stands before the frame's, with the member inline.
func printObjects(inline string, gone []string, write func(out *bufio.Writer, at *symbol.Frame)) func(*bufio.Writer, *Report, [][]symbol.Answer) {
	return func(out *bufio.Writer, s *Report, answers [][]symbol.Answer) {
		done := 0
		each(s, answers, func(f *Frame, chain []symbol.Frame) {
			out.Write(s.Text[done:f.Span[0]])
			done = f.Span[1]
			start := bytes.LastIndexByte(s.Text[:f.Span[0]], '\n') + 1
			before := s.Text[start:f.Span[0]]
			if len(bytes.TrimSpace(scan.Unmarked(before, scan.LineMarks))) > 0 {
				before = nil
			}
			members := jsonMembers(scan.Unmarked(s.FrameText(f), scan.LineMarks), gone...)
			for i := range chain {
				if i > 0 {
					out.WriteString(",")
					out.WriteString(scan.LineEnd(s.Text, f.Span[1]))
					out.Write(before)
				}
				out.WriteByte('{')
				for _, m := range members {
					out.Write(m)
					out.WriteString(", ")
				}
				write(out, &chain[i])
				if i < len(chain)-1 {
					out.WriteString(`, "` + inline + `": true`)
				}
				out.WriteByte('}')
			}
		})
		out.Write(s.Text[done:])
	}
}

// write writes what is known of a frame as members of its object.
func (k frameKeys) write(out *bufio.Writer, at *symbol.Frame) {
	writeMember(out, k.function, function(at))
	if at.File != "" {
		out.WriteString(", ")
		writeMember(out, k.file, path.Base(at.File))
		out.WriteString(`, "` + k.line + `": ` + strconv.FormatUint(uint64(at.Line), 10))
	}
}

// jsonMembers are the members of an object as they are spelled, without those
// that are about to be replaced.
func jsonMembers(object []byte, gone ...string) (members [][]byte) {
	j := &jsonText{b: object}
	j.composite('{', '}', func() {
		j.peek()
		from := j.p
		key := j.text()
		if j.take(':') {
			j.skip()
		}
		if !j.bad && !slices.Contains(gone, key) {
			members = append(members, object[from:j.p])
		}
	})
	return members
}

func writeMember(out *bufio.Writer, key, value string) {
	out.WriteString(`"` + key + `": "` + quote(value) + `"`)
}

// quote is the inside of the JSON string that spells text.
func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)           // names of C++ are full of angle brackets
	_ = e.Encode(scan.OneLine(text)) // no string fails
	return b.String()[1 : b.Len()-2]
}
