package retrace

import (
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Original is a method as the source has it.
type Original struct {
	Class, Name string
	Params      string // what it takes, parted by commas without spaces; "" also where the mapping does not say
	Type        string // what it returns; "": the mapping does not say
	File        string // source file of Class; "": the mapping does not say
}

// Methods gives the methods of the source that a method of the program may be, where neither a line nor a stack
// is known: as traces and profiles name methods. Parameters (m.Types, if m.Params) and the returned type (of the
// program, "": not said) tell methods of one name apart, unless they fit none. In place of a method that the
// compiler made, Methods returns the methods inlined into it. It returns nil if the mapping does not have the
// class, and fills in the originals of m.Types.
func Methods(m *report.Managed, returns string, class func(name string) *Names) []Original {
	original := func(name string) string {
		if x := class(name); x != nil {
			return x.Original
		}
		return ""
	}
	for i := range m.Types {
		t := &m.Types[i]
		if bare := strings.TrimRight(t.Name, "[]"); bare != "" && !primitive[bare] {
			if of := original(bare); of != "" {
				t.Original = of + t.Name[len(bare):]
			}
		}
	}
	x := class(className(m))
	if x == nil {
		return nil
	}
	found := x.method(m.Method)
	if m.Params {
		found = fitting(found, m.Types, returns, original)
	}
	var all, made []Original
	for i := range found {
		all, made = add(all, found[i].called...), add(made, found[i].made...)
	}
	if len(all) == 0 {
		all = made
	}
	if len(all) > 0 {
		return all
	}
	// The class is mapped, the method kept its name.
	params := make([]string, len(m.Types))
	for i := range m.Types {
		params[i] = typeName(&m.Types[i])
	}
	return []Original{{Class: x.Original, Name: m.Method, Params: strings.Join(params, ","), File: x.File}}
}

// add adds methods, each once.
func add(all []Original, more ...Original) []Original {
	for i := range more {
		if !slices.Contains(all, more[i]) && len(all) < MaxAlternatives {
			all = append(all, more[i])
		}
	}
	return all
}

// typeName is a type as the source has it.
func typeName(t *report.Type) string {
	if t.Original != "" {
		return t.Original
	}
	return t.Name
}

// fitting keeps the overloads with a signature of the program; all of them, if none is known to have it.
func fitting(all []signed, types []report.Type, returns string, original func(name string) string) []signed {
	var params, descriptors strings.Builder
	for i := range types {
		if i > 0 {
			params.WriteByte(',')
		}
		params.WriteString(typeName(&types[i]))
		descriptor(&descriptors, types[i].Name)
	}
	var returned strings.Builder
	returnsOriginal := returns
	if returns != "" {
		if returns == "void" {
			returned.WriteByte('V')
		} else {
			descriptor(&returned, returns)
		}
		bare := strings.TrimRight(returns, "[]")
		if of := original(bare); of != "" {
			returnsOriginal = of + returns[len(bare):]
		}
	}
	var kept []signed
	for i := range all {
		o := &all[i]
		fits := o.params == params.String() && (returns == "" || o.of == returnsOriginal)
		if o.residual != "" {
			fits = strings.HasPrefix(o.residual, "("+descriptors.String()+")"+returned.String())
		}
		if fits {
			kept = append(kept, *o)
		}
	}
	if kept == nil {
		return all
	}
	return kept
}

// residual is the overload's signature in the program, "" if the mapping does not say.
func (o *overload) residual() string {
	for i := range o.lines {
		for k := range o.lines[i].rules() {
			if rule := &o.lines[i].rules()[k]; rule.Kind == symbol.ResidualSignature {
				return rule.Text
			}
		}
	}
	return ""
}
