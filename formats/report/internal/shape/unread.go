package shape

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
)

// stranger looks at an object that fits no row: does it look like a frame?
func (e *walk) stranger(in *list, values []value) {
	var has [places + 1]bool
	known := groups()
	for _, v := range values {
		text := e.Bytes[v.at[0]:v.at[1]]
		if g := groupOf(e.Bytes[v.key[0]:v.key[1]], known); g != noFact && !isEmpty(text) && (g != places || isAddress(text)) {
			has[g] = true
		}
	}
	if !looksLikeFrame(&has) {
		return
	}
	if in.strange++; in.strange > 1 {
		return
	}
	for _, v := range values[:min(len(values), report.MaxUnreadMembers)] {
		in.members = append(in.members, scan.OneLine(string(e.Bytes[v.key[0]:v.key[1]])))
	}
}

// isAddress reports whether a value is a number or a string of hexadecimal digits.
func isAddress(v []byte) bool {
	v = bytes.Trim(v, `"`)
	v = bytes.TrimPrefix(v, scan.HexMark)
	return len(v) > 0 && scan.IsHex(v)
}

// strangers keeps a list of objects that look like frames and fit no row, and a list of frames with names.
func (e *walk) strangers(in *list) {
	if in.named > 0 {
		e.unread = report.AddUnread(e.unread, report.Unread{Why: report.WhyNamed, Path: e.where(), Frames: in.named, Named: true})
	}
	if in.strange > 1 || in.strange == 1 && e.isStack() {
		e.unread = report.AddUnread(e.unread, report.Unread{Why: report.WhyShape, Path: e.where(), Members: in.members, Frames: in.strange})
	}
}

// isStack reports whether the path at hand ends with a member that is called as stacks are.
func (e *walk) isStack() bool {
	for i := len(e.path) - 1; i >= 0; i-- {
		if key := e.path[i].key; key != nil {
			key = bytes.ToLower(key)
			return bytes.Contains(key, []byte("stack")) || bytes.Contains(key, []byte("frames")) || bytes.Contains(key, []byte("trace"))
		}
	}
	return false
}

// where returns the path at hand as jq takes it.
func (e *walk) where() string {
	var b strings.Builder
	for _, s := range e.path {
		switch {
		case s.key == nil:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case isWord(s.key):
			b.WriteByte('.')
			b.Write(s.key)
		default:
			b.WriteString(`."` + scan.OneLine(string(s.key)) + `"`)
		}
	}
	if b.Len() == 0 {
		return "."
	}
	return b.String()
}

// isWord reports whether jq takes a name without quotes.
func isWord(key []byte) bool {
	for i, c := range key {
		if !('a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || i > 0 && '0' <= c && c <= '9') {
			return false
		}
	}
	return len(key) > 0
}
