package retrace

import (
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/stack"
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
// is known: as traces and profiles name methods. What it takes (m.Types, if m.Params) and what it returns (type
// of the program, "": not said) tell methods of one name apart; what nothing fits is not narrowed. Methods that the
// compiler made stand only where there is no other. nil: the mapping does not have the class. The originals of
// m.Types are filled in.
func Methods(m *stack.Managed, returns string, class func(name string) *Class) []Original {
	r := retracer{class: class}
	r.types(m)
	x := class(className(m))
	if x == nil {
		return nil
	}
	found := slices.Clone(x.method(m.Method))
	if m.Params {
		found = fitting(found, m.Types, returns, class)
	}
	made := func(o overload) bool { return o.synthesized || o.outline }
	if slices.ContainsFunc(found, func(o overload) bool { return !made(o) }) {
		found = slices.DeleteFunc(found, made)
	}
	var all []Original
	for i := range found {
		l := found[i].original
		one := Original{Class: l.class, Name: l.Original, Params: l.Params, Type: l.Type, File: l.file}
		if !slices.Contains(all, one) && len(all) < MaxAlternatives {
			all = append(all, one)
		}
	}
	if len(all) > 0 {
		return all
	}
	// The class is mapped, the method kept its name.
	params := make([]string, len(m.Types))
	for i, t := range m.Types {
		if params[i] = t.Original; params[i] == "" {
			params[i] = t.Name
		}
	}
	return []Original{{Class: x.Original, Name: m.Method, Params: strings.Join(params, ","), File: x.File}}
}

// fitting keeps the overloads with a signature of the program; all of them, if none is known to have it.
func fitting(all method, types []stack.Type, returns string, class func(name string) *Class) method {
	var params, descriptors strings.Builder
	for i := range types {
		t := &types[i]
		if i > 0 {
			params.WriteByte(',')
		}
		if t.Original != "" {
			params.WriteString(t.Original)
		} else {
			params.WriteString(t.Name)
		}
		descriptor(&descriptors, t.Name)
	}
	var returned strings.Builder
	original := returns
	if returns != "" {
		if returns == "void" {
			returned.WriteByte('V')
		} else {
			descriptor(&returned, returns)
		}
		bare := strings.TrimRight(returns, "[]")
		if x := class(bare); x != nil {
			original = x.Original + returns[len(bare):]
		}
	}
	var kept method
	for i := range all {
		residual := all[i].residual()
		l := all[i].original
		fits := l.Params == params.String() && (returns == "" || l.Type == original)
		if residual != "" {
			fits = strings.HasPrefix(residual, "("+descriptors.String()+")"+returned.String())
		}
		if fits {
			kept = append(kept, all[i])
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
		for k := range o.lines[i].Rules {
			if rule := &o.lines[i].Rules[k]; rule.Kind == symbol.ResidualSignature {
				return rule.Text
			}
		}
	}
	return ""
}
