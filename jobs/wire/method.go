package wire

import (
	"strconv"
	"strings"
)

// Method is a place in a mapping: a method by its names in the
// program, and a line there, -1 for none.
type Method struct {
	Class, Name string
	Line        int
}

// ParseMethod reads CLASS.METHOD and CLASS.METHOD:LINE.
func ParseMethod(s string) (m Method, ok bool) {
	m.Line = -1
	if name, line, found := strings.Cut(s, ":"); found {
		n, err := strconv.ParseUint(line, 10, 31)
		if err != nil {
			return m, false
		}
		s, m.Line = name, int(n)
	}
	dot := strings.LastIndexByte(s, '.')
	if dot <= 0 || dot == len(s)-1 {
		return m, false
	}
	m.Class, m.Name = s[:dot], s[dot+1:]
	return m, true
}
