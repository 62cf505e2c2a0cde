package ranges

// site is a place in a function, met in this block. File is the block's own
// number of it.
type site struct{ file, line, column uint32 }

// siteState is a site and its history in this block.
type siteState struct {
	site
	next    int32 // site that came after it, in its node, when it was last met; -1
	callee  int32 // function that was last called from it; -1
	older   int32 // site of the function that was met first before it; -1
	ordinal int32 // among the sites of its function

	function uint32
}

// is reports whether it is that place, by no branch but the caller's.
func (s *siteState) is(file, line, column uint32) bool {
	return (s.file^file)|(s.line^line)|(s.column^column) == 0
}

// functionState is the history of a function in this block.
type functionState struct {
	first  int32 // site that a node of it began with, when one last began; -1
	newest int32 // site of it that was met first last; -1
	sites  int32
	file   uint32 // of newest
	line   uint32
}

// model is what writer and reader of a block learn from it alike, to say much
// in few bytes: the same functions are inlined again and again, and walk
// through the same sites.
type model struct {
	sites     []siteState
	functions []functionState
	last      []int32  // by node: its last site; -1
	recent    []uint32 // files, the one used last at the end
	firstLine []uint32 // by file: line of the last first site in it
	lastPlace []place  // by file, in scripts: where the last part in it was
}

type place struct{ line, column uint32 }

func (m *model) reset() {
	m.sites, m.functions, m.last = m.sites[:0], m.functions[:0], m.last[:0]
	m.recent, m.firstLine, m.lastPlace = m.recent[:0], m.firstLine[:0], m.lastPlace[:0]
}

func (m *model) addFunction() {
	m.functions = append(m.functions, functionState{first: -1, newest: -1})
}

func (m *model) addNode() { m.last = append(m.last, -1) }

func (m *model) addFile() {
	m.recent = append(m.recent, uint32(len(m.firstLine)))
	m.firstLine = append(m.firstLine, 0)
	m.lastPlace = append(m.lastPlace, place{})
}

// predicted is the site that a node is expected to go on with; -1: none.
func (m *model) predicted(node int32, function uint32) int32 {
	if l := m.last[node]; l >= 0 {
		return m.sites[l].next
	}
	return m.functions[function].first
}

// went notes that a node went on with a site.
func (m *model) went(node int32, function uint32, to int32) {
	if l := m.last[node]; l >= 0 {
		m.sites[l].next = to
	} else {
		m.functions[function].first = to
	}
	m.last[node] = to
}

// baseLine is what the line of a new site is told against.
func (m *model) baseLine(node int32, f *functionState, file uint32) uint32 {
	switch l := m.last[node]; {
	case f.sites == 0:
		return m.firstLine[file]
	case l >= 0:
		return m.sites[l].line
	}
	return f.line
}

// addSite enters a site that its function did not have.
func (m *model) addSite(function uint32, s site) int32 {
	f := &m.functions[function]
	at := int32(len(m.sites))
	m.sites = append(m.sites, siteState{})
	// Number by number: a literal would be made elsewhere, and copied before its numbers have reached the cache.
	n := &m.sites[at]
	n.file, n.line, n.column = s.file, s.line, s.column
	n.next, n.callee, n.older, n.ordinal, n.function = -1, -1, f.newest, f.sites, function
	if f.sites == 0 {
		m.firstLine[s.file] = s.line
	}
	f.newest, f.file, f.line = at, s.file, s.line
	f.sites++
	return at
}

// touch moves the file at rank (0: used last) to the end of recent.
func (m *model) touch(rank int) uint32 {
	i := len(m.recent) - 1 - rank
	file := m.recent[i]
	copy(m.recent[i:], m.recent[i+1:])
	m.recent[len(m.recent)-1] = file
	return file
}

// siteIndex finds the number of a site in the open block: open addressing,
// because a third of the encoder's time is spent here.
type siteIndex struct {
	slots []int32 // number plus 1; 0: free. Twice as many as sites, or more
}

// firstSlots is the room of a small load. A large one doubles it until it is enough for a block.
const firstSlots = 256

func (x *siteIndex) reset() { clear(x.slots) }

// find gives the site's number, or -1 and the slot for it.
func (x *siteIndex) find(sites []siteState, function, file, line, column uint32) (at int32, slot uint32) {
	slots := x.slots
	mask := uint32(len(slots) - 1)
	h := uint64(function)<<32 | uint64(line)
	h = (h ^ uint64(column)<<20 ^ uint64(file)<<44) * 0x9e3779b97f4a7c15
	for slot = uint32(h>>32) & mask; ; slot = (slot + 1) & mask {
		at = slots[slot] - 1
		if at < 0 {
			return at, slot
		}
		if s := &sites[at]; s.function == function && s.is(file, line, column) {
			return at, slot
		}
	}
}

// add enters the newest site.
func (x *siteIndex) add(sites []siteState, slot uint32) {
	if 2*len(sites) < len(x.slots) {
		x.slots[slot] = int32(len(sites))
		return
	}
	x.slots = make([]int32, 2*len(x.slots))
	for i := range sites {
		s := &sites[i]
		_, slot := x.find(sites, s.function, s.file, s.line, s.column)
		x.slots[slot] = int32(i) + 1
	}
}
