package r8

import (
	"bytes"
	"strings"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
)

// text is b as a string that shares its bytes: windows of the input are never written again.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// classLine reads "original -> renamed:" from a line without blanks around it. reason says why the line is none.
func classLine(b []byte) (original, renamed []byte, reason string) {
	if len(b) == 0 || b[len(b)-1] != ':' {
		return nil, nil, "want a class, its new name and a colon"
	}
	b = b[:len(b)-1]
	at := bytes.LastIndex(b, arrow)
	if at < 0 {
		return nil, nil, "want a class, an arrow and its new name"
	}
	original, renamed = bytes.TrimRight(b[:at], " "), bytes.Trim(b[at+len(arrow):], " ")
	if len(original) == 0 || len(renamed) == 0 {
		return nil, nil, "want a class, an arrow and its new name"
	}
	if bytes.IndexByte(original, ' ') >= 0 || bytes.IndexByte(renamed, ' ') >= 0 {
		return nil, nil, "want names without blanks"
	}
	return original, renamed, ""
}

// split is a member line taken apart.
type split struct {
	lines, from symbol.Lines
	signature   []byte // "type name" or "type name(params)"
	renamed     []byte
	field       bool
}

// memberLine takes apart "1:3:void a.b.c(int):5:7 -> d", a line without blanks around it; column counts from 0.
func memberLine(b []byte) (s split, column int, reason string) {
	i := 0
	if s.lines, i, reason = leading(b); reason != "" {
		return s, i, reason
	}
	left, renamed := cutArrow(b[i:])
	if len(left) == 0 || len(renamed) == 0 {
		return s, len(b), "want an arrow and a new name"
	}
	s.renamed = renamed
	k := len(left)
	for k > 0 && (left[k-1] == ':' || left[k-1] >= '0' && left[k-1] <= '9') {
		k--
	}
	if k == 0 || left[k-1] != ')' {
		s.signature, s.field = left, true
		if s.lines.Count > 0 {
			return s, i, "want a method behind line numbers"
		}
		return s, 0, ""
	}
	s.signature = left[:k]
	if k < len(left) {
		if s.from, reason = trailing(left[k:]); reason != "" {
			return s, i + k, reason
		}
	}
	return s, 0, ""
}

// cutArrow returns what stands before and behind the last arrow, without the blanks around it. Nothing stands behind
// where no arrow is, or where the new name holds a blank.
func cutArrow(b []byte) (left, renamed []byte) {
	// Most lines have one blank on each side. The new name holds none, so the last one ends the arrow.
	at := len(b) - 1
	for at >= 0 && b[at] != ' ' {
		at--
	}
	end := at - len(arrow)
	if end < 0 || b[end] != '-' || b[end+1] != '>' {
		if end = bytes.LastIndex(b, arrow); end < 0 {
			return b, nil
		}
		at = end + len(arrow)
		for at < len(b) && b[at] == ' ' {
			at++
		}
		if bytes.IndexByte(b[at:], ' ') >= 0 {
			return b, nil
		}
		at--
	}
	renamed = b[at+1:]
	for end > 0 && b[end-1] == ' ' {
		end--
	}
	return b[:end], renamed
}

// leading reads "1:3:" or "1:".
func leading(b []byte) (l symbol.Lines, i int, reason string) {
	if len(b) == 0 || b[0] < '0' || b[0] > '9' {
		return l, 0, ""
	}
	var ok bool
	if l.First, i, ok = number(b, 0); !ok || i >= len(b) || b[i] != ':' {
		return l, i, "want a line number and a colon"
	}
	i++
	l.Last, l.Count = l.First, 1
	if i < len(b) && b[i] >= '0' && b[i] <= '9' {
		if l.Last, i, ok = number(b, i); !ok || i >= len(b) || b[i] != ':' {
			return l, i, "want a line number and a colon"
		}
		i++
		l.Count = 2
	}
	for i < len(b) && b[i] == ' ' {
		i++
	}
	return l, i, ""
}

// trailing reads ":5:7" or ":5".
func trailing(b []byte) (l symbol.Lines, reason string) {
	const want = "want line numbers behind the method"
	var ok bool
	i := 1
	if l.First, i, ok = number(b, i); b[0] != ':' || !ok {
		return l, want
	}
	l.Last, l.Count = l.First, 1
	if i == len(b) {
		return l, ""
	}
	if b[i] != ':' {
		return l, want
	}
	if l.Last, i, ok = number(b, i+1); !ok || i != len(b) {
		return l, want
	}
	l.Count = 2
	return l, ""
}

// number reads digits from i on; not ok if there are none, or too many for 32 bits.
func number(b []byte, i int) (v uint32, end int, ok bool) {
	var n uint64
	from := i
	for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		if n = n*10 + uint64(b[i]-'0'); n > 1<<32-1 {
			return 0, i, false
		}
	}
	return uint32(n), i, i > from
}

// signed fills a method from "type name" or "type class.name(params)". A class that is the member's own is left out.
func signed(m *symbol.Method, b []byte, own string) (reason string) {
	sp := bytes.IndexByte(b, ' ')
	if sp <= 0 {
		return "want a type and a name"
	}
	m.Type = text(b[:sp])
	rest := bytes.TrimLeft(b[sp+1:], " ")
	m.Params = ""
	if !m.Field {
		open := bytes.IndexByte(rest, '(')
		if open < 0 {
			return "want parameters"
		}
		m.Params = text(rest[open+1 : len(rest)-1])
		if strings.IndexByte(m.Params, ' ') >= 0 || strings.IndexByte(m.Params, '\t') >= 0 {
			m.Params = strings.NewReplacer(" ", "", "\t", "").Replace(m.Params)
		}
		rest = bytes.TrimRight(rest[:open], " ")
	}
	if len(rest) == 0 || bytes.IndexByte(rest, ' ') >= 0 {
		return "want a name without blanks"
	}
	m.Class, m.Original = "", text(rest)
	if dot := bytes.LastIndexByte(rest, '.'); dot >= 0 {
		m.Class, m.Original = text(rest[:dot]), text(rest[dot+1:])
		if m.Class == own {
			m.Class = ""
		}
		if m.Original == "" {
			return "want a name behind the dot"
		}
	}
	return ""
}
