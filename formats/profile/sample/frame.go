package sample

import (
	"bytes"
	"path"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/samples"
)

// frame is a function of a tree's line.
type frame struct {
	function  string // "": not known
	module    string
	file      string // of the source
	line      uint32
	column    uint32
	offset    uint64 // in the module
	hasOffset bool
	address   uint64 // of the run
	placed    bool   // the line says the address
	answered  bool   // the line is as answers are written
}

// parseFrame reads what stands behind a count:
//
//	??? (game + 16460) [0x104a3004c] 1-18
//	turn() + 12 (game.swift:3,1 in game + 16460) [0x104a3004c] (blocked) 1-18
//	turn()  (in game) + 12  [0x104a3004c]  game.swift:3
//	???  (in game)  load address 0x104a2c000 + 0x404c  [0x104a3004c]
//	turn() (in game) (game.swift:3) [0x104a3004c]
func parseFrame(b []byte) (f frame, ok bool) {
	text, tail := string(b), ""
	if open := strings.LastIndex(text, "[0x"); open >= 0 {
		hex := text[open+3:]
		end := strings.IndexAny(hex, "],")
		if end < 0 {
			return f, false
		}
		var err error
		if f.address, err = strconv.ParseUint(hex[:end], 16, 64); err != nil {
			return f, false
		}
		f.placed = true
		text, tail = text[:open], hex[end:]
	} else if end := strings.LastIndexByte(text, ')'); end >= 0 {
		text = text[:end+1] // without the numbers of the samples
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return f, false
	}
	if i := strings.LastIndex(text, "  (in "); i >= 0 {
		f.inImage(text[:i], text[i+len("  (in "):], tail)
	} else if !f.inAnswer(text) {
		f.inBrackets(text)
	}
	if f.function == "???" {
		f.function = ""
	}
	return f, f.placed || f.module != "" || f.file != "" || text[0] == '<' || text[0] == '('
}

// inImage reads "game) + 12" and "game)  load address 0x104a2c000 + 0x404c" behind a name. tail is behind the address.
func (f *frame) inImage(name, rest, tail string) {
	f.function = name
	end := strings.LastIndexByte(rest, ')')
	if end < 0 {
		f.module = rest
		return
	}
	f.module = rest[:end]
	if _, base, found := strings.Cut(rest[end:], "load address 0x"); found {
		_, offset, _ := strings.Cut(base, " + 0x")
		n, err := strconv.ParseUint(strings.TrimSpace(offset), 16, 64)
		f.offset, f.hasOffset = n, err == nil
	}
	if i := strings.LastIndexByte(tail, ']'); i >= 0 {
		f.source(strings.TrimSpace(tail[i+1:]))
	}
}

// inAnswer reads "turn() (in game) (game.swift:3)", as answers are written.
func (f *frame) inAnswer(text string) bool {
	before, group := lastGroup(text)
	if module, is := strings.CutPrefix(group, "in "); is {
		f.function, f.module, f.answered = before, module, true
		return true
	}
	if strings.Contains(group, " in ") || !f.source(group) {
		return false
	}
	f.function, f.answered = before, true
	if outer, group := lastGroup(before); strings.HasPrefix(group, "in ") {
		f.function, f.module = outer, group[len("in "):]
	}
	return true
}

// inBrackets reads "turn() + 12 (game.swift:3,1 in game + 16460)".
func (f *frame) inBrackets(text string) {
	before, group := lastGroup(text)
	if group == "" {
		f.function = withoutOffset(text)
		return
	}
	f.function = withoutOffset(before)
	if i := strings.LastIndex(group, " + "); i >= 0 {
		if n, err := strconv.ParseUint(group[i+3:], 10, 64); err == nil {
			f.offset, f.hasOffset, group = n, true, group[:i]
		}
	}
	if i := strings.LastIndex(group, " in "); i >= 0 {
		f.source(group[:i])
		group = group[i+len(" in "):]
	}
	f.module = group
}

// source reads "game.swift:3" and "game.swift:3,1".
func (f *frame) source(text string) bool {
	i := strings.LastIndexByte(text, ':')
	if i <= 0 {
		return false
	}
	at, column, _ := strings.Cut(text[i+1:], ",")
	line, err := strconv.ParseUint(at, 10, 32)
	if err != nil {
		return false
	}
	n, _ := strconv.ParseUint(column, 10, 32)
	f.file, f.line, f.column = text[:i], uint32(line), uint32(n)
	return true
}

// lastGroup returns what stands in the last brackets, behind a space, and what stands before them; group is "" if there are none.
func lastGroup(text string) (before, group string) {
	if text == "" || text[len(text)-1] != ')' {
		return text, ""
	}
	depth := 0
	for i := len(text) - 1; i > 0; i-- {
		if text[i] == ')' {
			depth++
		} else if text[i] == '(' {
			if depth--; depth == 0 {
				if text[i-1] != ' ' {
					return text, ""
				}
				return strings.TrimRight(text[:i], " "), text[i+1 : len(text)-1]
			}
		}
	}
	return text, ""
}

// withoutOffset cuts the offset in a function off its name.
func withoutOffset(name string) string {
	if i := strings.LastIndex(name, " + "); i > 0 && strings.Trim(name[i+3:], "0123456789,.") == "" {
		return name[:i]
	}
	return name
}

// shown returns a frame as samples have it.
func (f *frame) shown(inlined bool) samples.Frame {
	made := samples.Frame{Function: f.function, File: f.file, Line: f.line, Column: f.column, Module: f.module, Inlined: inlined}
	if made.Line == 0 {
		made.Column = 0
	}
	if made.Function != "" {
		return made
	}
	switch {
	case f.hasOffset && f.module != "":
		made.Address = f.offset
		made.Function = path.Base(f.module) + "+0x" + strconv.FormatUint(f.offset, 16)
	case f.placed:
		made.Address = f.address
		made.Function = "0x" + strconv.FormatUint(f.address, 16)
	default:
		made.Function = "???"
	}
	return made
}

// trimmed is a line without its end.
func trimmed(line []byte) []byte { return bytes.TrimRight(line, "\r\n") }
