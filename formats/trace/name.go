package trace

import "strings"

// Name is what a slice is called in the trace. Shared: read only.
type Name struct {
	ID   int32  // dense, from 0 since the last Forget
	Text string // as the trace has it
	// Plain: it is no method, or the trace says to take it as it stands.
	Plain bool
	Args  []Arg  // what the trace says besides
	File  string // of the method's source, as the program has it; "": not said
	Line  int    // in the program; 0: not said
}

// Arg is something said about a slice.
type Arg struct{ Key, Value string }

// Label is what a slice is to be called.
type Label struct {
	Text    string   // as shown
	Or      []string // other methods that it may be as well
	Inlined []string // the methods inlined into it at its line, innermost first
	File    string   // of the source; "": not known
	Line    uint32   // there; 0: not known
}

// Method is a method's name taken apart.
type Method struct {
	Returns string // its type; "": not said
	Class   string
	Name    string
	Typed   bool     // Params is known
	Params  []string // types that it takes
	File    string   // of the source; "": not said
	Line    int      // in the program; 0: not said
}

// Method takes the name apart: "[TYPE ]CLASS.METHOD", then nothing, the types it takes in brackets, or a file and line
// in brackets. ok is false if n is no method.
func (n *Name) Method() (m Method, ok bool) {
	if n.Plain {
		return m, false
	}
	m.File, m.Line = n.File, n.Line
	text := n.Text
	if open := strings.IndexByte(text, '('); open >= 0 {
		end := strings.IndexByte(text[open:], ')')
		if end < 0 {
			return m, false
		}
		inside, rest := text[open+1:open+end], text[open+end+1:]
		text = text[:open]
		if file, line, found := strings.Cut(inside, ":"); found {
			m.File, m.Line = file, number(line)
		} else {
			m.Typed = true
			if inside != "" {
				m.Params = strings.Split(inside, ",")
			}
			for i, p := range m.Params {
				if m.Params[i] = strings.TrimSpace(p); m.Params[i] == "" {
					return m, false
				}
			}
		}
		if line, found := strings.CutPrefix(rest, ":"); found && number(line) > 0 {
			m.Line = number(line)
		} else if rest != "" {
			return m, false
		}
	}
	if space := strings.LastIndexByte(text, ' '); space >= 0 {
		m.Returns, text = text[:space], text[space+1:]
		if strings.IndexByte(m.Returns, ' ') >= 0 {
			return m, false
		}
	}
	dot := strings.LastIndexByte(text, '.')
	if dot <= 0 || dot == len(text)-1 || strings.ContainsAny(text, "\t\"'{}[]:") {
		return m, false
	}
	m.Class, m.Name = text[:dot], text[dot+1:]
	return m, true
}

// number reads a line number; 0: it is none.
func number(s string) int {
	n := 0
	for i := range len(s) {
		c := s[i]
		if c < '0' || c > '9' || n > 1<<24 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
