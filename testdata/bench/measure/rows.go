package measure

import (
	"fmt"
	"os"
	"text/tabwriter"
)

// Rows is a table of measures with their floors.
type Rows struct{ w *tabwriter.Writer }

// NewRows begins a table.
func NewRows(title string) *Rows {
	r := &Rows{tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)}
	fmt.Fprintf(r.w, "\n%s\tmeasured\tat least\n", title)
	return r
}

// Row adds a measure, its value, and the least that it should be.
func (r *Rows) Row(measure, value, floor string) {
	fmt.Fprintf(r.w, "%s\t%s\t%s\n", measure, value, floor)
}

// Flush prints the table.
func (r *Rows) Flush() error { return r.w.Flush() }
