package report

import (
	"bufio"
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// readDatadog reads an error as Datadog's libraries for Apple's systems send it: stacks as text in strings,
// one for the error and one a thread, beside "binary_images" (rum-events-format's error schema).
func readDatadog(text []byte, o Options) *Report {
	e := datadog{&jsonText{b: text}, &appleReport{form: datadogError}}
	e.object(func(key string) {
		switch key {
		case "binary_images":
			e.array(func(int) { e.image() })
		case "threads":
			e.array(func(int) {
				var t appleThread
				e.object(func(key string) { e.member(key, &t) })
				e.r.threads = append(e.r.threads, t)
			})
		default:
			var t appleThread
			if e.member(key, &t); len(t.frames) > 0 {
				e.r.threads = append(e.r.threads, t)
			}
		}
	})
	if e.broken() || len(e.r.images) == 0 {
		return nil
	}
	return e.r.stack(text, o)
}

type datadog struct {
	*jsonText
	r *appleReport
}

// member reads what an error and a thread have alike.
func (e datadog) member(key string, t *appleThread) {
	switch key {
	case "name":
		t.name = e.text()
	case "stack":
		if e.peek() != '"' {
			return
		}
		at := e.p
		scan.EachLine(unescaped(e.raw()), func(from int, line []byte) {
			if f, _, ok := parseAppleFrame(line); ok && f.based && len(t.frames) < MaxDocumentFrames {
				f.span[0] += at + from
				f.span[1] += at + from
				t.frames = append(t.frames, f)
			}
		})
	}
}

// unescaped is a string's text without its quotes and with line ends and tabs as they are, each byte
// where it stood.
func unescaped(raw []byte) []byte {
	plain := bytes.Clone(raw)
	for i := range plain {
		if c := plain[i]; c == '"' {
			plain[i] = ' '
		} else if c == '\\' && i+1 < len(plain) {
			plain[i] = ' '
			switch plain[i+1] {
			case 'n':
				plain[i+1] = '\n'
			case 't', 'r', '\\':
				plain[i+1] = ' '
			}
		}
	}
	return plain
}

// image reads an image, whose addresses are hexadecimal without a mark.
func (e datadog) image() {
	var img appleImage
	address := func() uint64 {
		v, _, _ := scan.Hex(bytes.TrimPrefix([]byte(e.text()), scan.HexMark), 0)
		return v
	}
	e.object(func(key string) {
		switch key {
		case "uuid":
			s := e.text()
			img.uuid, _, _ = scan.UUID([]byte(s), 0)
		case "name":
			img.name = e.text()
		case "load_address":
			img.start = address()
		case "max_address":
			img.end = address()
		case "arch":
			img.arch = AppleArch(e.text())
		}
	})
	if e.r.arch == "" {
		e.r.arch = img.arch
	}
	if img.start > 0 {
		e.r.images = append(e.r.images, img)
	}
}

// printDatadog writes answers within the strings, as atos prints them.
func printDatadog(out *bufio.Writer, s *Report, answers [][]symbol.Answer) {
	done := 0
	var written bytes.Buffer
	each(s, answers, func(f *Frame, chain []symbol.Frame) {
		out.Write(s.Text[done : f.Span[0]+f.Layout.Indent])
		done = f.Span[1]
		for i := range chain {
			if i > 0 {
				out.WriteString(`\n`)
				for range f.Layout.Indent {
					out.WriteByte(' ')
				}
			}
			written.Reset()
			one := bufio.NewWriter(&written)
			writeApple(one, f, &chain[i])
			_ = one.Flush() // to memory
			out.WriteString(quote(written.String()))
		}
	})
	out.Write(s.Text[done:])
}
