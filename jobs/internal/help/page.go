package help

import (
	"strings"
	"unicode/utf8"
)

// page is text that wraps at a width.
type page struct {
	out    strings.Builder
	width  int
	styled bool // a terminal shows bold words
}

// heading writes a title on a line of its own, after an empty line.
func (p *page) heading(text string) {
	if p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
	p.out.WriteString(p.bold(text) + "\n")
}

func (p *page) bold(text string) string {
	if !p.styled || text == "" {
		return text
	}
	return "\x1b[1m" + text + "\x1b[0m"
}

// gap writes an empty line, unless the page begins.
func (p *page) gap() {
	if p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
}

// text writes paragraphs. Lines that begin with a space stay as they are.
func (p *page) text(text string, indent int) {
	for i, paragraph := range strings.Split(text, "\n\n") {
		if i > 0 {
			p.out.WriteByte('\n')
		}
		p.paragraph(paragraph, strings.Repeat(" ", indent))
	}
}

func (p *page) paragraph(text, indent string) {
	var words []string
	flush := func() {
		p.wrap(strings.Join(words, " "), indent, indent)
		words = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, " ") {
			flush()
			p.out.WriteString(indent + line + "\n")
			continue
		}
		words = append(words, line)
	}
	flush()
}

// wrap writes words behind first, and further lines behind rest.
func (p *page) wrap(text, first, rest string) {
	for _, line := range fold(text, p.width-size(rest)) {
		p.out.WriteString(strings.TrimRight(first+line, " ") + "\n")
		first = rest
	}
}

// pairs writes names with their texts in two columns. A name that is wider than the column has a line of its own.
func (p *page) pairs(list [][2]string, indent int) {
	p.columns(list, indent, columnOf(list))
}

// columnOf returns the width of a column of names. A few long names do not make it wide.
func columnOf(list [][2]string) int {
	const least, widest = 6, 24
	column := least
	for _, pair := range list {
		if n := size(pair[0]); n > column && n <= widest {
			column = n
		}
	}
	return column
}

// columns is pairs with a given width of the names.
func (p *page) columns(list [][2]string, indent, column int) {
	lead, rest := strings.Repeat(" ", indent), strings.Repeat(" ", indent+column+2)
	if p.width-size(rest) < 16 { // too narrow for two columns
		rest = lead + "    "
	}
	for _, pair := range list {
		name := pair[0]
		if size(name) > column || size(rest) < indent+column {
			p.out.WriteString(lead + name + "\n")
			p.wrap(pair[1], rest, rest)
			continue
		}
		p.wrap(pair[1], lead+name+strings.Repeat(" ", column+2-size(name)), rest)
	}
}

// fold parts a text into lines of at most width columns, at spaces. A word that is longer has a line of its own.
func fold(text string, width int) (lines []string) {
	line, n := "", 0
	for word := range strings.FieldsSeq(text) {
		w := size(word)
		switch {
		case n == 0:
			line, n = word, w
		case n+1+w > width:
			lines = append(lines, line)
			line, n = word, w
		default:
			line, n = line+" "+word, n+1+w
		}
	}
	return append(lines, line)
}

// size returns the columns that a text takes on a terminal, without its styles.
func size(text string) int {
	n, rest := 0, text
	for {
		i := strings.Index(rest, "\x1b[")
		if i < 0 {
			return n + utf8.RuneCountInString(rest)
		}
		n += utf8.RuneCountInString(rest[:i])
		end := strings.IndexByte(rest[i:], 'm')
		if end < 0 {
			return n
		}
		rest = rest[i+end+1:]
	}
}
