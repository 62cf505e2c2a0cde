package perfetto

import "github.com/symlake/symlake/formats/internal/protobuf"

// tables are what packets of a sequence refer to by number. Packets of Android 10 have tables of their own.
type tables struct {
	buildIDs, paths, functions, sources map[uint64]string
	mappings                            map[uint64]*mapping
	frames, stacks                      ids
	waiting                             []frame // frames that are not resolved yet
	late                                int     // of these, the first ones were tried
	tried                               int     // frames and packets since all were
	taken                               int64   // bytes
}

// newTables returns empty tables. One table of strings serves them all, if they are one.
func newTables(one bool) *tables {
	t := &tables{buildIDs: map[uint64]string{}, mappings: map[uint64]*mapping{}}
	if one {
		t.paths, t.functions, t.sources = t.buildIDs, t.buildIDs, t.buildIDs
	} else {
		t.paths, t.functions, t.sources = map[uint64]string{}, map[uint64]string{}, map[uint64]string{}
	}
	return t
}

// mapping is a part of a file that was mapped into memory.
type mapping struct {
	buildID, exact, startOffset, start, end, bias uint64
	exactly                                       bool // exact is said; recorders of Android 10 do not
	path                                          []uint64
	image                                         int // its number; unresolved or unknown
}

const (
	unresolved = -1
	unknown    = -2 // a name of the mapping was never sent
)

// frame is a place of code.
type frame struct {
	id, function, mapping, address uint64
	source, line                   uint64
	stack                          bool // a frame of stacks, and no other place of code
}

// entry reads an interned string.
func entry(b []byte) (id uint64, text []byte, whole bool) {
	f := protobuf.Read(b)
	for f.Next() {
		switch {
		case f.Number == entryID && f.Wire == protobuf.Varint:
			id = f.Value
		case f.Is(entryText):
			text = f.Bytes
		}
	}
	return id, text, !f.Bad
}

// maxPathParts bounds the parts of a path.
const maxPathParts = 4096

func readMapping(b []byte) (id uint64, m *mapping, whole bool) {
	m = &mapping{image: unresolved}
	f := protobuf.Read(b)
	for f.Next() {
		switch f.Number {
		case entryID:
			id = f.Value
		case mappingBuildID:
			m.buildID = f.Value
		case mappingStartOffset:
			m.startOffset = f.Value
		case mappingStart:
			m.start = f.Value
		case mappingEnd:
			m.end = f.Value
		case mappingBias:
			m.bias = f.Value
		case mappingExactOffset:
			m.exact, m.exactly = f.Value, true
		case mappingPath:
			f.Bad = !f.Numbers(func(id uint64) {
				if len(m.path) < maxPathParts {
					m.path = append(m.path, id)
				}
			}) || f.Bad
		}
	}
	return id, m, !f.Bad
}

func readFrame(b []byte) (fr frame, whole bool) {
	f := protobuf.Read(b)
	fr.stack = true
	for f.Next() {
		switch f.Number {
		case entryID:
			fr.id = f.Value
		case frameFunction:
			fr.function = f.Value
		case frameMapping:
			fr.mapping = f.Value
		case frameAddress:
			fr.address = f.Value
		case frameSource:
			fr.source = f.Value
		case frameLine:
			fr.line = f.Value
		}
	}
	return fr, !f.Bad
}

// readLocation reads a place of code that an event refers to.
func readLocation(b []byte) (fr frame, whole bool) {
	f := protobuf.Read(b)
	for f.Next() {
		switch f.Number {
		case entryID:
			fr.id = f.Value
		case locationMapping:
			fr.mapping = f.Value
		case locationAddress:
			fr.address = f.Value
		}
	}
	return fr, !f.Bad
}

// name returns the path of a mapping, as Perfetto puts it together. A part that was never sent ends it.
func (t *tables) name(m *mapping) string {
	var b []byte
	for _, id := range m.path {
		part, known := t.paths[id]
		if !known {
			break
		}
		b = append(append(b, '/'), part...)
	}
	if len(b) > 1 && b[1] == '/' { // Chrome sends a path as one part
		b = b[1:]
	}
	return string(b)
}

// ids is a set of numbers that mostly follow each other.
type ids struct {
	pages map[uint64]*[8]uint64
	page  *[8]uint64 // the one that was looked at last
	at    uint64     // its number, and one more
}

const idsPageBytes = 112

// find returns the page of a number; nil: there is none.
func (s *ids) find(id uint64) *[8]uint64 {
	if id>>9+1 != s.at {
		s.page, s.at = s.pages[id>>9], id>>9+1
	}
	return s.page
}

// add adds a number, and returns the memory that it takes.
func (s *ids) add(id uint64) int64 {
	page := s.find(id)
	taken := int64(0)
	if page == nil {
		if s.pages == nil {
			s.pages = map[uint64]*[8]uint64{}
		}
		page = new([8]uint64)
		s.pages[id>>9], s.page, taken = page, page, idsPageBytes
	}
	page[id>>6&7] |= 1 << (id & 63)
	return taken
}

func (s *ids) has(id uint64) bool {
	page := s.find(id)
	return page != nil && page[id>>6&7]>>(id&63)&1 == 1
}

// readSymbols reads ModuleSymbols: the module, and its addresses, which alias the message.
func readSymbols(f *protobuf.Fields) (m module, addresses [][]byte) {
	for f.Next() {
		switch {
		case f.Is(symbolsPath):
			m.path = string(f.Bytes)
		case f.Is(symbolsBuildID):
			m.id = string(f.Bytes)
		case f.Is(symbolsAddress):
			addresses = append(addresses, f.Bytes)
		}
	}
	return m, addresses
}

// readRenamed reads a DeobfuscationMapping: the package, and its classes, which alias the message.
func readRenamed(f *protobuf.Fields) (pkg string, classes [][]byte) {
	for f.Next() {
		switch {
		case f.Is(renamedPackage):
			pkg = string(f.Bytes)
		case f.Is(renamedClass):
			classes = append(classes, f.Bytes)
		}
	}
	return pkg, classes
}
