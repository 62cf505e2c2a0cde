package shape

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"slices"
	"sort"
	"strings"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
	scripts "github.com/symlake/symlake/formats/report/internal/script"
	"github.com/symlake/symlake/formats/symbol"
)

// images is what a list of images says to the frames of an event.
type images struct {
	listed  []entry // in the order of the list
	sorted  []int   // of listed, without images that say no address, by address
	byName  map[string]int
	scripts map[string]string // debug id by script, and by the path of its URL; "": several have the path
	mapping string            // id of the mapping of R8 or ProGuard
	arch    string
	device  string // the architecture of the whole event
	stepped bool   // the program steps addresses back
}

// entry is an image of native code.
type entry struct {
	crash.Image
	kind  symbol.Kind
	based bool
	other bool // no image of native code: it only counts
}

// noImages is what frames know without a list.
var noImages = &images{}

// scope is the images that count for some lists of frames: the images of the innermost object that has both.
type scope struct {
	from, to int // of walk.images
	closed   int // lists that were closed then: images in them belong to others
	made     *images
}

// holder is an object around images, which count for the strings in it.
type holder struct {
	span [2]int
	scope
}

// scopeOf returns the scope of the images from an index on.
func (e *walk) scopeOf(images int) scope {
	return scope{from: images, to: len(e.images), closed: e.closed}
}

// imagesOf returns the images that count for a thread.
func (e *walk) imagesOf(t *thread) *images {
	if t.scope < 0 {
		return noImages
	}
	return e.imagesIn(&e.scopes[t.scope])
}

// imagesIn returns the images of a scope.
func (e *walk) imagesIn(sc *scope) *images {
	if sc.made != nil {
		return sc.made
	}
	m := &images{byName: map[string]int{}}
	sc.made = m
	defer func() {
		if m.device != "" {
			m.arch = m.device
		}
	}()
	for i := sc.from; i < sc.to; i++ {
		img := &e.images[i]
		switch {
		case img.closed != 0 && img.closed <= sc.closed:
		case img.shape == nil:
			m.stepped = true
		case img.device:
			if a := archOf(e.text(&img.facts, arch)); a != "" && m.device == "" {
				m.device = a
			}
		default:
			e.entry(m, img)
		}
	}
	slices.SortStableFunc(m.sorted, func(a, b int) int { return cmp.Compare(m.listed[a].Start, m.listed[b].Start) })
	return m
}

// imagesAt returns the images of the innermost object around a span that has images. It looks at json.MaxDepth objects.
func (e *walk) imagesAt(span [2]int) *images {
	first := sort.Search(len(e.holders), func(i int) bool { return e.holders[i].span[1] >= span[1] })
	for i := first; i < min(first+json.MaxDepth, len(e.holders)); i++ {
		if h := &e.holders[i]; h.span[0] <= span[0] {
			return e.imagesIn(&h.scope)
		}
	}
	return noImages
}

// entry adds an image to a list.
func (e *walk) entry(m *images, img *image) {
	x := entry{}
	word := strings.ToLower(e.text(&img.facts, imageType))
	name := e.text(&img.facts, imageName)
	switch word {
	case "elf":
		x.kind = symbol.ELF
	case "macho", "apple":
		x.kind = symbol.MachO
	case "wasm":
		x.kind = symbol.Wasm
	case "pe_dotnet":
		x.kind = symbol.CLR
	case "", "pe":
		x.kind = img.shape.Kind
	case "proguard", "r8":
		if m.mapping == "" {
			m.mapping = strings.ToLower(e.anyID(&img.facts))
		}
		x.other = true
	default: // scripts and others have no addresses
		x.other = true
	}
	if x.other || word == "" {
		if id := e.anyID(&img.facts); name != "" && id != "" && (x.other || scripts.Is([]byte(name), false)) {
			m.script(name, strings.ToLower(id))
		}
	}
	if !x.other {
		e.nativeEntry(m, &x, img, name)
	}
	m.listed = append(m.listed, x)
}

func (e *walk) nativeEntry(m *images, x *entry, img *image, name string) {
	s := img.shape
	x.Path, x.Name = name, string(scan.Base([]byte(name)))
	x.Start, x.based = e.place(s, &img.facts, imageAddr)
	x.based = x.based && x.Start > 0
	if end, ok := e.place(s, &img.facts, imageEnd); ok && end > x.Start {
		x.End = end
	}
	if size, ok := e.place(s, &img.facts, imageSize); ok && size > 0 && x.Start+size > x.Start {
		x.End = x.Start + size
	}
	if x.Arch = archOf(e.text(&img.facts, arch)); m.arch == "" {
		m.arch = x.Arch
	}
	if x.UUID = e.imageID(&img.facts); x.kind == symbol.CLR && e.isSaid(&img.facts, debugID) {
		x.UUID = e.text(&img.facts, debugID) // a code id tells the assembly, and its PDB does not know it
	}
	if x.based {
		m.sorted = append(m.sorted, len(m.listed))
	}
	if x.Name == "" {
		return
	}
	if was, twice := m.byName[x.Name]; twice && (was < 0 || m.listed[was].UUID != x.UUID || m.listed[was].Start != x.Start) {
		m.byName[x.Name] = -1
	} else {
		m.byName[x.Name] = len(m.listed)
	}
}

// archOf returns an architecture in the words of symbol.Artifact.
func archOf(word string) string {
	if a := report.AppleArch(word); a != "" {
		return a
	}
	return report.Arch(word)
}

// anyID returns the id of an image that is no native code.
func (e *walk) anyID(f *facts) string {
	if e.isSaid(f, debugID) {
		return e.text(f, debugID)
	}
	return e.text(f, imageID)
}

// imageID returns the id of native code: a whole build-id before a debug id, which is a part of it.
func (e *walk) imageID(f *facts) string {
	code, debug := plainID(e.text(f, imageID)), e.text(f, debugID)
	if bare := strings.ReplaceAll(code, "-", ""); debug == "" || len(bare) >= 16 && scan.IsHex([]byte(bare)) {
		if uuid, end, ok := scan.UUID([]byte(code), 0); ok && end == len(code) {
			return uuid
		}
		return code
	}
	return debug
}

// plainID returns an id without the base64 in which Crashlytics' library spells it.
func plainID(id string) string {
	if id == "" || scan.IsHex([]byte(strings.ReplaceAll(id, "-", ""))) {
		return id
	}
	plain, err := base64.StdEncoding.DecodeString(id)
	if err != nil || len(plain) < 16 || !scan.IsHex(bytes.ReplaceAll(plain, []byte("-"), nil)) {
		return id
	}
	return string(plain)
}

// spot is where a frame of native code says that it is.
type spot struct {
	addr, offset   uint64
	placed, inside bool // addr is said; offset is said
	name           string
	index          int // of the image in the list; -1: not said
	load           uint64
	loaded         bool // load is said
}

// spotOf reads what a frame says of its place; ok is false if the frame is no native code.
func (e *walk) spotOf(f *frame, m *images) (p spot, ok bool) {
	if l := f.line; l != nil {
		return spot{l.Addr, l.Offset, true, true, string(l.Name), -1, l.Load, true}, true
	}
	s := f.shape
	p.addr, p.placed = e.place(s, &f.facts, address)
	p.offset, p.inside = e.place(s, &f.facts, offset)
	p.name, p.index = e.text(&f.facts, imageName), -1
	if s.Imaged && p.name == "" {
		p.name = e.text(&f.facts, file)
	}
	if n, ok := e.place(s, &f.facts, imageIndex); ok && n < uint64(len(m.listed)) {
		p.index = int(n)
	}
	word := e.text(&f.facts, mode)
	if strings.HasPrefix(word, "rel:") { // the address counts from an image
		n, _, ok := scan.Digits([]byte(word), len("rel:"))
		if !ok || n >= len(m.listed) || m.listed[n].other {
			return p, false
		}
		p.index, p.offset, p.inside, p.placed = n, p.addr, true, false
	} else if word != "" && word != "abs" {
		return p, false
	}
	p.load, p.loaded = e.place(s, &f.facts, imageAddr)
	// A load address of 0 is none, unless the addresses were cut to 32 bits.
	p.loaded = p.loaded && (p.load > 0 || p.name != "" && p.addr > 0 && p.addr < 1<<32)
	if p.placed {
		return p, true
	}
	p.addr = p.offset
	if p.loaded {
		p.addr += p.load
	} else if p.index >= 0 {
		p.addr += m.listed[p.index].Start
	}
	return p, true
}

// named gives a frame the names of its image: its id, then its base name.
func (e *walk) named(out *report.Frame, f *frame, img *entry) {
	if id := e.imageID(&f.facts); id != "" {
		out.Image = append(out.Image, strings.ToLower(id))
	} else if img != nil && img.UUID != "" {
		out.Image = append(out.Image, strings.ToLower(img.UUID))
	}
	if base := scan.Base([]byte(out.File)); len(base) > 0 {
		out.Image = append(out.Image, string(base))
	}
}

// inModule reports that a frame is in a module of WebAssembly that the list of images lacks, and names it.
func (e *walk) inModule(out *report.Frame, f *frame) bool {
	module := scripts.Path(e.text(&f.facts, file))
	if !strings.HasSuffix(module, ".wasm") {
		return false
	}
	out.File, out.Kind, out.Arch = module, symbol.Wasm, ""
	return true
}

// native makes a frame of native code; number is its place in its thread.
func (e *walk) native(out *report.Frame, f *frame, t *thread, m *images, number int) bool {
	p, ok := e.spotOf(f, m)
	if !ok {
		e.unread = report.AddUnread(e.unread, report.Unread{Why: report.WhyNamed, Frames: 1, Named: true})
		return false
	}
	if f.line != nil {
		out.Layout.Indent, out.Detail = f.line.Indent, crashText{}
	}
	out.Raw, out.Kind = p.addr, f.shape.Kind
	if out.Arch = archOf(e.text(&f.facts, arch)); out.Arch == "" {
		out.Arch = m.arch
	}
	value := report.Strip(out.Arch, p.addr)
	back := e.returns(f, t, m, number)
	step := func(v uint64) uint64 {
		if back {
			return report.Step(out.Arch, v)
		}
		return v
	}
	var img *entry
	if p.index >= 0 {
		img = &m.listed[p.index]
	} else {
		img = m.find(step(value), &p)
	}
	if img != nil {
		out.File, out.Kind = img.Path, img.kind
		if img.Arch != "" {
			out.Arch = img.Arch
		}
		if img.kind == symbol.Wasm {
			back = false // the offset is the call's own
		}
		if !p.loaded && img.based {
			p.load, p.loaded = img.Start, true
		}
	}
	if out.File == "" && p.name != "???" {
		out.File = p.name
	}
	if img == nil && !p.inside && e.inModule(out, f) {
		p.offset, p.inside, p.loaded, back = p.addr, true, false, false
	}
	e.named(out, f, img)
	switch {
	case out.Kind == symbol.CLR:
		out.At = symbol.Where{Space: symbol.Position, Value: e.methodPlace(f, p.offset)}
	case p.loaded:
		if p.inside && p.offset != 0 && value-p.load != p.offset && (f.line != nil || !img.holds(value, p.load)) {
			value = p.load + p.offset // the address is cut, or holds more than an address
		}
		out.At = symbol.Where{Space: symbol.Loaded, Value: step(value), Load: p.load}
	case p.inside:
		out.At = symbol.Where{Space: symbol.Position, Value: step(p.offset)}
	default:
		out.At = symbol.Where{Space: symbol.Loaded, Value: step(value), Load: report.Nowhere}
	}
	return true
}

// methodPlace returns the position of an offset in the code of the method that a frame's token tells.
func (e *walk) methodPlace(f *frame, offset uint64) uint64 {
	const row = 1<<24 - 1 // the bits above it say that the token is of a method
	n, _ := e.place(f.shape, &f.facts, token)
	return n&row<<32 | offset&(1<<32-1)
}

// holds reports whether an address may lie in an image that was loaded at load; the list may not have it.
func (x *entry) holds(addr, load uint64) bool {
	if x != nil && x.based && x.End != 0 {
		return load <= addr && addr < x.End
	}
	return load <= addr && addr-load < 1<<32
}

// find returns the image of a place: the image that was loaded where the frame says, else the image that holds the
// place, else the only image of its name; nil: none is sure.
func (m *images) find(value uint64, f *spot) *entry {
	base := string(scan.Base([]byte(f.name)))
	if f.loaded {
		if x := m.at(f.load); x != nil && x.Start == f.load {
			return x
		}
	} else if !f.inside {
		if x := m.at(value); x != nil {
			return x
		}
	}
	if i, ok := m.byName[base]; ok && i >= 0 && base != "" {
		x := &m.listed[i]
		if f.loaded && x.based && x.Start != f.load || !f.inside && x.based && !f.loaded && x.End != 0 {
			return nil // the list says that the place lies outside of it
		}
		return x
	}
	return nil
}

// at returns the image that holds an address; nil if none does.
func (m *images) at(addr uint64) *entry {
	i := sort.Search(len(m.sorted), func(i int) bool { return m.listed[m.sorted[i]].Start > addr }) - 1
	if i < 0 {
		return nil
	}
	x := &m.listed[m.sorted[i]]
	if x.End != 0 && addr >= x.End || x.End == 0 && addr-x.Start >= 1<<32 {
		return nil
	}
	return x
}

// returns reports whether an address is a return address, which is looked up in the call before it.
func (e *walk) returns(f *frame, t *thread, m *images, number int) bool {
	rule := e.o.Frame0
	if rule == report.AsFormat {
		rule = f.shape.Frame0
		switch word := e.text(&t.facts, mode); {
		case m.stepped || word == "none":
			rule = report.Stepped
		case word == "all":
			rule = report.Return
		case len(f.shape.names[exact]) > 0 && number == 0 && !e.isTrue(&f.facts, exact):
			rule = report.Return
		}
	}
	return rule == report.Return || rule != report.Stepped && number > 0
}
