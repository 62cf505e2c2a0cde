package row

// The columns of a block, in the order in which they stand. Durable.
const (
	colLength     = iota // per range: its length twice, plus 1 if a hole precedes it
	colGap               // per such hole: its length
	colNode              // per range: which node answers it
	colBack              // per node that is no ancestor of the last: distance back
	colParent            // per chain of new nodes: where it hangs
	colSite              // per range: its place, as a site of its function
	colCall              // per node below another: its call, as a site of the other's function
	colFunction          // per node: its function
	colFirstFile         // per first site of a function: its file
	colNextFile          // per further site
	colFirstLine         // per first site of a function: its line, against the last first line in that file
	colNextLine          // per further site: its line, against the last of its node or its function
	colColumn            // per site
	colFunctionLo        // per function: its number in the dictionary plus 1, low byte; 0: its name stands here
	colFunctionHi        // the rest of that number
	colFileLo            // per file: as functions
	colFileHi            //
	colTextLength        // per name that stands here: its length
	colText              // these names: functions and files as they first occur
	columns

	// The further columns of a block of a script.
	colStart         = iota - 1 // per part that begins on another line than the one before: its column
	colScriptFile               // per part with another file: which
	colScriptLine               // per part with an answer: its line, against that of the last in its file
	colScriptColumn             // per part of the same line as that one: its column, against that one's
	colScriptRestart            // per part of another line: its column
	colScriptName               // per part with a name: which
	colNameLo                   // per name: as functions
	colNameHi                   //
	scriptColumns
)

// In a block of a script these columns mean something else.
const (
	colStep     = colLength // per part: columns since the part before; 0: it begins on another line
	colLineStep = colGap    // per such part: lines since
	colWhat     = colSite   // per part: what follows
)

// What a part of a script's block has.
const (
	partHole    = 1 << iota // no answer, and none of the following
	partFile                // another file than the last part with an answer
	partNode                // another node
	partName                // a name
	partIgnored             // Frame.Ignored
	partLinear              // symbol.Linear
	partLine                // the line of the last range in its file
)

// coders says what is tried on a column. Where whole sequences recur (the same
// inlined code leaves the same lengths, nodes and lines) zstd may win.
var coders = [scriptColumns]trial{colLength: tryBoth, colNode: tryBoth, colNextLine: tryBoth, colText: tryZstd}

// scriptCoders is that of a script's block, whose parts are many and small: what
// it takes to code them is most of what it takes to load them.
var scriptCoders = func() (c [scriptColumns]trial) {
	for i := range c {
		c[i] = tryFast
	}
	c[colNameLo], c[colNameHi] = tryNone, tryNone
	c[colNode], c[colText] = tryBoth, tryZstd
	return c
}()

// site is a place in a function, met in this block. File is the block's own
// number of it.
type site struct{ file, line, column uint32 }

// siteState is a site and what was seen of it so far.
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

// functionState is what was seen of a function in this block.
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
