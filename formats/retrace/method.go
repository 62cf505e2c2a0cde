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
// of the program, "": not said) tell methods of one name apart; what nothing fits is not narrowed. In place of a method
// that the compiler made stand those that were inlined into it. nil: the mapping does not have the class. The
// originals of m.Types are filled in.
func Methods(m *stack.Managed, returns string, class func(name string) *Class) []Original {
	r := retracer{class: class}
	r.types(m)
	x := class(className(m))
	if x == nil {
		return nil
	}
	found := x.method(m.Method)
	if m.Params {
		found = fitting(found, m.Types, returns, class)
	}
	var all, made []Original
	for i := range found {
		o := &found[i]
		for from := 0; from < len(o.lines); {
			end := groupEnd(o.lines, from)
			switch {
			case !o.synthesized:
				all = add(all, &o.lines[end-1])
			case end-from > 1: // made by the compiler around what it calls
				all = add(all, &o.lines[end-2])
			default:
				made = add(made, &o.lines[end-1])
			}
			from = end
		}
	}
	if len(all) == 0 {
		all = made
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

// add adds the method of a line, once.
func add(all []Original, l *line) []Original {
	one := Original{Class: l.class, Name: l.Original, Params: l.Params, Type: l.Type, File: l.file}
	if slices.Contains(all, one) || len(all) >= MaxAlternatives {
		return all
	}
	return append(all, one)
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
