package report

import (
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// swiftReport is a report before frames can be told apart by image.
type swiftReport struct {
	form    *Form
	arch    string
	kind    symbol.Kind // of the platform's images; "": not said
	images  appleImages
	threads []swiftThread
}

type swiftThread struct {
	id      uint64
	name    string
	frames  []swiftFrame
	inlined int // since the last frame
}

// swiftFrame is a frame as reported. Its address is never stepped: kind says what it is.
type swiftFrame struct {
	span   [2]int
	indent int
	addr   uint64
	kind   swiftKind
	image  string // as the frame says; ""
	above  int    // see Frame
}

type swiftKind uint8

const (
	swiftExact  swiftKind = iota // a program counter, or where an asynchronous function goes on
	swiftReturn                  // a return address
	swiftInlined
)

// take takes a frame, or one that was inlined into the next.
func (t *swiftThread) take(f swiftFrame) {
	if f.kind == swiftInlined {
		t.inlined++
		return
	}
	f.above, t.inlined = t.inlined, 0
	if len(t.frames) < MaxFrames {
		t.frames = append(t.frames, f)
	}
}

// stack makes frames of what was gathered; nil if there are none.
func (r *swiftReport) stack(text []byte, o Options) *Report {
	r.images.sort()
	s := &Report{Form: r.form, Text: text, Arch: r.arch}
	n := 0
	for _, t := range r.threads {
		out := Thread{ID: t.id, Name: t.name}
		for i := range t.frames {
			if n++; n > MaxDocumentFrames || len(out.Frames) == MaxFrames {
				break
			}
			f := &t.frames[i]
			step := f.kind == swiftReturn
			if o.Frame0 != AsFormat {
				step = o.Frame0 == Return || o.Frame0 == Exact && i > 0
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

func (r *swiftReport) frame(f *swiftFrame, step bool) Frame {
	out := Frame{Span: f.span, Layout: Layout{Indent: f.indent, Above: f.above}, Kind: r.kind, Arch: r.arch, Raw: f.addr, File: f.image}
	value := Strip(r.arch, f.addr)
	if step {
		value = Step(r.arch, value)
	}
	out.At = symbol.Where{Space: symbol.Loaded, Value: value, Load: Nowhere}
	img := r.images.at(value)
	if img == nil {
		img = r.images.named(f.image) // the end of what holds code is all that is said
		if img != nil && img.start > value {
			img = nil
		}
	}
	if img != nil {
		out.At.Load = img.start
		if out.File = img.path; out.File == "" {
			out.File = img.name
		}
		if img.uuid != "" {
			out.Image = append(out.Image, img.uuid)
		}
	}
	if name := scan.Base([]byte(out.File)); len(name) > 0 {
		out.Image = append(out.Image, string(name))
	}
	return out
}
