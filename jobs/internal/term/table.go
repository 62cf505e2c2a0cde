package term

import (
	"bufio"
	"io"
	"slices"
	"strings"
)

// Column is a column of a table.
type Column struct {
	Name  string
	Right bool // its cells end in one line, as numbers do
	// Least is the width in columns of the terminal that cells may be shortened to; 0: they never are.
	Least int
	// Whole columns are shortened last: people copy their cells.
	Whole bool
	// Spare columns are left out where the rest does not fit, the highest first, and where they are empty; 0: never.
	Spare int
	Ink   func(cell string) Ink // nil: no color
}

// tablePile is how many rows a table holds back to learn its widths. Later rows are printed at once.
const tablePile = 500

// tableGap stands between columns.
const tableGap = "  "

// Table lays out rows for a person, within the width of the terminal. One goroutine uses it.
type Table struct {
	view    View
	w       *bufio.Writer
	columns []Column
	pile    [][]string
	widths  []int // of each column; -1: it is left out; nil: not known yet
}

// NewTable returns a table that prints to w.
func NewTable(w io.Writer, v View, columns ...Column) *Table {
	return &Table{view: v, w: bufio.NewWriter(w), columns: columns}
}

// Row adds a row: one cell a column.
func (t *Table) Row(cells ...string) error {
	if t.widths != nil {
		return t.print(cells, false)
	}
	for i := range cells {
		cells[i] = OneLine(cells[i])
	}
	if t.pile = append(t.pile, cells); len(t.pile) < tablePile {
		return nil
	}
	return t.release(false)
}

// Empty reports whether the table has no rows.
func (t *Table) Empty() bool { return t.widths == nil && len(t.pile) == 0 }

// Flush prints the rows that are held back. A table without rows prints nothing.
func (t *Table) Flush() error {
	if t.widths == nil && len(t.pile) > 0 {
		if err := t.release(true); err != nil {
			return err
		}
	}
	return t.w.Flush()
}

// release prints the header and the rows so far. whole: no rows come behind them.
func (t *Table) release(whole bool) error {
	t.lay(whole)
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.Name
	}
	err := t.print(names, true)
	for _, cells := range t.pile {
		if err == nil {
			err = t.print(cells, false)
		}
	}
	t.pile = nil
	if err == nil {
		err = t.w.Flush()
	}
	return err
}

// lay chooses the widths of the columns.
func (t *Table) lay(whole bool) {
	t.widths = make([]int, len(t.columns))
	for i, c := range t.columns {
		empty := true
		t.widths[i] = Columns(c.Name)
		for _, cells := range t.pile {
			t.widths[i] = max(t.widths[i], Columns(cells[i]))
			empty = empty && (cells[i] == "" || cells[i] == "-")
		}
		if whole && empty && c.Spare > 0 {
			t.widths[i] = -1
		}
	}
	room := t.view.Width()
	least := func(i int) int {
		if l := t.columns[i].Least; l > 0 {
			return min(max(l, Columns(t.columns[i].Name)), t.widths[i])
		}
		return t.widths[i]
	}
	for t.total(least) > room {
		out := -1
		for i, c := range t.columns {
			if t.widths[i] >= 0 && c.Spare > 0 && (out < 0 || c.Spare > t.columns[out].Spare) {
				out = i
			}
		}
		if out < 0 {
			break
		}
		t.widths[out] = -1
	}
	for t.total(func(i int) int { return t.widths[i] }) > room {
		widest := -1
		for i := range t.columns {
			if t.widths[i] > least(i) && (widest < 0 || t.before(i, widest)) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		t.widths[widest]--
	}
}

// before reports whether column i is shortened before column k.
func (t *Table) before(i, k int) bool {
	if a, b := t.columns[i].Whole, t.columns[k].Whole; a != b {
		return b
	}
	return t.widths[i] > t.widths[k]
}

// total returns the columns of a line, where each column has the width that width says.
func (t *Table) total(width func(i int) int) int {
	sum := -len(tableGap)
	for i := range t.columns {
		if t.widths[i] >= 0 {
			sum += width(i) + len(tableGap)
		}
	}
	return sum
}

// print prints a line.
func (t *Table) print(cells []string, header bool) error {
	var line strings.Builder
	last := len(t.columns) - 1
	for last > 0 && t.widths[last] < 0 {
		last--
	}
	for i, c := range t.columns {
		width := t.widths[i]
		if width < 0 {
			continue
		}
		text := OneLine(cells[i])
		if c.Least > 0 {
			text = Shorten(text, width)
		}
		pad := strings.Repeat(" ", max(0, width-Columns(text)))
		var ink Ink
		if header {
			ink = Bold
		} else if c.Ink != nil {
			ink = c.Ink(cells[i])
		}
		text = t.view.Paint(ink, text)
		switch {
		case c.Right:
			text = pad + text
		case i != last:
			text += pad
		}
		line.WriteString(text)
		if i != last {
			line.WriteString(tableGap)
		}
	}
	_, err := t.w.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	return err
}

// States returns the ink of the state of an object, a run or a check.
func States(state string) Ink {
	switch {
	case slices.Contains([]string{"loaded", "kept", "ok", "published", "yes"}, state):
		return Green
	case slices.Contains([]string{"rejected", "failed", "corrupt", "wrong", "unreachable"}, state):
		return Red
	case slices.Contains([]string{"pending", "loading", "conflict"}, state):
		return Yellow
	}
	return ""
}

// Dimmed is the ink of cells that are there for completeness.
func Dimmed(string) Ink { return Dim }

// Loud is the ink of the cells that a reader looks for first.
func Loud(string) Ink { return Cyan }
