package script

import "strconv"

// What a level of the path to a token is.
const (
	inFunction = iota // names of the code around it do not reach into it
	inTarget          // a value that is assigned to a variable or a member
	inKey             // a value below a key of an object, or of a class
	inObject
	inClass
	inArgument
	inOther
)

// level is a level of the path from the script to a token: it may give functions in it a name.
type level struct {
	kind     uint8
	direct   bool  // an object, a class or a call that is the named value itself
	ends     bool  // a class with a name of its own
	variable bool  // the target is a variable that is declared here
	only     bool  // the target names the value itself, and nothing else in it
	by       byte  // of a class's key: . or #, which Metro writes before it
	argument int32 // its number
	from, to int32 // of namer.parts
}

// namePart is a piece of a function's name: text, or an identifier of the script. The map knows its original
// spelling.
type namePart struct {
	text     []byte
	at, lead int32 // offsets of the identifier and of the least segment that may name it; at -1: text stands as it is
}

const (
	mostParts  = 64  // of a name: the outer ones are left out
	mostLevels = 256 // of the path that a name is looked for on
)

// namer makes names of functions of the path to them.
type namer struct {
	metro bool // as Metro names them in its function maps; else as engines print them
	path  []level
	parts []namePart // of the path
	name  []namePart // that is made, back to front
}

func text(s string) namePart { return namePart{text: []byte(s), at: -1} }

// Parts that names share.
var (
	dotPart      = text(".")
	openPart     = text("[")
	closePart    = text("]")
	getPart      = text("get ")
	setPart      = text("set ")
	newPart      = text("new ")
	objectPart   = text("<object>")
	computedPart = text("<computed>")
	defaultPart  = text("default")
	fieldsPart   = text("<instance_members_initializer>")
	staticPart   = text("<static_initializer>")
	metroGetPart = text("get__")
	metroSetPart = text("set__")
	hashPart     = text("#")
)

// push adds a level with parts. The caller pops it.
func (n *namer) push(l level, parts ...namePart) {
	l.from = int32(len(n.parts))
	n.parts = append(n.parts, parts...)
	l.to = int32(len(n.parts))
	n.path = append(n.path, l)
}

func (n *namer) pop() {
	k := len(n.path) - 1
	n.parts, n.path = n.parts[:n.path[k].from], n.path[:k]
}

// prepend puts parts before the name, with a dot between. parts do not change meanwhile.
func (n *namer) prepend(parts []namePart) {
	if len(parts) == 0 || len(n.name)+len(parts) >= mostParts {
		return
	}
	if len(n.name) > 0 {
		n.name = append(n.name, dotPart)
	}
	for i := len(parts) - 1; i >= 0; i-- {
		n.name = append(n.name, parts[i])
	}
}

// finish gives the name in its order.
func (n *namer) finish() []namePart {
	for i, k := 0, len(n.name)-1; i < k; i, k = i+1, k-1 {
		n.name[i], n.name[k] = n.name[k], n.name[i]
	}
	return n.name
}

// of names a function at the end of the path, valid until the next call: own is the name that it has itself, kind
// stands before all of it, and direct tells that it is the value itself that the path names.
func (n *namer) of(own []namePart, kind *namePart, direct bool) []namePart {
	n.name = n.name[:0]
	if n.metro {
		n.metroName(own, kind, direct)
		return n.finish()
	}
	skip := false
	if len(own) > 0 {
		n.prepend(own)
		skip = true // the name takes the place of the last component
	}
	object := false
	for i := len(n.path) - 1; i >= 0 && i >= len(n.path)-mostLevels; i-- {
		l := &n.path[i]
		parts := n.parts[l.from:l.to]
		if l.kind == inFunction {
			break
		}
		switch l.kind {
		case inObject:
			object, skip, direct = true, false, false
			continue
		case inTarget:
			if l.only && !direct {
				break
			}
			object = false
			if skip {
				parts = withoutLast(parts)
			}
			n.prepend(parts)
		case inKey:
			if !skip {
				n.prepend(parts)
			}
			skip = false
			continue
		case inClass:
			if up := i - 1; l.ends && l.direct && up >= 0 && n.path[up].variable {
				parts = n.parts[n.path[up].from:n.path[up].to] // var Cart = class _Cart, as compilers write it
			}
			if n.prepend(parts); !l.ends {
				skip, direct = false, l.direct
				continue
			}
			object = false
		default:
			direct = false
			continue
		}
		break
	}
	if object && len(n.name) > 0 {
		n.prepend([]namePart{objectPart})
	}
	if kind != nil && len(n.name) > 0 {
		n.name = append(n.name, *kind)
	}
	return n.finish()
}

// withoutLast is a.b of a.b.c.
func withoutLast(parts []namePart) []namePart {
	for i := len(parts) - 1; i > 0; i-- {
		if parts[i].at < 0 && len(parts[i].text) == 1 && parts[i].text[0] == '.' {
			return parts[:i]
		}
	}
	return nil
}

// metroName does the same with Metro's rules: a.b for a function that is assigned to it or stands in an object of that
// name, Class#method, Class.static, get__x, f$argument_0 for an argument of f.
func (n *namer) metroName(own []namePart, kind *namePart, direct bool) {
	if len(own) > 0 {
		n.prepend(own)
		return
	}
	by := &dotPart
	for i := len(n.path) - 1; i >= 0 && i >= len(n.path)-mostLevels && direct; i-- {
		l := &n.path[i]
		parts := n.parts[l.from:l.to]
		switch l.kind {
		case inFunction:
			return
		case inTarget:
			n.joinMetro(parts, by)
			return
		case inKey:
			n.joinMetro(parts, by)
			if kind != nil {
				n.name, kind = append(n.name, *kind), nil
			}
			if by = &dotPart; l.by == '#' {
				by = &hashPart
			}
		case inObject:
			direct = l.direct
		case inClass:
			if direct = l.direct; len(parts) > 0 {
				n.joinMetro(parts, by)
				return
			}
		case inArgument:
			if isFreeze(parts) {
				direct = l.direct
				continue
			}
			if len(parts) > 0 {
				n.joinMetro([]namePart{text("$argument_" + strconv.Itoa(int(l.argument)))}, by)
				n.joinMetro(parts, nil)
			}
			return
		}
	}
}

func (n *namer) joinMetro(parts []namePart, by *namePart) {
	if len(parts) == 0 || len(n.name)+len(parts) >= mostParts {
		return
	}
	if len(n.name) > 0 && by != nil {
		n.name = append(n.name, *by)
	}
	for i := len(parts) - 1; i >= 0; i-- {
		n.name = append(n.name, parts[i])
	}
}

// isFreeze: the call gives back what it is passed, which keeps its name.
func isFreeze(parts []namePart) bool {
	return len(parts) == 3 && string(parts[0].text) == "Object" && string(parts[2].text) == "freeze"
}
