package report

import (
	"cmp"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// appleReport is what the readers of Apple's reports gather before frames can
// be told apart by image: the list of those may stand behind them.
type appleReport struct {
	form    *Form
	arch    string // of the process
	system  string // its name, as printed
	images  appleImages
	threads []appleThread
}

// appleThread is a thread as reported.
type appleThread struct {
	id      uint64
	name    string
	returns bool // also the first frame is a return address: the backtrace of an exception
	frames  []appleFrame
	inlined int // objects since the last frame, see object
}

// appleFrame is a frame as reported. Byte slices and offsets are of the report's text.
type appleFrame struct {
	span    [2]int
	indent  int
	tail    int    // see Frame
	above   int    // see Frame
	among   bool   // others stand in its line
	number  int    // -1: none
	stopped bool   // a debugger's: the first of a thread is where it stands
	name    []byte // of the image, or nil
	addr    uint64
	image   int    // index into images, -1: to be found
	load    uint64 // of the image, if based
	based   bool
	symbol  []byte // that offset counts from, or nil
	offset  uint64
	uuid    string
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

// stack makes frames of what was gathered, and a stack of text; nil if there
// are no frames.
func (r *appleReport) stack(text []byte, o Options) *Report {
	lists := r.images
	sorted := slices.Clone(r.images)
	sorted.sort()
	s := &Report{Form: r.form, Text: text, Arch: r.arch}
	only := r.onlyName(sorted)
	n := 0
	for _, t := range r.threads {
		out := Thread{ID: t.id, Name: t.name}
		for i := range t.frames {
			if n++; n > MaxDocumentFrames || len(out.Frames) == MaxFrames {
				break
			}
			kind := o.Frame0
			switch {
			case kind != AsFormat:
			case t.returns:
				kind = Return
			case t.frames[0].stopped:
				kind = Exact
			default:
				kind = r.form.Frame0
			}
			f := &t.frames[i]
			step := kind == Return || kind == Exact && i > 0
			var listed *appleImage
			if f.image >= 0 && f.image < len(lists) {
				listed = &lists[f.image]
				f.addr, f.load, f.based = listed.start+f.offset, listed.start, true
			}
			made := r.frame(f, listed, sorted, step)
			if len(made.Image) == 0 && len(f.name) == 0 && f.image < 0 {
				made.Image = o.Artifacts
			} else if f.uuid == "" && only != "" && string(f.name) == only {
				made.Image = append(made.Image, o.Artifacts...)
			}
			out.Frames = append(out.Frames, made)
		}
		s.AddThread(out)
	}
	if len(s.Threads) == 0 {
		return nil
	}
	slices.SortStableFunc(s.Threads, func(a, b Thread) int { return cmp.Compare(a.Frames[0].Span[0], b.Frames[0].Span[0]) })
	return s
}

// onlyName is the name of the one image that frames without an identity name,
// "" if there are several: then Options.Artifacts cannot mean all of them.
func (r *appleReport) onlyName(images appleImages) string {
	only := ""
	for _, t := range r.threads {
		for i := range t.frames {
			f := &t.frames[i]
			if f.uuid != "" || len(f.name) == 0 || images.at(f.addr) != nil {
				continue
			}
			if only != "" && only != string(f.name) {
				return ""
			}
			only = string(f.name)
		}
	}
	return only
}

// frame finds the image of f, listed or by its address, and its place in it.
func (r *appleReport) frame(f *appleFrame, listed *appleImage, images appleImages, step bool) Frame {
	out := Frame{Span: f.span, Layout: Layout{Indent: f.indent, Tail: f.tail, Among: f.among, Above: f.above}, Kind: symbol.MachO, Raw: f.addr}
	value := r.strip(f.addr, images)
	img := listed
	if img == nil && f.based {
		img = images.based(f.load)
	}
	if img == nil {
		if img = images.at(value); img != nil && f.based && img.end == 0 {
			img = nil // the list does not say that it reaches that far, and the frame that it does not
		}
	}
	if img == nil && len(f.name) > 0 && !f.based {
		img = images.named(string(f.name))
	}
	uuid := f.uuid
	if img != nil {
		out.File, out.Arch = img.path, img.arch
		if out.File == "" {
			out.File = img.name
		}
		if uuid == "" {
			uuid = img.uuid
		}
	}
	if out.File == "" && len(f.name) > 0 && string(f.name) != "???" {
		out.File = string(f.name)
	}
	if out.Arch == "" {
		out.Arch = r.arch
	}
	if uuid != "" {
		out.Image = append(out.Image, uuid)
	}
	if name := scan.Base([]byte(out.File)); len(name) > 0 {
		out.Image = append(out.Image, string(name))
	}
	back := func(v uint64) uint64 {
		if !step {
			return v
		}
		return Step(out.Arch, v)
	}
	anchor := symbol.DartAnchor(string(f.symbol))
	inSnapshot := symbol.Where{Space: symbol.Anchored, Value: back(f.offset), Anchor: anchor}
	switch {
	case f.based:
		if value-f.load != f.offset && f.offset != 0 {
			value = f.load + f.offset // the address is cut, or holds more than an address
		}
		out.At = symbol.Where{Space: symbol.Loaded, Value: back(value), Load: f.load}
	case img != nil && img.start <= value:
		out.At = symbol.Where{Space: symbol.Loaded, Value: back(value), Load: img.start}
		if anchor != "" {
			out.Or = []symbol.Where{inSnapshot}
		}
	case anchor != "":
		out.At = inSnapshot
	case f.symbol != nil:
		out.At = symbol.Where{Space: symbol.Anchored, Value: f.offset, Anchor: string(f.symbol)}
	default:
		out.At = symbol.Where{Space: symbol.Loaded, Value: value, Load: Nowhere}
	}
	return out
}

// strip takes the authentication code off a pointer that lies in no image:
// user space ends at 2^36 on the systems of hand-held devices and at 2^47 on macOS.
func (r *appleReport) strip(addr uint64, images appleImages) uint64 {
	if symbol.ArchFamily(r.arch) != "arm64" || images.at(addr) != nil {
		return addr
	}
	mac := addr & (1<<47 - 1)
	if strings.HasPrefix(strings.ToLower(r.system), "mac") || images.at(mac) != nil {
		return mac
	}
	small := addr & (1<<36 - 1)
	if r.system == "" && images.at(small) == nil {
		return mac
	}
	return small
}
