// Package retrace gives lines of Java and Kotlin back the names that a
// shrinker took from them, by R8's rules, which need a thread's context: an
// exception decides about the frames under it, an outline's line is looked up
// at its caller's.
//
// It is pure: lines come from [report.Thread], classes from a function, answers
// go into a slice. Reading text is stack's, finding classes the caller's.
//
// Invariants:
//   - a line is answered Found when its class is mapped; its chain stands
//     innermost first, a line that only names classes has one frame, its class;
//   - Function is CLASS.METHOD, Linkage the same with "(PARAMS)TYPE" behind it
//     where the mapping knows the method, CLASS.FIELD and ":TYPE" for a field;
//   - Found without frames is a line that has no place in the source;
//   - alternatives are bounded by MaxAlternatives for any ranges of a mapping.
package retrace

import (
	"errors"
	"strings"
	"unsafe"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// MaxAlternatives bounds the chains of one line. Without a line number every
// line of a method is one; methods of some thousand lines exist.
const MaxAlternatives = 4096

// Options of retracing.
type Options struct {
	School report.School
	// Verbose keeps apart what differs in signature or line only, also where the text would
	// not show it.
	Verbose bool
	// Room is asked for the memory of each line's answer, in bytes, alternatives included; nil: there is no bound.
	Room func(bytes int64) error
}

var (
	errUnmapped = errors.New("the mapping has no such class")
	errNameless = errors.New("the line names no class")
)

// Classes appends the names, as printed, of the classes that a thread's lines
// name, in the order in which Retrace asks for them; some may come twice, and some are no classes at all.
func Classes(t *report.Thread, to []string) []string {
	for i := range t.Frames {
		m := t.Frames[i].Managed
		if m == nil {
			continue
		}
		for k := range m.Types {
			if name := strings.TrimRight(m.Types[k].Name, "[]"); name != "" && !primitive[name] {
				to = append(to, name)
			}
		}
		if m.Class != "" {
			to = append(to, className(m))
		}
	}
	return to
}

// className is the line's class with dots.
func className(m *report.Managed) string {
	if strings.IndexByte(m.Class, '/') < 0 {
		return m.Class
	}
	return strings.ReplaceAll(m.Class, "/", ".")
}

var primitive = map[string]bool{"void": true, "boolean": true, "byte": true, "char": true, "short": true, "int": true, "long": true, "float": true, "double": true}

// Retrace answers the managed lines of a thread in answers, which has one element
// a frame; it leaves other frames' elements alone. class returns a class by its
// name in the program, nil if it is not mapped. The originals of other names in a
// line go into its Types. The only error is Options.Room's; it ends the thread.
func Retrace(t *report.Thread, class func(name string) *Class, o Options, answers []symbol.Answer) error {
	r := retracer{class: class, o: o}
	for i := range t.Frames {
		m := t.Frames[i].Managed
		if m == nil {
			continue
		}
		r.left = len(t.Frames) - i
		r.line(m, &answers[i])
		if o.Room != nil {
			if err := o.Room(answerBytes(&answers[i])); err != nil {
				return err
			}
		}
	}
	return nil
}

// answerBytes is the memory of an answer without the names that classes hold.
func answerBytes(a *symbol.Answer) int64 {
	frames := len(a.Frames)
	for _, chain := range a.Or {
		frames += len(chain)
	}
	return int64(frames)*int64(unsafe.Sizeof(symbol.Frame{})) + int64(len(a.Or))*int64(unsafe.Sizeof(a.Frames))
}

// retracer is the state of one thread: what a line leaves for the next.
type retracer struct {
	class   func(name string) *Class
	o       Options
	context context
	left    int      // lines, that one included
	choices []choice // of the line at work
	chains  []chain  // of the line at work
	slab    []symbol.Frame
}

// context is what lines before say about this one.
type context struct {
	thrown   string // the exception above, by its name in the program
	outlined bool   // the line before is an outline's
	outline  int    // its number
}

func (r *retracer) line(m *report.Managed, a *symbol.Answer) {
	r.types(m)
	if m.Class == "" {
		*a = symbol.Answer{Status: symbol.Hole, Err: errNameless}
		if len(m.Types) > 0 {
			*a = symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{}}}
		}
		return
	}
	name := className(m)
	x := r.class(name)
	switch {
	case m.Method == "" && m.Field == "":
		r.names(m, x, a)
	case x == nil:
		*a = symbol.Answer{Status: symbol.Hole, Err: errUnmapped}
	case m.Method == "":
		r.field(m, x, a)
	default:
		r.frame(m, x, a)
	}
}

// names answers a line without a method: an exception's.
func (r *retracer) names(m *report.Managed, x *Class, a *symbol.Answer) {
	if m.Thrown != "" {
		r.context = context{thrown: m.Thrown}
	}
	also := false
	for i := range m.Types {
		also = also || m.Types[i].Original != ""
	}
	switch {
	case x != nil:
		*a = symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: x.Original, Linkage: x.Original, File: r.file(x, "", m)}}}
	case also:
		*a = symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: className(m), Linkage: className(m)}}}
	default:
		*a = symbol.Answer{Status: symbol.Hole, Err: errUnmapped}
	}
}

// types finds the originals of the types that the line names.
func (r *retracer) types(m *report.Managed) {
	for i := range m.Types {
		t := &m.Types[i]
		name := strings.TrimRight(t.Name, "[]")
		if name == "" || primitive[name] {
			continue
		}
		if x := r.class(name); x != nil && (!t.Thrown || isThrown(name, x.Original)) {
			t.Original = x.Original + t.Name[len(name):]
		}
	}
}

// isThrown tells an exception's name in a message from a word of it that a
// class happens to be called by.
func isThrown(name, original string) bool {
	if strings.IndexByte(name, '.') >= 0 {
		return true
	}
	for _, suffix := range [...]string{"Exception", "Error", "Throwable", "Failure"} {
		if strings.HasSuffix(original, suffix) {
			return true
		}
	}
	return false
}

func (r *retracer) field(m *report.Managed, x *Class, a *symbol.Answer) {
	*a = symbol.Answer{Status: symbol.Found}
	file := func(class string) string { return r.file(x, class, m) }
	for _, f := range x.Named(m.Field) {
		if !f.Field {
			continue
		}
		class := f.Class
		if class == "" {
			class = x.Original
		}
		name := class + "." + f.Original
		one := []symbol.Frame{{Function: name, Linkage: name + ":" + f.Type, File: file(f.Class)}}
		if a.Frames == nil {
			a.Frames = one
		} else if len(a.Or) < MaxAlternatives {
			a.Or = append(a.Or, one)
		}
	}
	if a.Frames == nil {
		name := x.Original + "." + m.Field
		a.Frames = []symbol.Frame{{Function: name, Linkage: name, File: file("")}}
	}
}
