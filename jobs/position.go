package jobs

import (
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
)

// parsePosition reads a position as the command line takes it: 0x1f3a, an
// address of the file; +0x1f3a, relative to the image base; NAME+0x1f3a, from
// a symbol or, in an ET_REL file, a section.
func parsePosition(s string) (symbol.Where, error) {
	name, offset := "", s
	if i := strings.LastIndexByte(s, '+'); i >= 0 {
		name, offset = s[:i], s[i+1:]
	}
	digits, ok := strings.CutPrefix(strings.ToLower(offset), "0x")
	v, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return symbol.Where{}, usage("position %q: want 0x1f3a, +0x1f3a or NAME+0x1f3a", s)
	}
	switch {
	case name != "":
		return symbol.Where{Space: symbol.Anchored, Value: v, Anchor: name}, nil
	case len(offset) < len(s):
		return symbol.Where{Space: symbol.Position, Value: v}, nil
	}
	return symbol.Where{Space: symbol.Unslid, Value: v}, nil
}
