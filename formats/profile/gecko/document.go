package gecko

// document is the tables of a profile, and what they belong to.
type document struct {
	processes []*process
	threads   []*thread
	samples   uint64
	// damage is why the profile is read up to at only; nil: it is whole.
	damage error
	at     int64
	// late: rows stand before the schema that says what they hold. The schemas are read by themselves then.
	late bool
}

// process is a process with a profile of its own. Profiles that were processed have one for all.
type process struct {
	shared    *tables
	libs      []*lib
	version   int64 // of a profile that was processed; null: of the browser
	processed bool
	android   bool
	product   string
	interval  float64 // milliseconds
	start     float64 // milliseconds since 1970
	sources   []int32 // strings of files that the table of sources gets
	sourceOf  map[string]int32
	bytes     bool // samples stand at offsets of a file, not at times
}

// thread is a thread with its own tables, or with shared ones.
type thread struct {
	process   *process
	own       *tables
	name      string
	inProcess string // the process's name
	pid, tid  int64
}

// tables are the tables that refer to one another.
type tables struct {
	process *process
	named   map[string]*table
	strings *list
	libs    []*lib                    // of old profiles; nil: the process's
	uses    *uses                     // of stacks, where addresses of callers are return addresses; nil: they are not
	schemas map[string]map[string]int // by table, where rows may stand before them
}

// list is a list of strings.
type list struct {
	count int
	whole bool
	need  map[int32]bool   // strings to keep
	texts map[int32]string // that were kept
	more  []string         // that the plan appends
	added map[string]int32
}

// of returns a table; an empty one, if the profile does not have it.
func (t *tables) of(name string) *table {
	if found := t.named[name]; found != nil {
		return found
	}
	return &table{length: null}
}

func newTables(p *process) *tables { return &tables{process: p, named: map[string]*table{}} }

// tables returns the tables that a thread's samples refer to: its own, or the shared ones.
func (t *thread) tables() *tables {
	if t.own.named["frameTable"] != nil || t.own.named["stackTable"] != nil {
		return t.own
	}
	return t.process.shared
}

// text returns a string, "" if the tables do not have it.
func (t *tables) text(at int32) string {
	if l := t.list(); l != nil {
		return l.texts[at]
	}
	return ""
}

// list returns the strings that the tables refer to: their own, or the shared ones; nil: there are none.
func (t *tables) list() *list {
	if t.strings != nil {
		return t.strings
	}
	return t.process.shared.strings
}

// table returns a table that may be shared among the threads.
func (t *tables) table(name string) *table {
	if t.named[name] != nil {
		return t.named[name]
	}
	return t.process.shared.of(name)
}

// libraries returns the libraries that the tables refer to.
func (t *tables) libraries() []*lib {
	if t.libs != nil {
		return t.libs
	}
	return t.process.libs
}

// add returns the number that a string has behind the profile's own.
func (l *list) add(text string) int32 {
	if at, known := l.added[text]; known {
		return at
	}
	if l.added == nil {
		l.added = map[string]int32{}
	}
	at := int32(l.count + len(l.more))
	l.added[text] = at
	l.more = append(l.more, text)
	return at
}
