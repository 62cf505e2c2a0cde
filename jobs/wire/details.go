package wire

import (
	"bytes"
	"strconv"

	"github.com/symlake/symlake/formats/report"
)

// Bounds of the text between frames, in bytes: before the first frame, and before each other.
const (
	headBytes    = 16 << 10
	betweenBytes = 2 << 10
)

// Details writes, beside a stack's answers, facts of the report that a reader of the stack wants: names of threads and
// images, and the lines between frames. The zero value writes none.
type Details struct {
	On bool

	report *report.Report
	done   int  // bytes of the report's text that are written, or are frames
	began  bool // a frame has been written
	data   bool // the report is JSON: there are no lines
}

// stack writes the members of a stack.
func (d *Details) stack(j *JSON, s *report.Report) {
	if !d.On {
		return
	}
	first := bytes.TrimLeft(s.Text[:min(len(s.Text), 64)], " \t\r\n")
	*d = Details{On: true, report: s, data: len(first) > 0 && (first[0] == '{' || first[0] == '[' && s.Form.Kind != "")}
	if s.Arch != "" {
		j.String("arch", s.Arch)
	}
}

// thread writes the members of a thread.
func (d *Details) thread(j *JSON, t *report.Thread) {
	if !d.On {
		return
	}
	if t.ID != 0 {
		j.Value("id", func(to []byte) []byte { return strconv.AppendUint(to, t.ID, 10) })
	}
	if t.Name != "" {
		j.String("name", t.Name)
	}
	if t.Crashed {
		j.Value("crashed", func(to []byte) []byte { return append(to, "true"...) })
	}
}

// frame writes the members of a frame.
func (d *Details) frame(j *JSON, f *report.Frame) {
	if !d.On {
		return
	}
	if text := d.between(f); len(text) > 0 {
		j.Value("before", func(to []byte) []byte { return AppendString(to, text) })
	}
	if f.File != "" {
		j.String("image", f.File)
	}
	if len(f.Image) > 0 {
		j.Begin("asked", '[')
		for _, name := range f.Image {
			j.String("", name)
		}
		j.End()
	}
	if f.Arch != "" && f.Arch != d.report.Arch {
		j.String("arch", f.Arch)
	}
	if m := f.Managed; m != nil && m.Method == "" && m.Field == "" {
		j.Value("class", func(to []byte) []byte { return append(to, "true"...) })
	}
}

// between returns the whole lines from the frame before to this one: their end, if they are long; their beginning at
// the top of a report.
func (d *Details) between(f *report.Frame) []byte {
	from := d.done
	d.done = max(d.done, f.Span[1])
	top := !d.began
	d.began = true
	if d.data || f.Span[0] < from || f.Span[0] > len(d.report.Text) {
		return nil
	}
	text := d.report.Text[from:f.Span[0]]
	if !top { // the rest of the line of the frame before
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			return nil
		}
		text = text[i+1:]
	}
	text = bytes.Trim(text[:bytes.LastIndexByte(text, '\n')+1], "\r\n")
	switch {
	case top && len(text) > headBytes:
		text = text[:headBytes]
		text = text[:max(0, bytes.LastIndexByte(text, '\n'))]
	case !top && len(text) > betweenBytes:
		text = text[len(text)-betweenBytes:]
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil
	}
	return text
}
