package report

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// FrameRoom is about the memory of a frame with the bytes that it was read from.
const FrameRoom = 640

// Builder is the report that Split builds of single lines. The facts of a header outlive the reports
// that a dump is cut into.
type Builder struct {
	options Options
	strings map[string]string // names met in this report, so that equal ones are one
	images  images
	err     error // ends Split

	report *Report
	form   *Form // of report; nil: it has no frames
	frames int   // of report

	dump    bool   // below a header
	arch    string // as the header says
	thread  Thread // as announced: the name of the next one
	fresh   bool   // the next frame begins a thread
	running int    // frames of the current thread, also in reports that were handed out
	depth   int    // frames of the thread before: the next one is made for as many
	gap     bool   // an empty line stands behind the last frame

	found Found // in the line at hand
	at    int   // where the line that was kept last begins in the report's text
	whole int   // its bytes without the line end
}

// Options returns the options of Split.
func (b *Builder) Options() *Options { return &b.options }

// Report returns the report so far. Dialects may change the frames that they added.
func (b *Builder) Report() *Report { return b.report }

// Form returns the form of the report so far, nil if it has no frames.
func (b *Builder) Form() *Form { return b.form }

// Frames returns how many frames the report has so far.
func (b *Builder) Frames() int { return b.frames }

// Running returns how many lines of frames the current thread has, also in reports
// that were handed out.
func (b *Builder) Running() int { return b.running }

// InDump reports whether a header has begun a dump of several threads.
func (b *Builder) InDump() bool { return b.dump }

// AfterGap reports whether an empty line stands behind the last frame.
func (b *Builder) AfterGap() bool { return b.gap }

// At returns where the line that was kept last begins in the report's text.
func (b *Builder) At() int { return b.at }

// Fail ends Split with err behind the line at hand.
func (b *Builder) Fail(err error) { b.err = err }

// Intern returns text as a string; equal texts of a report are one string.
func (b *Builder) Intern(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	if known, ok := b.strings[string(text)]; ok {
		return known
	}
	s := string(text)
	b.strings[s] = s
	return s
}

// Add adds a frame to the current thread.
func (b *Builder) Add(f Frame) {
	t := &b.report.Threads[len(b.report.Threads)-1]
	if t.Frames == nil {
		t.Frames = make([]Frame, 0, min(b.depth, mostAhead/64))
	}
	t.Frames = append(t.Frames, f)
	b.depth = len(t.Frames)
	b.frames++
}

// Begin sets the report's form, and makes sure that it has the thread that the next frame belongs to.
func (b *Builder) Begin(f *Form) {
	b.report.Form, b.report.Arch, b.form = f, b.arch, f
	if b.fresh || b.running == 0 {
		b.running = 0
	} else if len(b.report.Threads) > 0 {
		return
	}
	b.report.Threads = append(b.report.Threads, b.thread)
	b.fresh = false
}

// before returns the line that was kept last, without marks of quoting.
func (b *Builder) before() []byte {
	t := b.report.Text
	if len(t) == 0 {
		return nil
	}
	t = t[bytes.LastIndexByte(t[:len(t)-1], '\n')+1:]
	if n := scan.QuoteMarks(t); n > 0 {
		t = bytes.TrimPrefix(t[n:], []byte{' '})
	}
	return t
}

// keep appends a line to the report's text; its first whole bytes are the line without its end.
func (b *Builder) keep(line []byte, whole int) {
	b.at, b.whole = len(b.report.Text), whole
	b.report.Text = append(b.report.Text, line...)
}

// Stepper moves addresses of a frame to where they are looked up.
type Stepper struct {
	arch string
	back bool // addresses are return addresses
}

// Step returns v without the bits that are no address, moved back into the call if v is a return address.
func (s Stepper) Step(v uint64) uint64 {
	v = Strip(s.arch, v)
	if s.back {
		v = Step(s.arch, v)
	}
	return v
}

// Frame makes a frame of a place in the line that was kept last, and returns the step of its addresses.
func (b *Builder) Frame(p *Place) (Frame, Stepper) {
	img := b.images.of(p)
	end := p.End
	if end == 0 {
		end = b.whole
	}
	f := Frame{
		Span:      [2]int{b.at + p.Start, b.at + end},
		Image:     img.names,
		File:      img.file,
		Container: img.container,
		Offset:    p.Mapped,
		Arch:      p.Arch,
		Raw:       p.PC,
		Kind:      b.found.Form.Kind,
		Layout:    Layout{Indent: p.Tail - p.Start},
	}
	if f.Arch == "" {
		f.Arch = b.arch
	}
	if p.Kind != "" {
		f.Kind = p.Kind
	}
	if !p.Named {
		f.Image = b.options.Artifacts
	}
	values := b.options.Frame0
	if values == AsFormat {
		values = b.form.Frame0
		if p.Values != AsFormat {
			values = p.Values
		}
	}
	step := Stepper{arch: f.Arch, back: values == Return || values == Exact && b.running > 0}
	switch {
	case p.Function != nil:
		f.At = symbol.Where{Space: symbol.Anchored, Value: step.Step(p.PC), Anchor: b.Intern(p.Function)}
		if p.InFile {
			f.Or = []symbol.Where{{Space: symbol.FileOffset, Value: step.Step(p.FileAt)}, {Space: symbol.Unslid, Value: step.Step(p.FileAt)}}
		}
		if p.Abs != 0 {
			f.Raw = p.Abs
		}
	case p.InFile:
		f.At = symbol.Where{Space: symbol.FileOffset, Value: step.Step(p.FileAt)}
		f.Or = []symbol.Where{{Space: symbol.Unslid, Value: step.Step(p.FileAt)}} // of artifacts that keep no segments
	case p.Space == symbol.Loaded: // the line does not say where the image was mapped
		f.At = symbol.Where{Space: symbol.Loaded, Value: step.Step(p.PC), Load: Nowhere}
	default:
		f.At = symbol.Where{Space: p.Space, Value: step.Step(p.PC)}
	}
	return f, step
}
