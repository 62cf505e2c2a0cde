package shape

import (
	"bufio"
	"bytes"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
	"github.com/symlake/symlake/formats/symbol"
)

// crashText is the Frame.Detail of a line of a crash report in a string.
type crashText struct{}

// texts reads the lines of crash reports in a string, of rows that keep stacks so. Their images are the event's.
func (e *walk) texts(from, to int) {
	for _, s := range e.shapes {
		if s.Texts == "" || !e.at(s, ofText) || !bytes.Contains(e.Bytes[from:to], scan.HexMark) {
			continue
		}
		in := list{thread: -1}
		scan.EachLine(unescaped(e.Bytes[from:to]), func(start int, line []byte) {
			if f, _, ok := crash.ParseFrame(line); ok && f.Based {
				f.Name = bytes.Clone(f.Name)
				f.Span = [2]int{f.Span[0] + from + start, f.Span[1] + from + start}
				e.addFrame(&in, frame{span: f.Span, shape: s, line: &f})
			}
		})
		if in.thread >= 0 {
			return
		}
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

// writeText writes answers within a string, as atos prints them.
func writeText(out *bufio.Writer, f *report.Frame, chain []symbol.Frame) {
	var written bytes.Buffer
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
}
