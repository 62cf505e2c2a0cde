package jvm

import (
	"cmp"
	"slices"

	"github.com/symlake/symlake/formats/report"
)

// parseExpression reads a line without its line end as a user describes it.
func parseExpression(e *report.Expression, b []byte, l *line) bool {
	pieces, ok := e.Pieces(b)
	if !ok {
		return false
	}
	l.m.Line = -1
	classed := false
	for _, p := range pieces {
		from, to := p.From, p.To
		switch p.Variable {
		case 'c', 'C':
			if !classed && string(b[from:to]) != suppressed {
				l.class(b, from, to, p.Variable == 'C')
				classed = true
			}
		case 'm':
			l.method(b, from, to)
		case 'f':
			l.m.Field = string(b[from:to])
			l.parts = append(l.parts, part{kind: partField, start: from, end: to})
		case 's':
			l.file(b, from, to)
		case 'l':
			colon := from > 0 && b[from-1] == ':'
			if colon {
				from--
			}
			l.line(b, from, to, colon)
		case 'S':
			l.place(b, from, to)
		case 't', 'a':
			l.types(b, from, to)
		}
	}
	l.frame = l.m.Method != "" || l.m.Field != ""
	l.inOrder()
	return len(l.parts) > 0
}

// inOrder sorts the parts; a repeated group may have left them in another
// order, or two over one another.
func (l *line) inOrder() {
	slices.SortStableFunc(l.parts, func(a, b part) int { return cmp.Compare(a.start, b.start) })
	kept := l.parts[:0]
	for _, p := range l.parts {
		if n := len(kept); n == 0 || p.start >= kept[n-1].end {
			kept = append(kept, p)
		}
	}
	l.parts = kept
}

// types takes types parted by commas.
func (l *line) types(b []byte, from, to int) {
	for from < to {
		from = skipJavaSpace(b[:to], from)
		end := from
		for end < to && b[end] != ',' {
			end++
		}
		l.m.Types = append(l.m.Types, report.Type{Name: string(b[from:end])})
		l.parts = append(l.parts, part{kind: partType, start: from, end: end})
		from = end + 1
	}
}
