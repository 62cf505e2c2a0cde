package crash

import (
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Marked is a report before frames can be told apart by image.
type Marked struct {
	Form    *report.Form
	Arch    string
	Kind    symbol.Kind // of the platform's images; "": not said
	Images  Images
	Threads []MarkedThread
}

// MarkedThread is a thread as reported.
type MarkedThread struct {
	ID      uint64
	Name    string
	Crashed bool
	Frames  []MarkedFrame
	Inlined int // since the last frame
	over    int // frames that Take has left out
}

// MarkedFrame is a frame as reported. Its address is never stepped: kind says what it is.
type MarkedFrame struct {
	Span   [2]int
	Indent int
	Addr   uint64
	Kind   Mark
	Image  string // as the frame says; ""
	Above  int    // see Frame
}

// Mark says what the address of a frame is.
type Mark uint8

// The marks of addresses.
const (
	Exact  Mark = iota // a program counter, or where an asynchronous function goes on
	Return             // a return address
	Inlined
)

// Take takes a frame, or notes that a function was inlined into the next.
func (t *MarkedThread) Take(f MarkedFrame) {
	if f.Kind == Inlined {
		t.Inlined++
		return
	}
	f.Above, t.Inlined = t.Inlined, 0
	if len(t.Frames) < report.MaxFrames {
		t.Frames = append(t.Frames, f)
	} else {
		t.over++
	}
}

// Report makes frames of the threads; nil if there are none.
func (r *Marked) Report(text []byte, o report.Options) *report.Report {
	r.Images.Sort()
	s := &report.Report{Form: r.Form, Text: text, Arch: r.Arch}
	n := 0
	for _, t := range r.Threads {
		out := report.Thread{ID: t.ID, Name: t.Name, Crashed: t.Crashed}
		s.LeaveOut(t.over)
		for i := range t.Frames {
			if n++; n > report.MaxDocumentFrames || len(out.Frames) == report.MaxFrames {
				s.LeaveOut(len(t.Frames) - i)
				break
			}
			f := &t.Frames[i]
			step := f.Kind == Return
			if o.Frame0 != report.AsFormat {
				step = o.Frame0 == report.Return || o.Frame0 == report.Exact && i > 0
			}
			made := r.frame(f, step)
			if len(made.Image) == 0 {
				made.Image = o.Artifacts
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

func (r *Marked) frame(f *MarkedFrame, step bool) report.Frame {
	out := report.Frame{Span: f.Span, Layout: report.Layout{Indent: f.Indent, Above: f.Above}, Kind: r.Kind, Arch: r.Arch, Raw: f.Addr, File: f.Image}
	value := report.Strip(r.Arch, f.Addr)
	if step {
		value = report.Step(r.Arch, value)
	}
	out.At = symbol.Where{Space: symbol.Loaded, Value: value, Load: report.Nowhere}
	img := r.Images.At(value)
	if img == nil {
		img = r.Images.named(f.Image) // the end of what holds code is all that is said
		if img != nil && img.Start > value {
			img = nil
		}
	}
	if img != nil {
		out.At.Load = img.Start
		if out.File = img.Path; out.File == "" {
			out.File = img.Name
		}
		if img.UUID != "" {
			out.Image = append(out.Image, img.UUID)
		}
	}
	if name := scan.Base([]byte(out.File)); len(name) > 0 {
		out.Image = append(out.Image, string(name))
	}
	return out
}
