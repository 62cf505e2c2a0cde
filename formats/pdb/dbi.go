package pdb

import (
	"bytes"
	"encoding/binary"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/msf"
)

// The streams with fixed numbers.
const (
	streamInfo  = 1
	streamTypes = 2
	streamDBI   = 3
	streamIDs   = 4

	noStream = 0xffff
)

func u16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func u32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// info is what the stream of that name says.
type info struct {
	guid  [16]byte // as the file has it: three fields in little endian
	age   uint32
	named map[string]uint32 // streams by name
	fast  bool              // linked with /DEBUG:FASTLINK
}

// Features that stand behind the named streams.
const featureMinimal = 0x494e494d // the symbols are in the object files

func readInfo(f *msf.File) (*info, error) {
	s, err := f.Stream("info", streamInfo)
	if err != nil {
		return nil, err
	}
	b, err := s.All(nil)
	if err != nil {
		return nil, err
	}
	const head = 28
	if len(b) < head {
		return nil, s.Corrupt(0, "a version, a signature, an age and a GUID")
	}
	i := &info{guid: [16]byte(b[12:28]), age: u32(b[8:]), named: map[string]uint32{}}
	rest := i.readNamed(b[head:])
	for ; len(rest) >= 4; rest = rest[4:] {
		i.fast = i.fast || u32(rest) == featureMinimal
	}
	return i, nil
}

// readNamed reads the names of streams and returns what stands behind them; nil if they are damaged.
func (i *info) readNamed(b []byte) []byte {
	take := func(n uint64) []byte {
		if n > uint64(len(b)) {
			b = nil
			return nil
		}
		out := b[:n]
		b = b[n:]
		return out
	}
	number := func() uint64 {
		if v := take(4); len(v) == 4 {
			return uint64(u32(v))
		}
		return 0
	}
	text := take(number())
	size := number()
	number() // how many it has room for
	take(4 * number())
	take(4 * number())
	for ; size > 0 && len(b) >= 8; size-- {
		off, stream := number(), number()
		if off < uint64(len(text)) {
			name, _, _ := bytes.Cut(text[off:], []byte{0})
			i.named[string(name)] = uint32(stream)
		}
	}
	return b
}

// module is an object file, or a part of a library, that the linker took code from.
type module struct {
	stream            uint16
	symbols, old, c13 uint32 // bytes of the three parts of its stream
}

// contribution is code that a module contributed.
type contribution struct {
	section   uint16
	module    uint16
	off, size uint32
}

// dbi is what the stream of that name says.
type dbi struct {
	age           uint32
	machine       uint16
	stripped      bool
	symbols       uint16 // the stream with records of public symbols
	modules       []module
	contributions []contribution // ascending
	extra         []byte         // numbers of further streams, two bytes each
}

// The further streams of DBI.
const (
	extraFPO         = 0
	extraOMAPTo      = 3
	extraOMAPFrom    = 4
	extraSections    = 5
	extraNewFPO      = 9
	extraOldSections = 10
)

const (
	dbiHead        = 64
	moduleHead     = 64
	contributed60  = 0xeffe0000 + 19970605
	contributedNew = 0xeffe0000 + 20140516
)

// readDBI returns nil where the file has no such stream.
func readDBI(f *msf.File, lim *formats.Limits) (*dbi, error) {
	s, err := f.Stream("DBI", streamDBI)
	if err != nil || s.Size == 0 {
		return nil, err
	}
	head, err := s.At(0, min(s.Size, dbiHead), nil)
	if err != nil {
		return nil, err
	}
	if len(head) < dbiHead || u32(head) != 0xffffffff {
		return nil, s.Corrupt(0, "a header of Visual C++ 5 or later")
	}
	d := &dbi{age: u32(head[8:]), symbols: u16(head[20:]), machine: u16(head[58:]), stripped: u16(head[56:])&2 != 0}
	at := int64(dbiHead)
	part := func(field int) ([]byte, int64, error) {
		from, n := at, int64(int32(u32(head[field:])))
		at += max(n, 0)
		b, err := s.At(from, n, nil)
		return b, from, err
	}
	b, from, err := part(24)
	if err != nil {
		return nil, err
	}
	if err := d.readModules(&s, b, from, lim); err != nil {
		return nil, err
	}
	if b, from, err = part(28); err != nil {
		return nil, err
	}
	if err := d.readContributions(&s, b, from); err != nil {
		return nil, err
	}
	for _, field := range []int{32, 36, 40, 52} { // section map, sources, type servers, edit and continue
		if n := int64(int32(u32(head[field:]))); n > 0 {
			at += n
		}
	}
	if d.extra, _, err = part(48); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *dbi) readModules(s *msf.Stream, b []byte, from int64, lim *formats.Limits) error {
	for all := len(b); len(b) >= moduleHead; {
		if len(d.modules) >= lim.Units {
			return &formats.Error{Format: name, Section: "DBI", Offset: from, Want: "fewer modules", Err: formats.ErrLimit}
		}
		d.modules = append(d.modules, module{stream: u16(b[34:]), symbols: u32(b[36:]), old: u32(b[40:]), c13: u32(b[44:])})
		n := moduleHead
		for range 2 { // the names of the module and of its library
			end := bytes.IndexByte(b[n:], 0)
			if end < 0 {
				return s.Corrupt(from+int64(all-len(b)), "names of a module")
			}
			n += end + 1
		}
		b = b[min(len(b), (n+3)&^3):]
	}
	return nil
}

func (d *dbi) readContributions(s *msf.Stream, b []byte, from int64) error {
	if len(b) < 4 {
		return nil
	}
	step := 28
	switch u32(b) {
	case contributed60:
	case contributedNew:
		step = 32
	default:
		return s.Corrupt(from, "contributions of a known version")
	}
	b = b[4:]
	d.contributions = make([]contribution, 0, len(b)/step)
	sorted := true
	for ; len(b) >= step; b = b[step:] {
		c := contribution{section: u16(b), off: u32(b[4:]), size: u32(b[8:]), module: u16(b[16:])}
		if c.size == 0 || c.size > 1<<31 {
			continue
		}
		if n := len(d.contributions); n > 0 && compareContributions(d.contributions[n-1], c) > 0 {
			sorted = false
		}
		d.contributions = append(d.contributions, c)
	}
	if !sorted {
		sortContributions(d.contributions)
	}
	return nil
}

// stream returns the number of a further stream; noStream if there is none.
func (d *dbi) stream(which int) int {
	if len(d.extra) < 2*which+2 {
		return noStream
	}
	return int(u16(d.extra[2*which:]))
}
