// Package crash is the parts of crash reports that several dialects share: lists of images, frames by address
// before their images are known, and answers that stand behind addresses or within objects of JSON.
package crash

import (
	"cmp"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Loaded is what the readers of Apple's reports gather before frames can
// be told apart by image: the list of those may stand behind them.
type Loaded struct {
	Form    *report.Form
	Arch    string // of the process
	OS      string // its name, as printed
	Images  Images
	Threads []LoadedThread
}

// LoadedThread is a thread as reported.
type LoadedThread struct {
	ID      uint64
	Name    string
	Crashed bool
	Returns bool // also the first frame is a return address: the backtrace of an exception
	Frames  []LoadedFrame
	inlined int // objects since the last frame, see object
	over    int // frames that Object has left out
}

// LoadedFrame is a frame as reported. Byte slices and offsets are of the report's text.
type LoadedFrame struct {
	Span    [2]int
	Indent  int
	Tail    int    // see Frame
	above   int    // see Frame
	Among   bool   // others stand in its line
	Number  int    // -1: none
	stopped bool   // a debugger's: the first of a thread is where it stands
	Name    []byte // of the image, or nil
	Addr    uint64
	Image   int    // index into images, -1: to be found
	Load    uint64 // of the image, if based
	Based   bool
	symbol  []byte // that offset counts from, or nil
	Offset  uint64
	UUID    string
}

// Object takes a frame's object, or an object that an earlier run added for a function inlined at the next.
func (t *LoadedThread) Object(f LoadedFrame, inlined bool) {
	if inlined {
		t.inlined++
		return
	}
	f.above, t.inlined = t.inlined, 0
	if len(t.Frames) < report.MaxDocumentFrames {
		t.Frames = append(t.Frames, f)
	} else {
		t.over++
	}
}

// Report makes frames of the threads, and a stack of text; nil if there
// are no frames.
func (r *Loaded) Report(text []byte, o report.Options) *report.Report {
	lists := r.Images
	sorted := slices.Clone(r.Images)
	sorted.Sort()
	s := &report.Report{Form: r.Form, Text: text, Arch: r.Arch}
	only := r.onlyName(sorted)
	n := 0
	for _, t := range r.Threads {
		out := report.Thread{ID: t.ID, Name: t.Name, Crashed: t.Crashed}
		s.LeaveOut(t.over)
		for i := range t.Frames {
			if n++; n > report.MaxDocumentFrames || len(out.Frames) == report.MaxFrames {
				s.LeaveOut(len(t.Frames) - i)
				break
			}
			kind := o.Frame0
			switch {
			case kind != report.AsFormat:
			case t.Returns:
				kind = report.Return
			case t.Frames[0].stopped:
				kind = report.Exact
			default:
				kind = r.Form.Frame0
			}
			f := &t.Frames[i]
			step := kind == report.Return || kind == report.Exact && i > 0
			var listed *Image
			if f.Image >= 0 && f.Image < len(lists) {
				listed = &lists[f.Image]
				f.Addr, f.Load, f.Based = listed.Start+f.Offset, listed.Start, true
			}
			made := r.frame(f, listed, sorted, step)
			if len(made.Image) == 0 && len(f.Name) == 0 && f.Image < 0 {
				made.Image = o.Artifacts
			} else if f.UUID == "" && only != "" && string(f.Name) == only {
				made.Image = append(made.Image, o.Artifacts...)
			}
			out.Frames = append(out.Frames, made)
		}
		s.AddThread(out)
	}
	if len(s.Threads) == 0 {
		return nil
	}
	slices.SortStableFunc(s.Threads, func(a, b report.Thread) int { return cmp.Compare(a.Frames[0].Span[0], b.Frames[0].Span[0]) })
	return s
}

// onlyName is the name of the one image that frames without an identity name,
// "" if there are several: then Options.Artifacts cannot mean all of them.
func (r *Loaded) onlyName(images Images) string {
	only := ""
	for _, t := range r.Threads {
		for i := range t.Frames {
			f := &t.Frames[i]
			if f.UUID != "" || len(f.Name) == 0 || images.At(f.Addr) != nil {
				continue
			}
			if only != "" && only != string(f.Name) {
				return ""
			}
			only = string(f.Name)
		}
	}
	return only
}

// frame finds the image of f, listed or by its address, and its place in it.
func (r *Loaded) frame(f *LoadedFrame, listed *Image, images Images, step bool) report.Frame {
	out := report.Frame{Span: f.Span, Layout: report.Layout{Indent: f.Indent, Tail: f.Tail, Among: f.Among, Above: f.above}, Kind: symbol.MachO, Raw: f.Addr}
	value := r.strip(f.Addr, images)
	img := listed
	if img == nil {
		img = images.of(f, value)
	}
	uuid := f.UUID
	if img != nil {
		out.File, out.Arch = img.Path, img.Arch
		if out.File == "" {
			out.File = img.Name
		}
		if uuid == "" {
			uuid = img.UUID
		}
	}
	if out.File == "" && len(f.Name) > 0 && string(f.Name) != "???" {
		out.File = string(f.Name)
	}
	if out.Arch == "" {
		out.Arch = r.Arch
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
		return report.Step(out.Arch, v)
	}
	anchor := symbol.DartAnchor(string(f.symbol))
	inSnapshot := symbol.Where{Space: symbol.Anchored, Value: back(f.Offset), Anchor: anchor}
	switch {
	case f.Based:
		if value-f.Load != f.Offset && f.Offset != 0 {
			value = f.Load + f.Offset // the address is cut, or holds more than an address
		}
		out.At = symbol.Where{Space: symbol.Loaded, Value: back(value), Load: f.Load}
	case img != nil && img.Start <= value:
		out.At = symbol.Where{Space: symbol.Loaded, Value: back(value), Load: img.Start}
		if anchor != "" {
			out.Or = []symbol.Where{inSnapshot}
		}
	case anchor != "":
		out.At = inSnapshot
	case f.symbol != nil:
		out.At = symbol.Where{Space: symbol.Anchored, Value: f.Offset, Anchor: string(f.symbol)}
	default:
		out.At = symbol.Where{Space: symbol.Loaded, Value: value, Load: report.Nowhere}
	}
	return out
}

// of returns the image of a frame at value: by the frame's load address, else by value, else by the frame's name.
func (l Images) of(f *LoadedFrame, value uint64) *Image {
	if f.Based {
		if img := l.based(f.Load); img != nil {
			return img
		}
	}
	if img := l.At(value); img != nil && !(f.Based && img.End == 0) { // without an end, the frame's own base counts
		return img
	}
	if len(f.Name) > 0 && !f.Based {
		return l.named(string(f.Name))
	}
	return nil
}

// strip takes the authentication code off a pointer that lies in no image:
// user space ends at 2^36 on the systems of hand-held devices and at 2^47 on macOS.
func (r *Loaded) strip(addr uint64, images Images) uint64 {
	if symbol.ArchFamily(r.Arch) != "arm64" || images.At(addr) != nil {
		return addr
	}
	mac := addr & (1<<47 - 1)
	if strings.HasPrefix(strings.ToLower(r.OS), "mac") || images.At(mac) != nil {
		return mac
	}
	small := addr & (1<<36 - 1)
	if r.OS == "" && images.At(small) == nil {
		return mac
	}
	return small
}
