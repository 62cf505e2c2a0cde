// Package browse reads lists from a catalog in pages: artifacts, objects, wanted names and runs.
//
// Invariants:
//   - a page costs no more than its bounds, however large the store is: elements that are emitted, and
//     MaxPassed records that are passed over;
//   - a page that ends at a bound says where the next page begins, even if the page is empty;
//   - elements come in the order of the store's keys, so that a list that changes meanwhile repeats none.
//     Wanted names and runs are sorted instead.
package browse

import (
	"errors"
)

// MaxPassed bounds the records that one page passes over.
const MaxPassed = 25_000

// End says how a page ended.
type End struct {
	Next   string // where the next page begins; "": this page is the last
	Passed int    // records that the page read, with the emitted ones
}

// errFull ends a page.
var errFull = errors.New("the page is full")

// ended makes the error of a page that is full none.
func ended(err error) error {
	if errors.Is(err, errFull) {
		return nil
	}
	return err
}
