package symbol

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseWhere reads a place as people write it:
//
//	0x1f3a        an address of the file
//	+0x1f3a       an offset from the image base
//	NAME+0x1f3a   an offset from a symbol, or from a section of an ET_REL file
//	LINE:COLUMN   of a script: the line counts from 1, the column from 0 in UTF-16 units. Line n*MaxLine+1 is the first of
//	              segment n
func ParseWhere(s string) (Where, error) {
	if line, column, ok := strings.Cut(s, ":"); ok && strings.Trim(line+column, "0123456789") == "" {
		l, err := strconv.ParseUint(line, 10, 32)
		c, cerr := strconv.ParseUint(column, 10, 32)
		pos, fits := ScriptPosition((uint32(l)-1)/MaxLine, (uint32(l)-1)%MaxLine, uint32(c))
		switch {
		case err != nil || cerr != nil || l == 0:
			return Where{}, fmt.Errorf("position %q: want LINE:COLUMN, the line from 1", s)
		case !fits:
			pos = TablesEnd // beyond every script
		}
		return Where{Space: Position, Value: pos}, nil
	}

	name, offset := "", s
	if i := strings.LastIndexByte(s, '+'); i >= 0 {
		name, offset = s[:i], s[i+1:]
	}
	digits, ok := strings.CutPrefix(strings.ToLower(offset), "0x")
	v, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return Where{}, fmt.Errorf("position %q: want 0x1f3a, +0x1f3a, NAME+0x1f3a or LINE:COLUMN", s)
	}

	switch {
	case name != "":
		return Where{Space: Anchored, Value: v, Anchor: name}, nil
	case len(offset) < len(s):
		return Where{Space: Position, Value: v}, nil
	}
	return Where{Space: Unslid, Value: v}, nil
}
