package event

import (
	"bufio"
	"bytes"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
	"github.com/symlake/symlake/formats/symbol"
)

// readDatadog reads an error as Datadog's libraries for Apple's systems send it: stacks as text in strings,
// one for the error and one a thread, beside "binary_images" (rum-events-format's error schema).
func readDatadog(text []byte, o report.Options) *report.Report {
	e := datadog{&json.Walker{Bytes: text}, &crash.Loaded{Form: datadogError}}
	e.Object(func(key string) {
		switch key {
		case "binary_images":
			e.Array(func(int) { e.image() })
		case "threads":
			e.Array(func(int) {
				var t crash.LoadedThread
				e.Object(func(key string) { e.member(key, &t) })
				e.r.Threads = append(e.r.Threads, t)
			})
		default:
			var t crash.LoadedThread
			if e.member(key, &t); len(t.Frames) > 0 {
				e.r.Threads = append(e.r.Threads, t)
			}
		}
	})
	if e.Broken() || len(e.r.Images) == 0 {
		return nil
	}
	return e.r.Report(text, o)
}

type datadog struct {
	*json.Walker
	r *crash.Loaded
}

// member reads what an error and a thread have alike.
func (e datadog) member(key string, t *crash.LoadedThread) {
	switch key {
	case "name":
		t.Name = e.Text()
	case "crashed":
		t.Crashed = e.IsTrue()
	case "stack":
		if e.Peek() != '"' {
			return
		}
		at := e.Pos
		scan.EachLine(unescaped(e.Raw()), func(from int, line []byte) {
			if f, _, ok := crash.ParseFrame(line); ok && f.Based && len(t.Frames) < report.MaxDocumentFrames {
				f.Span[0] += at + from
				f.Span[1] += at + from
				t.Frames = append(t.Frames, f)
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

// image reads an image. Its addresses are hexadecimal without a mark.
func (e datadog) image() {
	var img crash.Image
	address := func() uint64 {
		v, _, _ := scan.Hex(bytes.TrimPrefix([]byte(e.Text()), scan.HexMark), 0)
		return v
	}
	e.Object(func(key string) {
		switch key {
		case "uuid":
			s := e.Text()
			img.UUID, _, _ = scan.UUID([]byte(s), 0)
		case "name":
			img.Name = e.Text()
		case "load_address":
			img.Start = address()
		case "max_address":
			img.End = address()
		case "arch":
			img.Arch = report.AppleArch(e.Text())
		}
	})
	if e.r.Arch == "" {
		e.r.Arch = img.Arch
	}
	if img.Start > 0 {
		e.r.Images = append(e.r.Images, img)
	}
}

// printDatadog writes answers within the strings, as atos prints them.
func printDatadog(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
	done := 0
	var written bytes.Buffer
	report.Each(s, answers, func(f *report.Frame, chain []symbol.Frame) {
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
			crash.WriteAtos(one, f, &chain[i])
			_ = one.Flush() // to memory
			out.WriteString(json.Quote(written.String()))
		}
	})
	out.Write(s.Text[done:])
}
