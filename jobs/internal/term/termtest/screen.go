// Package termtest gives tests a pseudo terminal, and shows what a person sees on it.
package termtest

import (
	"strconv"
	"strings"
)

// Show returns the lines that a terminal with so many columns shows after text, without color and without blanks at
// their ends. It knows the escapes that symlake writes.
func Show(text string, columns int) []string {
	s := &screen{columns: columns, lines: [][]rune{nil}}
	for len(text) > 0 {
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				break
			}
			s.escape(rest[:end], rest[end])
			text = rest[end+1:]
			continue
		}
		r := []rune(text[:min(len(text), 4)])[0]
		text = text[len(string(r)):]
		s.put(r)
	}
	var out []string
	for _, l := range s.lines {
		out = append(out, strings.TrimRight(string(l), " "))
	}
	for len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	return out
}

// screen is a terminal at work: the cursor is on column x of line y.
type screen struct {
	columns, x, y int
	lines         [][]rune
}

func (s *screen) put(r rune) {
	switch r {
	case '\r':
		s.x = 0
		return
	case '\n':
		s.down()
		return
	}
	if s.x >= s.columns {
		s.x = 0
		s.down()
	}
	line := s.lines[s.y]
	for len(line) <= s.x {
		line = append(line, ' ')
	}
	line[s.x] = r
	s.lines[s.y] = line
	s.x++
}

func (s *screen) down() {
	if s.y++; s.y == len(s.lines) {
		s.lines = append(s.lines, nil)
	}
}

func (s *screen) escape(parameter string, command byte) {
	n, err := strconv.Atoi(parameter)
	if err != nil {
		n = 1
	}
	switch command {
	case 'A':
		s.y = max(0, s.y-n)
	case 'K', 'J':
		s.lines[s.y] = s.lines[s.y][:min(s.x, len(s.lines[s.y]))]
		if command == 'J' {
			s.lines = s.lines[:s.y+1]
		}
	}
}
