// Package method reads and writes names of methods as profilers of Java and Kotlin spell them.
package method

import (
	"strings"

	"github.com/symlake/symlake/formats/report"
)

// Method is a method of Java or Kotlin as profilers spell it:
//
//	int a.b.c(java.lang.String, a.d)   OpenTelemetry's eBPF profiler
//	a.b.c                              others
//	a/b.c                              async-profiler
type Method struct {
	report.Managed
	returns bool // a type stands before it, which is the last of Types
	params  bool // types stand behind it
	slashes bool
}

// Parse reads a method; nil: the text is none.
func Parse(text string) *Method {
	m := &Method{}
	head, types, params := strings.Cut(strings.TrimSpace(text), "(")
	if params {
		types, _, m.params = strings.Cut(types, ")")
	}
	returns := ""
	if at := strings.LastIndexByte(head, ' '); at >= 0 {
		returns, head, m.returns = strings.TrimSpace(head[:at]), head[at+1:], true
	}
	dot := strings.LastIndexByte(head, '.')
	if dot <= 0 || dot+1 == len(head) || strings.ContainsAny(head, "<;:[]{}") && !strings.HasSuffix(head, ".<init>") && !strings.HasSuffix(head, ".<clinit>") {
		return nil
	}
	class := head[:dot]
	if strings.IndexByte(class, '/') >= 0 && strings.IndexByte(class, '.') < 0 {
		class, m.slashes = strings.ReplaceAll(class, "/", "."), true
	}
	m.Class, m.Method = class, head[dot+1:]
	if m.params && types != "" {
		for one := range strings.SplitSeq(types, ",") {
			m.Types = append(m.Types, report.Type{Name: strings.TrimSpace(one)})
		}
	}
	if m.returns {
		m.Types = append(m.Types, report.Type{Name: returns})
	}
	return m
}

// Spell returns the name of a method of the source in the way that the profile spells methods. outermost: it is the method that the
// profile names, the others are inlined into it.
func (m *Method) Spell(name string, outermost bool) string {
	if m.slashes {
		if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
			name = strings.ReplaceAll(name[:dot], ".", "/") + name[dot:]
		}
	}
	if !outermost {
		return name
	}
	types := m.Types
	before := ""
	if m.returns {
		before = original(&types[len(types)-1]) + " "
		types = types[:len(types)-1]
	}
	if !m.params {
		return before + name
	}
	var b strings.Builder
	b.WriteString(before)
	b.WriteString(name)
	b.WriteByte('(')
	for i := range types {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(original(&types[i]))
	}
	b.WriteByte(')')
	return b.String()
}

// original returns a type's name in the source.
func original(t *report.Type) string {
	if t.Original != "" {
		return t.Original
	}
	return t.Name
}
