package report

import (
	"bytes"
	"encoding/binary"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// Place is a frame of native code as its line says it. Byte slices alias the line, and indexes count
// from its start.
type Place struct {
	Start int // of the frame: a log's prefix or space stands before it
	Tail  int // where the image begins, and answers are printed below
	End   int // of the frame; 0: of the line, with the sequences that set colors

	PC       uint64
	Space    symbol.Space // of PC
	Function []byte       // PC counts from its beginning; nil: it does not
	InFile   bool         // FileAt is said
	FileAt   uint64       // the offset in the file
	Abs      uint64       // the address in the process, beside Function; 0: not said
	Values   Frame0       // what PC is, where the line itself says it

	Named     bool   // the line says something about the image, even if it is "<unknown>"
	File      []byte // path as printed, without container
	Container []byte
	BuildID   []byte
	Arch      string
	Kind      symbol.Kind // of the image, where the line says more than its form does
	Mapped    uint64      // offset of the image in the file that it was mapped from
}

// Deleted is the mark that the kernel appends to the path of a file that is gone.
var Deleted = []byte(" (deleted)")

// SetFile sets the path of the image, and splits "archive!path". Some unwinders print a library as
// its own archive.
func (p *Place) SetFile(path []byte) {
	path = bytes.TrimSuffix(path, Deleted)
	p.Named, p.File = true, path
	i := bytes.IndexByte(path, '!')
	if i <= 0 || i == len(path)-1 {
		return
	}
	outer, inner := path[:i], path[i+1:]
	if bytes.Equal(scan.Base(outer), scan.Base(inner)) {
		p.File = outer
		return
	}
	p.File, p.Container = inner, outer
}

// image is the facts that lines say of an image. Hundreds of frames say the same.
type image struct {
	names     []string // to ask for, best first
	file      string
	container string
}

// images are the images of the lines so far, by what the lines say: at most textBytes of it.
type images struct {
	met   map[string]*image
	bytes int
	key   []byte
}

// of returns the image of a place.
func (m *images) of(p *Place) *image {
	m.key = m.key[:0]
	for _, part := range [...][]byte{p.File, p.Container, p.BuildID} {
		m.key = append(binary.AppendUvarint(m.key, uint64(len(part))), part...)
	}
	if known, ok := m.met[string(m.key)]; ok {
		return known
	}
	if m.bytes += 2 * len(m.key); m.met == nil || m.bytes > textBytes {
		m.met, m.bytes = map[string]*image{}, 2*len(m.key)
	}
	made := &image{file: string(p.File), container: string(p.Container)}
	made.names = p.names(made.file)
	m.met[string(m.key)] = made
	return made
}

// names returns the names to ask for, best first; file is p.File. The kernel's name for a mapping
// ("[vdso]", "<anonymous:7f60>") is no artifact's. Nothing can be appended to the names in place.
func (p *Place) names(file string) []string {
	var names [2]string
	n := 0
	if p.BuildID != nil {
		names[n] = string(bytes.ToLower(p.BuildID))
		n++
	}
	if name := file[len(file)-len(scan.Base(p.File)):]; name != "" && file[0] != '[' && file[0] != '<' {
		names[n] = name
		n++
	}
	if n == 0 {
		return nil
	}
	return names[:n:n]
}

// Nowhere is the load address of an image without a known one.
const Nowhere = ^uint64(0)

// Counter reads "pc HEX" at an offset of a line, and sets Tail behind it.
func (p *Place) Counter(b []byte, at int) bool {
	if !bytes.HasPrefix(b[at:], counterWord) {
		return false
	}
	q := scan.SkipSpace(b, at+2)
	if q == at+2 {
		return false
	}
	if bytes.HasPrefix(b[q:], scan.HexMark) {
		q += 2
	}
	pc, end, ok := scan.Hex(b, q)
	if !ok || end < len(b) && !scan.IsSpace(b[end]) {
		return false
	}
	p.PC, p.Space, p.Tail = pc, symbol.Unslid, scan.SkipSpace(b, end)
	return true
}

var counterWord = []byte("pc")

// Groups reads "(BuildId: HEX)", "[ABI::ID]" or "[ABI:VERSION:ID]", and
// "(HEX)" at the end, as OpenHarmony prints the build-id; all other groups say
// nothing about the image's identity.
func (p *Place) Groups(b []byte) {
	if i := bytes.Index(b, []byte("(BuildId: ")); i >= 0 {
		id, _, closed := bytes.Cut(b[i+len("(BuildId: "):], []byte(")"))
		if closed && scan.IsHex(id) {
			p.Named, p.BuildID = true, id
		}
	}
	if end := len(b) - 1; p.BuildID == nil && end > 0 && b[end] == ')' {
		id := b[bytes.LastIndexByte(b, '(')+1 : end]
		if len(id) >= 32 && len(id)%2 == 0 && scan.IsHex(id) {
			p.Named, p.BuildID = true, id
		}
	}
	if i := bytes.Index(b, []byte("(offset 0x")); i >= 0 {
		if v, end, ok := scan.Hex(b, i+len("(offset 0x")); ok && end < len(b) && b[end] == ')' {
			p.Mapped = v
		}
	}
	open := bytes.LastIndexByte(b, '[')
	if open < 0 {
		return
	}
	group, _, closed := bytes.Cut(b[open+1:], []byte("]"))
	first, last := bytes.IndexByte(group, ':'), bytes.LastIndexByte(group, ':')
	if !closed || first <= 0 || last == first || Arch(string(group[:first])) == "" {
		return
	}
	p.Arch = Arch(string(group[:first]))
	if id := group[last+1:]; scan.IsHex(id) {
		p.Named, p.BuildID = true, id
	}
}

// Step moves a return address back into the call that it returns from. The
// result lies in the call instruction or, where calls have several lengths,
// in its last bytes: that is enough for a range.
func Step(arch string, addr uint64) uint64 {
	var back uint64
	switch symbol.ArchFamily(arch) {
	case "arm64":
		addr &^= 3
		back = 4
	case "arm": // bit 0 is the Thumb state, and the shortest Thumb call is 2 bytes
		addr &^= 1
		back = 2
	case "riscv64", "riscv32": // c.jalr is 2 bytes, jal and jalr are 4: both hold the last 2
		back = 2
	case "mips", "mips64": // the call and its delay slot
		back = 8
	case "x86", "x86_64": // calls of 2 to 7 bytes
		back = 1
	default: // not said: no architecture above has a shorter call, and an odd address may be Thumb's
		back = 2
	}
	if addr < back { // the unwinder's end mark, not an address
		return addr
	}
	return addr - back
}

// Strip removes the bits that are no address from a pointer: on arm64 the tag in the
// top byte and the pointer authentication code below it. User space lies
// below 2^48; bit 55 marks the kernel's half, where only the tag is undone
// because its size is not known.
func Strip(arch string, addr uint64) uint64 {
	if symbol.ArchFamily(arch) != "arm64" {
		return addr
	}
	if addr>>55&1 == 1 {
		return addr | 0xff<<56
	}
	return addr & (1<<48 - 1)
}

// Arch gives the word of symbol.Artifact for an Android ABI; "" for an unknown
// one.
func Arch(abi string) string {
	switch abi {
	case "arm64", "arm64-v8a", "arm64e", "aarch64":
		return "arm64"
	case "arm", "armeabi", "armeabi-v7a":
		return "arm"
	case "x86", "x86_64", "riscv64", "mips", "mips64":
		return abi
	case "x86-64":
		return "x86_64"
	}
	return ""
}

// AppleArch returns the word of symbol.Artifact for an architecture, or a kind of code, as reports of
// Apple's systems call it; "" for any other word.
func AppleArch(word string) string {
	word, _, _ = strings.Cut(strings.TrimSpace(word), " ")
	switch word = strings.ToLower(word); word {
	case "arm64", "arm64e", "arm64_32", "armv6", "armv7", "armv7s", "armv7k", "armv7f", "x86_64", "x86_64h", "arm":
		return word
	case "arm-64", "arm64v8", "arm64-v8a":
		return "arm64"
	case "x86-64":
		return "x86_64"
	case "i386", "x86":
		return "x86"
	}
	return ""
}

// ProcessorArch gives the word of symbol.Artifact for what the tool calls a processor.
func ProcessorArch(word string) string {
	if word == "amd64" {
		return "x86_64"
	}
	return Arch(word)
}
