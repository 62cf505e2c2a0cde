package group

import "strings"

// isSwift reports whether a linkage name is one of Swift's.
func isSwift(linkage string) bool {
	return hasAnyPrefix(strings.TrimLeft(linkage, "_"), []string{"$s", "$S", "$e", "T0"})
}

// swiftMade are the beginnings of functions that the compiler makes: they stand between others in some builds only.
var swiftMade = []string{"partial apply forwarder", "protocol witness", "reabstraction thunk", "dispatch thunk", "outlined ", "type metadata", "lazy protocol witness", "vtable thunk", "back deployment thunk"}

// swiftName returns the name of a function of Swift, without types, specializations and numbers of closures; "" if the
// compiler made it.
func swiftName(s string) string { return swiftNameAt(s, 0) }

// mostAround functions stand around a closure, and as many words before a name.
const mostAround = 16

func swiftNameAt(s string, depth int) string {
	for range mostAround {
		before := s
		for _, p := range []string{"merged ", "@objc ", "@nonobjc ", "static ", "class ", "override ", "async ", "(extension in "} {
			s = strings.TrimPrefix(s, p)
		}
		if at := strings.Index(s, " partial function for "); at >= 0 && strings.HasPrefix(s, "(") {
			s = s[at+len(" partial function for "):]
		}
		if at := strings.Index(s, "specialization <"); at >= 0 && !strings.ContainsAny(s[:at], "(.") {
			at += len("specialization ")
			at += closing(s[at:])
			s = strings.TrimPrefix(s[at:], " of ")
		}
		s = strings.TrimPrefix(s, "specialized ")
		if s == before {
			break
		}
	}
	if hasAnyPrefix(s, swiftMade) {
		return ""
	}
	if inner, outer, found := swiftIn(s); found && depth < mostAround {
		outer = swiftNameAt(outer, depth+1)
		if outer == "" {
			return ""
		}
		return inner + " in " + outer
	}
	if at := strings.Index(s, "):"); at >= 0 && !strings.Contains(s[:at], "(") { // the rest of an extension's module
		s = s[at+2:]
	}
	s, _, _ = strings.Cut(s, " : ")
	s, _, _ = strings.Cut(s, " -> ")
	var b strings.Builder
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '(':
			n := closing(s[i:])
			if name, _, private := strings.Cut(s[i+1:i+max(1, n-1)], " in _"); private {
				b.WriteString(name)
			}
			i += n
		case c == '<':
			i += closing(s[i:])
		case c == ' ':
			return b.String()
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

// swiftIn parts "closure #1 (Swift.Int) -> () in shop.run() -> ()": inner is the closure without number and types.
func swiftIn(s string) (inner, outer string, found bool) {
	kinds := []struct{ prefix, name string }{{"closure #", "{closure}"}, {"implicit closure #", "{closure}"}, {"$defer #", "{defer}"}, {"default argument ", "{default}"},
		{"variable initialization expression of ", "{initial value}"}}
	for _, k := range kinds {
		if !strings.HasPrefix(s, k.prefix) {
			continue
		}
		if k.name == "{initial value}" {
			return k.name, s[len(k.prefix):], true
		}
		for i := len(k.prefix); i < len(s); {
			switch {
			case s[i] == '(' || s[i] == '<':
				i += closing(s[i:])
			case strings.HasPrefix(s[i:], " in "), strings.HasPrefix(s[i:], " of "):
				return k.name, s[i+4:], true
			default:
				i++
			}
		}
	}
	if at := strings.Index(s, " #"); at > 0 && !strings.ContainsAny(s[:at], ".( ") { // a function in a function
		for i := at; i < len(s); {
			switch {
			case s[i] == '(' || s[i] == '<':
				i += closing(s[i:])
			case strings.HasPrefix(s[i:], " in "):
				return s[:at], s[i+4:], true
			default:
				i++
			}
		}
	}
	return "", "", false
}
