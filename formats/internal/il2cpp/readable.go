package il2cpp

import "strings"

// Readable returns the full name of a method of .NET as C# spells it: without the type that it returns, with dots and with
// the arguments of generics.
//
//	System.Void Game.Inventory`1/Slot<Game.Item>::Add(!0,System.Int32)  Game.Inventory<Game.Item>.Slot.Add(Game.Item, System.Int32)
//
// A text that is no full name comes back as it is.
func Readable(full string) string {
	at := outside(full, "::", 0)
	if at < 0 {
		return full
	}
	begin := 0
	if i := lastSpace(full[:at]); i >= 0 {
		begin = i + 1
	}
	method, params := full[at+2:], ""
	if i := outside(method, "(", 0); i >= 0 && strings.HasSuffix(method, ")") {
		method, params = method[:i], method[i+1:len(method)-1]
	}
	owner, ownerArgs := split(full[begin:at])
	method, methodArgs := split(method)
	r := reader{owner: ownerArgs, method: methodArgs}
	var b strings.Builder
	b.WriteString(r.typed(owner, ownerArgs))
	b.WriteByte('.')
	b.WriteString(arity(method))
	if len(methodArgs) > 0 {
		b.WriteString("<" + r.list(methodArgs) + ">")
	}
	b.WriteString("(" + r.list(arguments(params)) + ")")
	return b.String()
}

// reader knows the arguments that !0 and !!0 stand for.
type reader struct {
	owner, method []string
	depth         int
}

// maxNesting bounds generics in generics.
const maxNesting = 32

func (r *reader) list(types []string) string {
	var all []string
	for _, t := range types {
		all = append(all, r.spelled(t))
	}
	return strings.Join(all, ", ")
}

// spelled is a type in C#'s spelling.
func (r *reader) spelled(t string) string {
	if r.depth == maxNesting {
		return t
	}
	r.depth++
	defer func() { r.depth-- }()
	t = strings.TrimSpace(t)
	from := r.owner
	number, isOwn := strings.CutPrefix(t, "!")
	if n, isMethods := strings.CutPrefix(number, "!"); isMethods {
		number, from = n, r.method
	}
	if isOwn {
		end := 0
		for end < len(number) && number[end] >= '0' && number[end] <= '9' {
			end++
		}
		n := 0
		for _, c := range number[:min(end, 4)] {
			n = n*10 + int(c-'0')
		}
		if end > 0 && n < len(from) {
			outer := *r
			outer.owner, outer.method = nil, nil // an argument says no parameters of its own
			return outer.spelled(from[n]) + number[end:]
		}
		return t
	}
	end := len(t)
	for end > 0 && strings.IndexByte("]&*", t[end-1]) >= 0 {
		if t[end-1] != ']' {
			end--
			continue
		}
		open := strings.LastIndexByte(t[:end], '[')
		if open < 0 {
			break
		}
		end = open
	}
	bare, args := split(t[:end])
	return r.typed(bare, args) + t[end:]
}

// typed is a type with its arguments, which it shares among itself and the types around it.
func (r *reader) typed(bare string, args []string) string {
	parts := strings.Split(bare, "/")
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteByte('.')
		}
		short, n := cutArity(part)
		b.WriteString(short)
		own := args[:min(n, len(args))]
		if i == len(parts)-1 && n > 0 {
			own = args
		}
		args = args[len(own):]
		if len(own) > 0 {
			b.WriteString("<" + r.list(own) + ">")
		}
	}
	return b.String()
}

// split parts a name from the arguments in angle brackets at its end. Names of compilers have such brackets too, at their
// beginning: "<Start>d__5".
func split(t string) (bare string, args []string) {
	if !strings.HasSuffix(t, ">") {
		return t, nil
	}
	depth := 0
	for i := len(t) - 1; i > 0; i-- {
		switch t[i] {
		case '>':
			depth++
		case '<':
			if depth--; depth == 0 {
				if t[i-1] == '/' || t[i-1] == '.' {
					return t, nil
				}
				return t[:i], arguments(t[i+1 : len(t)-1])
			}
		}
	}
	return t, nil
}

// arguments parts a list at its own commas.
func arguments(list string) (all []string) {
	if list == "" {
		return nil
	}
	for from := 0; ; {
		at := outside(list, ",", from)
		if at < 0 {
			return append(all, list[from:])
		}
		all = append(all, list[from:at])
		from = at + 1
	}
}

// outside finds text outside of brackets, from a place on; -1: there is none.
func outside(s, text string, from int) int {
	depth := 0
	for i := from; i < len(s); i++ {
		if depth == 0 && strings.HasPrefix(s[i:], text) {
			return i
		}
		switch s[i] {
		case '<', '[', '(':
			depth++
		case '>', ']', ')':
			depth = max(depth-1, 0)
		}
	}
	return -1
}

// lastSpace finds the last space outside of brackets.
func lastSpace(s string) int {
	depth := 0
	for i := len(s) - 1; i >= 0; i-- {
		switch s[i] {
		case '>', ']', ')':
			depth++
		case '<', '[', '(':
			depth = max(depth-1, 0)
		case ' ':
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// cutArity parts "List`1" into its name and the number of its parameters.
func cutArity(part string) (string, int) {
	i := strings.LastIndexByte(part, '`')
	if i < 0 {
		return part, 0
	}
	n := 0
	for _, c := range part[i+1:] {
		if c < '0' || c > '9' || n > 99 {
			return part, 0
		}
		n = n*10 + int(c-'0')
	}
	return part[:i], n
}

func arity(method string) string {
	short, _ := cutArity(method)
	return short
}
