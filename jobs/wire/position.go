package wire

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
)

// ParsePosition reads a position as people write it: 0x1f3a, an
// address of the file; +0x1f3a, relative to the image base; NAME+0x1f3a, from
// a symbol or, in an ET_REL file, a section; LINE:COLUMN of a script, the line
// from 1 and the column from 0, in UTF-16 units.
func ParsePosition(s string) (symbol.Where, error) {
	if line, column, ok := strings.Cut(s, ":"); ok && strings.Trim(line+column, "0123456789") == "" {
		l, err := strconv.ParseUint(line, 10, 32)
		c, cerr := strconv.ParseUint(column, 10, 32)
		pos, fits := symbol.ScriptPosition(0, uint32(l)-1, uint32(c))
		switch {
		case err != nil || cerr != nil || l == 0:
			return symbol.Where{}, fmt.Errorf("position %q: want LINE:COLUMN, the line from 1", s)
		case !fits:
			pos = symbol.TablesEnd // beyond every script
		}
		return symbol.Where{Space: symbol.Position, Value: pos}, nil
	}
	name, offset := "", s
	if i := strings.LastIndexByte(s, '+'); i >= 0 {
		name, offset = s[:i], s[i+1:]
	}
	digits, ok := strings.CutPrefix(strings.ToLower(offset), "0x")
	v, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return symbol.Where{}, fmt.Errorf("position %q: want 0x1f3a, +0x1f3a, NAME+0x1f3a or LINE:COLUMN", s)
	}
	switch {
	case name != "":
		return symbol.Where{Space: symbol.Anchored, Value: v, Anchor: name}, nil
	case len(offset) < len(s):
		return symbol.Where{Space: symbol.Position, Value: v}, nil
	}
	return symbol.Where{Space: symbol.Unslid, Value: v}, nil
}

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
