package help

import (
	"strings"
)

// Markdown returns a document for a terminal: paragraphs wrap at the width, tables stand in columns, code stays as it is.
func Markdown(text string, s Screen) string {
	m := markdown{page: s.page()}
	for line := range strings.Lines(text) {
		m.line(strings.TrimRight(line, "\r\n"))
	}
	m.end()
	return m.page.out.String()
}

// markdown reads a document line by line. A block is what ends with an empty line or another kind of line.
type markdown struct {
	page   *page
	fence  string     // that ends the code, while in it
	hidden bool       // in a comment
	coding bool       // the line before was indented code
	words  []string   // of the paragraph or item
	lead   [2]string  // of its first and its other lines
	rows   [][]string // of the table
}

func (m *markdown) line(line string) {
	trimmed := strings.TrimSpace(line)
	switch {
	case m.hidden:
		m.hidden = !strings.Contains(line, "-->")
	case m.fence != "":
		if strings.HasPrefix(trimmed, m.fence) {
			m.fence = ""
			return
		}
		m.page.out.WriteString("    " + line + "\n")
	case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
		m.block()
		m.fence = trimmed[:3]
	case trimmed == "":
		m.end()
	case strings.HasPrefix(trimmed, "|"):
		m.paragraph()
		m.rows = append(m.rows, cells(trimmed))
	case strings.HasPrefix(line, "#"):
		m.block()
		m.page.out.WriteString(m.page.bold(m.inline(strings.TrimSpace(strings.TrimLeft(line, "#")))) + "\n")
	case strings.HasPrefix(trimmed, "<!--"):
		m.end()
		m.hidden = !strings.Contains(trimmed, "-->")
	case strings.HasPrefix(trimmed, "!["), strings.HasPrefix(trimmed, "<p"), strings.HasPrefix(trimmed, "<img"), strings.HasPrefix(trimmed, "</p"):
		m.end()
	case len(m.words) == 0 && strings.HasPrefix(line, "    "):
		m.code(line)
	default:
		m.prose(line, trimmed)
	}
}

// prose takes a line of a paragraph or of an item of a list.
func (m *markdown) prose(line, trimmed string) {
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if mark, rest := item(trimmed); mark != "" {
		again := m.lead[0] != "" || m.lead[1] != ""
		m.paragraph()
		if !again {
			m.gap()
		}
		m.lead = [2]string{indent + mark + " ", indent + strings.Repeat(" ", size(mark)+1)}
		m.words = append(m.words, rest)
		return
	}
	if len(m.words) == 0 {
		m.gap()
		m.lead = [2]string{}
	}
	m.words = append(m.words, strings.TrimPrefix(trimmed, "> "))
}

// item parts an item of a list into its mark and its text; "": it is none.
func item(line string) (mark, rest string) {
	for _, bullet := range []string{"- ", "* ", "+ "} {
		if rest, ok := strings.CutPrefix(line, bullet); ok {
			return "-", rest
		}
	}
	if number, rest, ok := strings.Cut(line, ". "); ok && len(number) <= 3 && number != "" && strings.Trim(number, "0123456789") == "" {
		return number + ".", rest
	}
	return "", ""
}

// code writes a line of indented code.
func (m *markdown) code(line string) {
	if !m.coding {
		m.gap()
	}
	m.coding = true
	m.page.out.WriteString(line + "\n")
}

// gap writes one empty line before a block, unless one is there.
func (m *markdown) gap() {
	if text := m.page.out.String(); text != "" && !strings.HasSuffix(text, "\n\n") {
		m.page.out.WriteByte('\n')
	}
}

// block ends the block before, and leaves an empty line behind it.
func (m *markdown) block() {
	m.end()
	m.gap()
}

// end writes the block that was read.
func (m *markdown) end() {
	m.paragraph()
	m.lead, m.coding = [2]string{}, false
	m.table()
}

func (m *markdown) paragraph() {
	if len(m.words) == 0 {
		return
	}
	m.page.wrap(m.inline(strings.Join(m.words, " ")), m.lead[0], m.lead[1])
	m.words = nil
}

// inline returns words without the marks of Markdown. A link to the web keeps its address.
func (m *markdown) inline(text string) string {
	var out strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "`*[\\")
		if i < 0 {
			break
		}
		out.WriteString(text[:i])
		text = text[i:]
		switch {
		case text[0] == '\\' && len(text) > 1:
			out.WriteString(text[1:2])
			text = text[2:]
		case text[0] == '`':
			mark := text[:len(text)-len(strings.TrimLeft(text, "`"))]
			code, rest, ok := strings.Cut(text[len(mark):], mark)
			if !ok {
				code, rest = text[len(mark):], ""
			}
			out.WriteString(code)
			text = rest
		case strings.HasPrefix(text, "**"):
			strong, rest, ok := strings.Cut(text[2:], "**")
			if !ok {
				out.WriteString("**")
				text = text[2:]
				continue
			}
			out.WriteString(m.strong(m.inline(strong)))
			text = rest
		case text[0] == '[':
			words, url, rest, ok := link(text)
			if !ok {
				out.WriteByte('[')
				text = text[1:]
				continue
			}
			out.WriteString(m.inline(words))
			if strings.HasPrefix(url, "http") {
				out.WriteString(" (" + url + ")")
			}
			text = rest
		default:
			out.WriteByte(text[0])
			text = text[1:]
		}
	}
	return out.String() + text
}

// strong returns bold words, each with its own marks, since lines part at spaces.
func (m *markdown) strong(text string) string {
	words := strings.Fields(text)
	for i := range words {
		words[i] = m.page.bold(words[i])
	}
	return strings.Join(words, " ")
}

// link parts [words](url) from what follows it.
func link(text string) (words, url, rest string, ok bool) {
	words, rest, ok = strings.Cut(text[1:], "](")
	if !ok || strings.Contains(words, "[") {
		return "", "", "", false
	}
	url, rest, ok = strings.Cut(rest, ")")
	return words, url, rest, ok
}

// cells parts a row of a table.
func cells(row string) (list []string) {
	row = strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|")
	code, from := false, 0
	for i := range len(row) {
		switch {
		case row[i] == '`':
			code = !code
		case row[i] == '|' && (i == 0 || row[i-1] != '\\'):
			list = append(list, strings.TrimSpace(row[from:i]))
			from = i + 1
		}
	}
	return append(list, strings.TrimSpace(row[from:]))
}

// table writes the rows that were read.
func (m *markdown) table() {
	if len(m.rows) == 0 {
		return
	}
	rows := m.rows
	m.rows = nil
	ruled := len(rows) > 1 && strings.Trim(strings.Join(rows[1], ""), "-: ") == ""
	if ruled {
		rows = append(rows[:1:1], rows[2:]...)
	}
	for _, row := range rows {
		for i := range row {
			row[i] = m.inline(strings.ReplaceAll(row[i], `\|`, "|"))
		}
	}
	m.gap()
	for i, row := range m.page.table(rows) {
		if i == 0 && ruled {
			for j := range row {
				row[j] = m.page.bold(row[j])
			}
		}
		m.page.out.WriteString(strings.TrimRight(strings.Join(row, "\n"), " \n") + "\n")
	}
	m.page.out.WriteByte('\n')
}

// table lays rows out in columns. Each row is a list of lines. The widest columns share the room that narrow ones leave.
func (p *page) table(rows [][]string) (out [][]string) {
	var widths []int
	for _, row := range rows {
		for j, cell := range row {
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], size(cell))
		}
	}
	room := p.width - 2*(len(widths)-1)
	share(widths, room)
	for _, row := range rows {
		folded, height := make([][]string, len(widths)), 1
		for j := range widths {
			if j < len(row) {
				folded[j] = fold(row[j], widths[j])
				height = max(height, len(folded[j]))
			}
		}
		lines := make([]string, height)
		for i := range lines {
			var line strings.Builder
			for j := range widths {
				cell := ""
				if i < len(folded[j]) {
					cell = folded[j][i]
				}
				line.WriteString(cell)
				if j+1 < len(widths) {
					line.WriteString(strings.Repeat(" ", max(widths[j]-size(cell), 0)+2))
				}
			}
			lines[i] = strings.TrimRight(line.String(), " ")
		}
		out = append(out, lines)
	}
	return out
}

// share lowers the widest widths until all fit into room.
func share(widths []int, room int) {
	for {
		sum, widest := 0, 0
		for j, w := range widths {
			if sum += w; w > widths[widest] {
				widest = j
			}
		}
		if sum <= room || widths[widest] <= 8 {
			return
		}
		widths[widest]--
	}
}
