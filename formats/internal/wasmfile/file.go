// Package wasmfile reads the binary format of WebAssembly: the sections of a module, its functions and their names, and
// the modules in a component.
//
// It leaves DWARF to formats/internal/dwarf, and identity to formats/wasm.
//
// Invariants:
//   - a number that is no LEB128 of its width, or a count without room for what it counts, rejects the file;
//   - the name section is a custom section: names before a damaged place count, and the file stands;
//   - addresses of DWARF count from the first byte of the code section's contents ([File.CodeStart]).
package wasmfile

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/native"
)

// name of the format, in errors.
const name = "wasm"

const (
	headBytes = 8 // magic, version, layer

	moduleVersion    = "\x01\x00"
	moduleLayer      = "\x00\x00"
	componentLayer   = "\x01\x00"
	sectionCustom    = 0
	sectionImport    = 2
	sectionFunction  = 3
	sectionExport    = 7
	sectionCode      = 10
	componentModule  = 1
	componentNested  = 4
	mostSectionName  = 256     // longer names are of no section that is read
	mostCustomRead   = 1 << 20 // bytes of a custom section that is read at once: build_id, external_debug_info
	mostSourceMapURL = 64 << 10
)

// Is reports whether an object begins as a module or a component does, of any version.
func Is(head []byte) bool { return len(head) >= headBytes && string(head[:4]) == "\x00asm" }

// span is [start, end) in the file; end 0: there is none.
type span struct{ start, end uint64 }

func (s span) size() uint64 { return s.end - s.start }

// File is an opened module or component.
type File struct {
	native.Source
	Component bool

	known  [sectionCode + 1]span // contents of sections, by id; [0] stays empty
	custom map[string]span       // contents of the first custom section of each name that is read
	parts  []span                // modules and components in a component
}

// Open reads where sections are.
func Open(in *formats.Input) (*File, error) {
	f := &File{Source: native.Source{In: in, Format: name}, custom: map[string]span{}}
	head, err := f.View("", 0, headBytes, "8 bytes of magic and version")
	if err != nil {
		return nil, err
	}
	if !Is(head) {
		return nil, f.Corrupt("", 0, "the magic of WebAssembly")
	}
	switch version, layer := string(head[4:6]), string(head[6:8]); {
	case version == moduleVersion && layer == moduleLayer:
	case layer == componentLayer:
		f.Component = true
	default:
		return nil, &formats.Error{Format: name, Offset: 4, Want: fmt.Sprintf("a module of version 1, or a component, not version %x", head[4:8]), Err: formats.ErrUnsupported}
	}
	return f, f.readSections()
}

// readSections notes where sections are.
func (f *File) readSections() error {
	c := between(&f.Source, "", 0, uint64(f.In.Size))
	c.skip(headBytes, "a header")
	for c.left() > 0 {
		at := c.at
		id := c.u8("the id of a section")
		size := uint64(c.u32("the size of a section"))
		if c.err == nil && size > c.left() {
			c.fail(fmt.Sprintf("%d bytes of section %d", size, id))
		}
		if c.err != nil {
			return c.err
		}
		s := span{c.at, c.at + size}
		switch {
		case f.Component && (id == componentModule || id == componentNested):
			f.parts = append(f.parts, s)
		case f.Component:
		case id == sectionCustom:
			f.addCustom(s)
		case int(id) < len(f.known):
			if f.known[id].end != 0 {
				return f.Corrupt("", at, fmt.Sprintf("one section %d", id))
			}
			f.known[id] = s
		}
		c.skip(size, "a section")
	}
	return c.err
}

// addCustom notes a custom section. One without a sound name is passed over: engines do so.
func (f *File) addCustom(s span) {
	c := between(&f.Source, "custom", s.start, s.end)
	size := uint64(c.u32("the length of a name"))
	if size > mostSectionName {
		return
	}
	title := string(c.take(size, "a name"))
	if c.err != nil || !wanted(title) {
		return
	}
	if _, twice := f.custom[title]; !twice {
		f.custom[title] = span{c.at, s.end}
	}
}

// wanted reports whether a custom section is read.
func wanted(title string) bool {
	return strings.HasPrefix(title, ".debug_") || title == "name" || title == "build_id" || title == "external_debug_info" || title == "sourceMappingURL"
}

// AddrSize is the size of addresses where a unit does not say it.
func (f *File) AddrSize() int { return 4 }

// Input is a custom section by its name, nil if there is none.
func (f *File) Input(title string) (*formats.Input, error) {
	s, ok := f.custom[title]
	if !ok || s.size() == 0 {
		return nil, nil
	}
	return f.input(title, s)
}

func (f *File) input(title string, s span) (*formats.Input, error) {
	return f.In.Section(title, int64(s.start), int64(s.size()))
}

// Has reports whether there is a custom section of that name that is not empty.
func (f *File) Has(title string) bool { return f.custom[title].size() > 0 }

// Code is the contents of the code section, nil if there is none.
func (f *File) Code() (*formats.Input, error) {
	s := f.known[sectionCode]
	if s.end == 0 {
		return nil, nil
	}
	return f.input("code", s)
}

// CodeStart is the offset in the file of the code section's contents.
func (f *File) CodeStart() uint64 { return f.known[sectionCode].start }

// CodeBytes is the size of the code section's contents.
func (f *File) CodeBytes() uint64 { return f.known[sectionCode].size() }

// BuildID is the contents of the section build_id, nil if there is none: a vector of bytes. Some tools write the bytes
// without their count. payload is all of the section, which others take for the id.
func (f *File) BuildID() (id, payload []byte, err error) {
	b, err := f.small("build_id")
	payload = bytes.Clone(b)
	if id = payload; len(id) > 0 && int(id[0]) == len(id)-1 {
		id = id[1:]
	}
	return id, payload, err
}

// ExternalDebugInfo is the URL of the file with the module's DWARF, "" if the module names none.
func (f *File) ExternalDebugInfo() (string, error) { return f.text("external_debug_info") }

// SourceMappingURL is the URL of the module's source map, "" if the module names none.
func (f *File) SourceMappingURL() (string, error) { return f.text("sourceMappingURL") }

// text reads a custom section that holds one name.
func (f *File) text(title string) (string, error) {
	s := f.custom[title]
	if s.size() == 0 || s.size() > mostSourceMapURL {
		return "", nil
	}
	c := between(&f.Source, title, s.start, s.end)
	text := c.name("a name")
	if formats.Rejects(c.err) { // a custom section: engines pass it over
		return "", nil
	}
	return text, c.err
}

// small reads a custom section that cannot be large.
func (f *File) small(title string) ([]byte, error) {
	s := f.custom[title]
	if s.size() == 0 || s.size() > mostCustomRead {
		return nil, nil
	}
	return f.View(title, s.start, int64(s.size()), "the contents of a section")
}

// Part is a module or a component in a component.
type Part struct{ Offset, Size int64 }

// Parts are the modules and components in a component, in the file's order.
func (f *File) Parts() []Part {
	out := make([]Part, len(f.parts))
	for i, p := range f.parts {
		out[i] = Part{int64(p.start), int64(p.size())}
	}
	return out
}
