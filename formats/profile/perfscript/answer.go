package perfscript

import (
	"bufio"
	"context"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/internal/places"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// image is a file, or a mapping of it.
type image struct {
	file, id string
	mapped   *symbol.Mapping
}

// images are the files of a text.
type images struct {
	all  []image
	of   map[string]uint32 // by file: without a mapping
	maps map[string][]int  // by file: mappings
	in   map[int]*mapping  // mappings, by the number of their image
}

const mostMappings = 1 << 16

// add notes a mapping.
func (s *images) add(m *mapping) {
	if len(s.all) >= mostMappings || m.file == "" || m.file[0] == '[' || strings.HasPrefix(m.file, "//anon") {
		return
	}
	n := len(s.all)
	s.all = append(s.all, image{m.file, m.id, &symbol.Mapping{Offset: m.offset, Size: m.size}})
	kept := *m
	s.in[n] = &kept
	s.maps[m.file] = append(s.maps[m.file], n)
}

// place returns the place of a frame: its image, and the offset in its file. ok is false if it cannot be told.
func (s *images) place(f *frame, pid int64) (p places.Place, ok bool) {
	if !f.canAsk() {
		return p, false
	}
	offset := f.address
	if f.isOffset {
		offset = f.offset
	}
	for _, n := range s.maps[f.file] {
		m := s.in[n]
		if !f.isOffset && m.pid == pid && f.address >= m.start && f.address-m.start < m.size { // a run-time address
			return places.Place{Image: uint32(n), Address: f.address - m.start + m.offset}, true
		}
	}
	for _, n := range s.maps[f.file] {
		if m := s.in[n]; offset >= m.offset && offset-m.offset < m.size {
			return places.Place{Image: uint32(n), Address: offset}, true
		}
	}
	if offset >= farthest { // of the run, and no line says where the file was mapped
		return p, false
	}
	n, known := s.of[f.file]
	if !known {
		if len(s.all) >= mostMappings {
			return p, false
		}
		n = uint32(len(s.all))
		s.of[f.file] = n
		s.all = append(s.all, image{file: f.file})
	}
	return places.Place{Image: n, Address: offset}, true
}

// farthest is above all offsets of files.
const farthest = 1 << 38

// question returns the question for a place.
func (s *images) question(p places.Place) (report.Frame, bool) {
	m := &s.all[p.Image]
	f := report.Frame{Kind: symbol.ELF, File: m.file, Raw: p.Address, At: symbol.Where{Space: symbol.FileOffset, Value: p.Address, Mapped: m.mapped}}
	if m.id != "" {
		f.Image = append(f.Image, m.id)
	}
	if i := strings.IndexByte(m.file, '!'); i > 0 && i < len(m.file)-1 {
		f.Container, f.File = m.file[:i], m.file[i+1:]
	}
	f.Image = append(f.Image, path.Base(f.File))
	return f, true
}

// stepped returns the place of a frame, in the call for a return address.
func (s *images) stepped(f *frame, back bool, pid int64) (places.Place, bool) {
	p, ok := s.place(f, pid)
	if back && p.Address > 0 {
		p.Address--
	}
	return p, ok
}

// wants reports whether a frame is asked for: it has no name, or perf's from the table of symbols, which counts an offset behind it
// and knows no inlined functions. above says that such functions stand above the frame; it is set for the next one.
func wants(f *frame, above *bool) bool {
	was := *above
	*above = f.inlined
	return !f.inlined && (f.name == "" || f.counted && !was)
}

// answer writes a text with answers, in perf's own words.
func answer(ctx context.Context, in *profile.Input, out io.Writer, o *profile.Options) error {
	s := &images{of: map[string]uint32{}, maps: map[string][]int{}, in: map[int]*mapping{}}
	set := places.New(o.Room() / 2)
	pid := int64(0)
	var above bool
	read := &visitor{
		mapping: func(m *mapping) error { s.add(m); return nil },
		header:  func(h *header) error { pid = h.pid; o.Counts.Samples++; return nil },
	}
	read.frame = func(f *frame, back bool) error {
		if is := wants(f, &above); !is {
			if !f.inlined && f.name != "" {
				o.Counts.Named++
			}
			return nil
		}
		if p, ok := s.stepped(f, back, pid); ok {
			if _, ok := set.Add(p); !ok {
				o.Counts.Keep("the text has more places than memory holds, and the last frames stay", "frames")
			}
		}
		return nil
	}
	if err := each(ctx, in, read); err != nil {
		return err
	}
	room := o.Room() / 2
	lines := make([]string, set.Len())
	known := map[string]string{}
	err := set.Ask(ctx, o, places.Asking{Question: s.question, Answer: func(id int, _ places.Place, a *symbol.Answer) error {
		if a.Status != symbol.Found || len(a.Frames) == 0 {
			return nil
		}
		text := written(a)
		kept, is := known[text]
		if !is {
			if room -= int64(len(text) + 64); room < 0 {
				o.Counts.Keep("the names take more than memory holds, and the last frames stay", "frames")
				return nil
			}
			kept = text
			known[text] = text
		}
		lines[id] = kept
		return nil
	}})
	if err != nil {
		return err
	}
	return write(ctx, in, out, s, set, lines)
}

// written returns the answer's functions, innermost first, each with a line for its place in the source. "\x00" stands for the
// address, and "\x01" for the file.
func written(a *symbol.Answer) string {
	var b strings.Builder
	for i := range a.Frames {
		f := &a.Frames[i]
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("\x00" + oneLine(f.Readable()))
		if i < len(a.Frames)-1 {
			b.WriteString(" (inlined)")
		} else {
			b.WriteString("\x01")
		}
		if f.File != "" && f.Line > 0 {
			b.WriteString("\n  " + oneLine(f.File) + ":" + strconv.FormatUint(uint64(f.Line), 10))
		}
	}
	return b.String()
}

// oneLine is a name without bytes that would end its line.
func oneLine(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' {
			return '?'
		}
		return r
	}, name)
}

// write writes the text again, with the lines of answers in place of their frames'.
func write(ctx context.Context, in *profile.Input, out io.Writer, s *images, set *places.Set, lines []string) error {
	w := bufio.NewWriterSize(out, 64<<10)
	pid := int64(0)
	above := false
	var held []byte // the line at hand, not written yet
	flush := func() error { _, err := w.Write(held); held = held[:0]; return err }
	v := &visitor{
		line:   func(line []byte) error { err := flush(); held = append(held, line...); return err },
		header: func(h *header) error { pid = h.pid; return nil },
	}
	v.frame = func(f *frame, back bool) error {
		p, ok := s.stepped(f, back, pid)
		if !wants(f, &above) || !ok {
			return nil
		}
		id := set.Find(p)
		if id == places.None || lines[id] == "" {
			return nil
		}
		text, end := string(held), len(trimmed(held))
		at := strings.LastIndex(text, " ("+f.file)
		hex := strconv.FormatUint(f.address, 16)
		begin := strings.LastIndex(text[:max(at, 0)], hex)
		if at < 0 || begin < 0 {
			return nil
		}
		named := strings.NewReplacer("\x00", "\t"+hex+" ", "\x01", text[at:end]).Replace(lines[id])
		if strings.TrimSpace(text[:begin]) == "" { // a line of its own
			held = append(append(held[:0], named...), text[end:]...)
			return nil
		}
		held = append([]byte(strings.TrimRight(text[:begin], " ")+"\n"), named...)
		held = append(held, '\n')
		return nil
	}
	if err := each(ctx, in, v); err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	return w.Flush()
}
