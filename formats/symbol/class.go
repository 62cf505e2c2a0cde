package symbol

import (
	"slices"
	"sort"
	"strings"
)

// R8 is the kind of every mapping of renamed Java and Kotlin code, ProGuard's too.
const R8 Kind = "r8"

// NameMapID is the kind of the id that R8 gives a mapping (pg_map_id, pg_map_hash): lower-case
// hex, as it stands in frames after "r8-map-id-".
const NameMapID NameKind = "map-id"

// RankMapping is the rank of a mapping's classes.
const RankMapping Rank = 1

// Class is the R8 counterpart of a range: one renamed class, with all that retracing its frames
// needs. Where a mapping names a class twice, the last one counts, as in R8. The class with Name "" is no class: it holds the Facts of its mapping.
//
// All names are Java's, with dots; nested classes keep their $. What belongs to a cache is read
// only.
type Class struct {
	Name        string // as it stands in the program
	Original    string
	File        string // its source file; "": the mapping does not say
	Synthesized bool   // made by the compiler: it has no place in an original stack
	// Members are sorted by Name, fields and methods together. Members of one name keep the
	// mapping's order, which is meaning: an inline group stands innermost first.
	Members []Member
	// Files are the source files of other classes that Members name, ascending by Class.
	Files []ClassFile
	Facts *Facts // nil unless Name is ""
}

// ClassFile is the source file of a class, by its original name.
type ClassFile struct{ Class, File string }

// Facts is what a mapping says as a whole.
type Facts struct {
	// Version is the highest map version that a part of the mapping declares; "": none.
	Version string
	// Packages are the packages of all classes that the mapping names, as they stand in the program,
	// with dots ("" is the one without a name), ascending: what R8 calls the obfuscated packages.
	// A class that the mapping does not name, in a package that stands here, may be a renamed
	// a package that is empty now; the mapping says nothing about classes in any other.
	Packages []string
}

// Member is one line of a mapping below its class.
type Member struct {
	*Method        // never nil; members of a class that are about one method share it
	Name    string // as it stands in the program
	Lines   Lines  // in the program
	From    Lines  // in the source
	Rules   []Rule // that stand below this line
}

// Method is a method of the source, or a field.
type Method struct {
	Field    bool
	Class    string // original class that declares it, where that is another than the class's; else ""
	Original string // its name in the source
	Type     string // of a field, or what a method returns
	Params   string // of a method, parted by commas, without spaces
}

// Lines are line numbers, both ends inclusive.
type Lines struct {
	First, Last uint32
	Count       uint8 // how many were written: 0 none, 1 First alone (Last equals it), 2 both
}

// RuleKind says what a rule does. Durable: stored in rows.
type RuleKind uint8

// The rules of map version 1.0 to 2.2.
const (
	Synthesized       RuleKind = 1 // the frame was made by the compiler
	RewriteFrame      RuleKind = 2
	Outline           RuleKind = 3 // the frame is dropped, its line carried to the next
	OutlineCallsite   RuleKind = 4
	ResidualSignature RuleKind = 5
)

// Rule is an annotation of a mapping on a member.
type Rule struct {
	Kind RuleKind
	// Undeclared is set where the map version in force is older than the rule: to R8 it is a
	// comment, other tools apply it.
	Undeclared bool
	// Conditions and Actions of RewriteFrame, as written: "throws(Ljava/lang/Error;)", all of
	// which must hold, and "removeInnerFrames(1)", from left to right.
	Conditions []string
	Actions    []string
	// Positions of OutlineCallsite, ascending by Outline: a line in the outline becomes one here.
	Positions []OutlinePosition
	// Text is the outline of an OutlineCallsite ("La;b()V"; "": not said), and the descriptor
	// of a ResidualSignature ("(La;I)V", "La;").
	Text string
}

// OutlinePosition leads from a line in an outline to one at its call.
type OutlinePosition struct{ Outline, Line uint32 }

// Named gives the members with that name, as they stand.
func (c *Class) Named(name string) []Member {
	from := sort.Search(len(c.Members), func(i int) bool { return c.Members[i].Name >= name })
	to := from
	for to < len(c.Members) && c.Members[to].Name == name {
		to++
	}
	return c.Members[from:to]
}

// Whole is the class, which has all its members.
func (c *Class) Whole() *Class { return c }

// FileOf gives the source file of a class by its original name: the class's own, or one of Files.
// "": the mapping does not say.
func (c *Class) FileOf(original string) string {
	if original == c.Original || original == "" {
		return c.File
	}
	i := sort.Search(len(c.Files), func(i int) bool { return c.Files[i].Class >= original })
	if i < len(c.Files) && c.Files[i].Class == original {
		return c.Files[i].File
	}
	return ""
}

// Clone copies the class with all that it points at, strings too.
func (c *Class) Clone() *Class {
	d := *c
	d.Name, d.Original, d.File = strings.Clone(c.Name), strings.Clone(c.Original), strings.Clone(c.File)
	d.Members, d.Files = append([]Member(nil), c.Members...), append([]ClassFile(nil), c.Files...)
	methods := map[*Method]*Method{}
	for i := range d.Members {
		m := &d.Members[i]
		again := methods[m.Method]
		if again == nil {
			again = &Method{m.Field, strings.Clone(m.Class), strings.Clone(m.Original), strings.Clone(m.Type), strings.Clone(m.Params)}
			methods[m.Method] = again
		}
		m.Method, m.Name = again, strings.Clone(m.Name)
		m.Rules = slices.Clone(m.Rules)
		for k := range m.Rules {
			r := &m.Rules[k]
			r.Conditions, r.Actions = CloneStrings(r.Conditions), CloneStrings(r.Actions)
			r.Positions, r.Text = slices.Clone(r.Positions), strings.Clone(r.Text)
		}
	}
	for i, f := range d.Files {
		d.Files[i] = ClassFile{strings.Clone(f.Class), strings.Clone(f.File)}
	}
	if c.Facts != nil {
		d.Facts = &Facts{strings.Clone(c.Facts.Version), CloneStrings(c.Facts.Packages)}
	}
	return &d
}
