// Package shape reads and prints the JSON events of services by a table of their shapes. Package event holds the
// table; its documentation shows how a row is added.
package shape

import (
	"slices"
	"strings"
	"sync"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Shape is how a service writes events: a row of a table. Names and paths are parted by spaces, the best first. A path
// is the end of a path to a value: names of members parted by dots, without the indexes of lists.
type Shape struct {
	Name    string // of the form
	Service string // as its users call it; "": the row is of no service
	Lines   string // an example in a few words
	Kinds   string // languages of its frames, for the table of services

	Signs []string // of each, the text has one member, or the row is left out

	Frames    string // paths of lists of frames, or of single frames; "": anywhere
	Frame     Names
	Needs     string // members that a frame has, beside the facts of its kind
	Texts     string // paths of strings with lines of crash reports that need the event's images; "": none
	Oldest    bool   // the oldest frame stands first
	Qualified bool   // Function holds the class too: "a.b.c.d" is d of a.b.c
	Zero      bool   // lines and columns count from 0
	// Columns says what columns count from, if Zero does not say it.
	Columns Columns
	Imaged  bool // File names the image of native frames
	InFile  bool // without Class, the path of the class file in File names the class
	Hex     bool // addresses in strings are hexadecimal, with or without 0x
	Dart    bool // frames are of Dart, which may have renamed the classes of exceptions
	Frame0  report.Frame0
	Kind    symbol.Kind // of native code, unless the list of images says it

	Images     string // paths of lists of images, or of single images; "": there are none
	Image      Names
	Threads    string // paths of objects around lists of frames that say Thread; "": any
	Thread     Names
	Exceptions string // paths of objects around lists of frames that say Exception; "": none
	Exception  Names
	Beside     string // paths of objects beside lists of frames that say Exception; "": none
	Device     Names  // facts of the whole event, in any object: Arch

	Add  string // members that a native frame gets if it lacks them; "": function, file and line
	Gone string // members that no longer hold beside another function
	// Whole writes an answer in place of the frame; nil: the answer goes into members of the frame.
	Whole func(a *symbol.Frame) []byte

	once  sync.Once
	form  *report.Form
	ways  [kinds][][]string // names of paths
	said  [kinds]map[string]said
	names [fieldCount][]string // of Frame
	needs []string
	added []string
	gone  []string
}

// Columns is what columns of scripts count from.
type Columns uint8

// The kinds of columns.
const (
	AsPrinted Columns = iota // from 1, and in bytecode from 0
	FromOne                  // from 1, in bytecode too
	FromZero
)

// Names are the names of members that say the facts of an object.
type Names struct {
	Address    string // of the frame's instruction in the process
	Offset     string // of the frame's instruction in its image
	ImageAddr  string // where the image was loaded
	ImageEnd   string // the last address of the image, or the address behind it
	ImageSize  string // bytes of the image
	ImageID    string // build-id or UUID
	DebugID    string // of an image, if the service has another beside ImageID; of a frame's script
	ImageIndex string // of the frame's image in the list of images
	ImageName  string // path or name of the image
	ImageType  string // elf, macho, sourcemap, proguard …
	Arch       string // architecture
	File       string // source file, or script. Native answers write its base name
	Path       string // source file, or script. Native answers write all of it
	Line       string // from 1
	Column     string // from 1
	Function   string // function or method
	Class      string // class of a method, or of an exception
	Module     string // package of an exception's class
	Inline     string // true: an answer of an earlier run added the frame
	Exact      string // true: the address is where the thread stood
	Platform   string // language of the frame: java, javascript, native …
	Mode       string // what addresses count from, in the words of Sentry
	Bytecode   string // number of a function of Hermes' bytecode
	Token      string // number of a method of an assembly of .NET; the place is an offset in its code
	ID         string // number of the thread
	Title      string // name of the thread
	Crashed    string // true: the thread failed
}

// field is one of Names.
type field uint8

const (
	address field = iota
	offset
	imageAddr
	imageEnd
	imageSize
	imageID
	debugID
	imageIndex
	imageName
	imageType
	arch
	file
	location
	line
	column
	function
	class
	module
	inline
	exact
	platform
	mode
	bytecode
	token
	id
	title
	crashed

	fieldCount
)

// list returns the names by field.
func (n *Names) list() [fieldCount]string {
	return [...]string{n.Address, n.Offset, n.ImageAddr, n.ImageEnd, n.ImageSize, n.ImageID, n.DebugID, n.ImageIndex, n.ImageName, n.ImageType, n.Arch, n.File, n.Path,
		n.Line, n.Column, n.Function, n.Class, n.Module, n.Inline, n.Exact, n.Platform, n.Mode, n.Bytecode, n.Token, n.ID, n.Title, n.Crashed}
}

// The kinds of objects, and of strings, that a row knows.
const (
	ofFrame = iota
	ofImage
	ofThread
	ofException
	ofDevice
	ofText
	ofBeside

	kinds
)

// said is a fact that a member of an object says.
type said struct {
	field field
	rank  int // among the names of the field
}

// ready indexes the row before its first use.
func (s *Shape) ready() *Shape {
	s.once.Do(func() {
		for i, paths := range [...]string{s.Frames, s.Images, s.Threads, s.Exceptions, "", s.Texts, s.Beside} {
			for p := range strings.FieldsSeq(paths) {
				s.ways[i] = append(s.ways[i], strings.Split(p, "."))
			}
		}
		for i, n := range [...]*Names{&s.Frame, &s.Image, &s.Thread, &s.Exception, &s.Device} {
			s.said[i] = map[string]said{}
			for f, all := range n.list() {
				for rank, name := range strings.Fields(all) {
					s.said[i][name] = said{field(f), rank}
				}
			}
		}
		for f, all := range s.Frame.list() {
			s.names[f] = strings.Fields(all)
		}
		s.needs, s.added, s.gone = strings.Fields(s.Needs), strings.Fields(s.Add), strings.Fields(s.Gone)
	})
	return s
}

// nameOf returns the name under which an answer is added to a frame; "": the service has none.
func (s *Shape) nameOf(f field) string {
	if all := s.names[f]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// Table is the shapes of services. Of an object, the first shape that fits counts. It is safe for concurrent use.
type Table struct {
	shapes []*Shape
	once   sync.Once
	signs  *signs
}

// NewTable returns a table of shapes, and makes their forms. Shapes of one name share their form.
func NewTable(shapes ...*Shape) *Table {
	for i, s := range shapes {
		if k := slices.IndexFunc(shapes[:i], func(t *Shape) bool { return t.Name == s.Name }); k >= 0 {
			s.form = shapes[k].form
			continue
		}
		values := s.Frame0
		if values == report.AsFormat {
			values = report.Exact
		}
		s.form = &report.Form{Name: s.Name, Frame0: values, Kind: s.Kind, Print: printEvent, Lines: s.Lines}
	}
	return &Table{shapes: shapes}
}

// Shapes returns the shapes. The list belongs to the table.
func (table *Table) Shapes() []*Shape { return table.shapes }

// Forms returns the forms of the shapes, each once.
func (table *Table) Forms() (all []*report.Form) {
	for _, s := range table.shapes {
		if !slices.Contains(all, s.form) {
			all = append(all, s.form)
		}
	}
	return all
}
