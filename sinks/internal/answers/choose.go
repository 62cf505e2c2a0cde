package answers

import (
	"fmt"

	"github.com/symlake/symlake/sinks/internal/arrowmeta"
)

// Names returns the names of the columns that answers add to frames, without a prefix. The last name belongs to the column that
// stacks have in place of the one before it.
func Names() []string {
	return []string{"function", "file", "line", "col", "status", "reason", "group", "inlines", "chain"}
}

// Choose returns the columns with these names, which lack the prefix, in the order of all. Without names it returns all. A
// name that no column has is an error.
func Choose(all []arrowmeta.Column, prefix string, names []string) (chosen []arrowmeta.Column, err error) {
	if len(names) == 0 {
		return all, nil
	}
	left := map[string]bool{}
	for _, name := range names {
		left[prefix+name] = true
	}
	for _, c := range all {
		if left[c.Name] {
			chosen = append(chosen, c)
			delete(left, c.Name)
		}
	}
	for _, name := range names {
		if left[prefix+name] {
			return nil, fmt.Errorf("no column %q is added to such rows: stacks get chain, and frames inlines", name)
		}
	}
	return chosen, nil
}
