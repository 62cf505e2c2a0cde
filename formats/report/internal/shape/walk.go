package shape

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
)

// walk goes through a text once and keeps what objects say that fit a row.
type walk struct {
	json.Walker
	o      report.Options
	shapes []*Shape // that the text may be of
	path   []step   // to the value at hand
	values []value  // plain members of the objects around the value at hand

	frames  []frame
	threads []thread
	images  []image
	unread  []report.Unread

	scopes  []scope
	holders []holder // objects around images; the inner ones stand first

	beside      *exception // that waits for the frames beside it; nil: none
	besideDepth int        // length of the path to the object around both

	closed int // lists that were walked to their end

	inText bool // a row reads strings
	over   int  // frames behind the bound
	deep   bool // values were passed because they stand too deep
}

// step is a step of a path: a member, or an element of a list.
type step struct {
	key   []byte // without quotes; nil: an element
	index int
}

// value is a plain member of an object, as offsets in the text: name without quotes, value with them.
type value struct {
	key, at [2]int
}

// facts are the fields that an object says: where their values stand; 0, 0: it does not say them.
type facts [fieldCount][2]int32

// frame is an object that is a frame.
type frame struct {
	facts
	span   [2]int
	thread int
	shape  *Shape
	kind   kind
	line   *crash.LoadedFrame // a line of text; nil: an object
	alone  bool               // the object stands in no list
}

// kind says how a frame names its code.
type kind uint8

const (
	native  kind = iota // by an address
	script              // by a line and a column of a script
	managed             // by class and method
)

// thread is a list of frames.
type thread struct {
	facts
	shape     *Shape
	frames    []int // of walk.frames, in the order of the text
	exception *exception
	platform  [2]int32 // the program's, where it is said
	scope     int      // of walk.scopes; -1: no images
}

// exception is an object around a list of frames that names a thrown class.
type exception struct {
	facts
	used bool
}

// image is an entry of a list of images.
type image struct {
	facts
	shape  *Shape // nil: a mark that the program steps addresses back
	device bool   // facts of the whole event
	closed int    // number of the list of events that it stands in; 0: none was closed yet
}

// list is the list that objects at hand are elements of.
type list struct {
	shapes uint64 // rows with frames here
	images uint64 // rows with images here
	thread int    // -1: no frame yet
	listed bool   // its elements are images
	alone  bool   // it is no list, but the value of a member

	objects int      // elements
	named   int      // elements that are frames and have their names
	strange int      // elements that look like frames
	members []string // of the first such element
}

// Read makes a report of all events in a text; nil if there is nothing in it.
func (table *Table) Read(text []byte, o report.Options) *report.Report {
	table.once.Do(func() { table.signs = signsOf(table.shapes) })
	known := table.signs
	met, strange := known.read(text)
	e := &walk{Walker: json.Walker{Bytes: text}, o: o}
shapes:
	for i, s := range table.shapes {
		for k := range known.groups[i] {
			if !met.meets(&known.groups[i][k]) {
				continue shapes
			}
		}
		e.shapes = append(e.shapes, s.ready())
		e.inText = e.inText || s.Texts != ""
	}
	if len(e.shapes) == 0 && !strange {
		return nil
	}
	e.value(0, nil)
	return e.report()
}

// value walks the value at hand; in is the list around it.
func (e *walk) value(depth int, in *list) {
	switch c := e.Peek(); {
	case c != '{' && c != '[':
		e.Skip()
	case depth > json.MaxDepth:
		e.deep = true
		e.Skip()
	case c == '[':
		inner := e.list()
		images := len(e.images)
		e.path = append(e.path, step{})
		e.Array(func(i int) {
			e.path[len(e.path)-1].index = i
			e.value(depth+1, &inner)
		})
		e.path = e.path[:len(e.path)-1]
		e.strangers(&inner)
		if e.closed++; !inner.listed {
			for i := images; i < len(e.images); i++ {
				if e.images[i].closed == 0 {
					e.images[i].closed = e.closed
				}
			}
		}
	case in == nil:
		alone := e.list()
		alone.alone = true
		e.object(depth, &alone)
		e.strangers(&alone)
	default:
		e.object(depth, in)
	}
}

// list says which rows have frames or images at the path at hand.
func (e *walk) list() list {
	l := list{thread: -1}
	for i, s := range e.shapes {
		if e.at(s, ofFrame) {
			l.shapes |= 1 << i
		}
		if s.Images != "" && e.at(s, ofImage) {
			l.images |= 1 << i
		}
	}
	return l
}

// at reports whether the path at hand is one of a row's paths; a row without any takes all.
func (e *walk) at(s *Shape, what int) bool {
	if len(s.ways[what]) == 0 {
		return true
	}
	for _, way := range s.ways[what] {
		if e.ends(way) {
			return true
		}
	}
	return false
}

// ends reports whether the names in the path at hand end with way.
func (e *walk) ends(way []string) bool {
	at := len(e.path)
	for i := len(way) - 1; i >= 0; i-- {
		for at--; at >= 0 && e.path[at].key == nil; at-- {
		}
		if at < 0 || string(e.path[at].key) != way[i] {
			return false
		}
	}
	return true
}

// object walks an object, and keeps it if it is a frame, an image, or around them.
func (e *walk) object(depth int, in *list) {
	from, base := e.Pos, len(e.values)
	frames, threads, images := len(e.frames), len(e.threads), len(e.images)
	e.Composite('{', '}', func() {
		if e.Peek() != '"' {
			return
		}
		key := [2]int{e.Pos + 1, 0}
		e.Raw()
		key[1] = e.Pos - 1
		if e.Failed || e.Peek() != ':' {
			return
		}
		e.Pos++
		c := e.Peek()
		if c == ',' || c == '}' || c == ']' {
			return
		}
		at := e.Pos
		if c != '{' && c != '[' {
			e.Skip()
		} else {
			e.path = append(e.path, step{key: e.Bytes[key[0]:key[1]]})
			e.value(depth+1, nil)
			e.path = e.path[:len(e.path)-1]
		}
		if (c != '{' && c != '[' || e.isDevice(key)) && len(e.values)-base < mostValues {
			e.values = append(e.values, value{key, [2]int{at, e.Pos}})
		}
		if c == '"' && e.inText && !e.Failed {
			e.path = append(e.path, step{key: e.Bytes[key[0]:key[1]]})
			e.texts(at, e.Pos)
			e.path = e.path[:len(e.path)-1]
		}
	})
	values := e.values[base:]
	in.objects++
	if e.Failed || !e.takes(in, values, [2]int{from, e.Pos}, frames, threads) {
		e.around(values, threads, images)
		if len(e.images) > images {
			e.holders = append(e.holders, holder{[2]int{from, e.Pos}, e.scopeOf(images)})
		}
		if len(e.threads) == threads && len(e.images) == images {
			e.stranger(in, values)
		}
	}
	e.keepBeside(values, threads)
	e.values = e.values[:base]
}

// isDevice reports whether a member says a fact of the whole event.
func (e *walk) isDevice(key [2]int) bool {
	for _, s := range e.shapes {
		if _, ok := s.said[ofDevice][string(e.Bytes[key[0]:key[1]])]; ok {
			return true
		}
	}
	return false
}

// mostValues of an object are looked at: no frame has more.
const mostValues = 96

// takes keeps an object as a frame or an image of the first row that it fits.
func (e *walk) takes(in *list, values []value, span [2]int, frames, threads int) bool {
	named := false
	for i, s := range e.shapes {
		if in.shapes>>i&1 != 0 {
			var f frame
			if s.facts(ofFrame, e.Bytes, values, &f.facts) && e.hasAll(s.needs, values) && e.kindOf(s, &f) && (f.kind != script || !e.hasStack(values)) {
				// Frames within a frame are variables: they have no place of their own.
				e.frames, e.threads = e.frames[:frames], e.threads[:threads]
				f.span, f.shape = span, s
				e.addFrame(in, f)
				return true
			}
			named = named || s.Frames != "" && e.isNamed(&f.facts)
		}
		if in.images>>i&1 != 0 {
			img := image{shape: s}
			if s.facts(ofImage, e.Bytes, values, &img.facts) && (img.has(imageAddr) || img.has(imageID) || img.has(debugID)) {
				e.images = append(e.images, img)
				in.listed = true
				return true
			}
		}
	}
	if named {
		in.named++
	}
	return named
}

// addFrame adds a frame to its list.
func (e *walk) addFrame(in *list, f frame) {
	if len(e.frames) >= report.MaxDocumentFrames {
		e.over++
		return
	}
	if in.thread < 0 || in.thread >= len(e.threads) {
		in.thread = len(e.threads)
		e.threads = append(e.threads, thread{shape: f.shape, scope: -1})
	}
	t := &e.threads[in.thread]
	if len(t.frames) >= report.MaxFrames {
		e.over++
		return
	}
	f.thread, f.alone = in.thread, in.alone
	t.frames = append(t.frames, len(e.frames))
	e.frames = append(e.frames, f)
}

// around gives what an object says to the lists of frames that were found in it.
func (e *walk) around(values []value, threads, images int) {
	e.device(values)
	if len(e.threads) == threads {
		return
	}
	language := platformIn(e.Bytes, values)
	number := -1
	var thrown *exception
	for i := threads; i < len(e.threads); i++ {
		t := &e.threads[i]
		if t.platform[1] == 0 {
			t.platform = language
		}
		if t.scope < 0 && len(e.images) > images {
			if number < 0 {
				number = len(e.scopes)
				e.scopes = append(e.scopes, e.scopeOf(images))
			}
			t.scope = number
		}
		s := t.shape
		var f facts
		if len(e.threads) == threads+1 && e.at(s, ofThread) && s.facts(ofThread, e.Bytes, values, &f) {
			t.add(&f)
		}
		if t.exception == nil && s.Beside != "" && e.beside != nil && e.besideDepth == len(e.path) {
			t.exception, e.beside = e.beside, nil
		}
		if t.exception == nil && s.Exceptions != "" && e.at(s, ofException) {
			if thrown == nil {
				thrown = &exception{}
				s.facts(ofException, e.Bytes, values, &thrown.facts)
			}
			if thrown.has(class) {
				t.exception = thrown
			}
		}
	}
}

// platformIn returns where the members of an object say the language of a program.
func platformIn(text []byte, values []value) (at [2]int32) {
	for _, v := range values {
		if string(text[v.key[0]:v.key[1]]) == "platform" {
			at = [2]int32{int32(v.at[0]), int32(v.at[1])}
		}
	}
	return at
}

// device keeps what an object says of the whole event.
func (e *walk) device(values []value) {
	if len(e.path) > 0 && string(e.path[len(e.path)-1].key) == "sdk" && stepsBack(e.Bytes, values) {
		e.images = append(e.images, image{})
	}
	for _, s := range e.shapes {
		var f facts
		if len(s.said[ofDevice]) > 0 && s.facts(ofDevice, e.Bytes, values, &f) {
			e.images = append(e.images, image{facts: f, shape: s, device: true})
		}
	}
}

// stepsBack reports whether the members of an object name a library for Dart, which steps addresses back.
func stepsBack(text []byte, values []value) bool {
	for _, v := range values {
		name := text[v.at[0]:v.at[1]]
		if string(text[v.key[0]:v.key[1]]) == "name" && (bytes.Contains(name, []byte("dart")) || bytes.Contains(name, []byte("flutter"))) {
			return true
		}
	}
	return false
}
