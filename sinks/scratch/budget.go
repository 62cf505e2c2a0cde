package scratch

import "sync/atomic"

// Budget is memory that several consumers share. Safe for concurrent use.
type Budget struct {
	total int64
	used  atomic.Int64
}

// NewBudget allows n bytes.
func NewBudget(n int64) *Budget { return &Budget{total: n} }

// Take reserves n bytes. It returns false if the budget lacks them; then the caller
// goes to disk.
func (b *Budget) Take(n int64) bool {
	for {
		u := b.used.Load()
		if u+n > b.total {
			return false
		}
		if b.used.CompareAndSwap(u, u+n) {
			return true
		}
	}
}

// Force reserves n bytes for what cannot go to disk; others find that much
// less. The caller has a limit of its own.
func (b *Budget) Force(n int64) { b.used.Add(n) }

// Give returns n bytes.
func (b *Budget) Give(n int64) { b.used.Add(-n) }

// Used returns the reserved bytes.
func (b *Budget) Used() int64 { return b.used.Load() }

// Total is what NewBudget allowed.
func (b *Budget) Total() int64 { return b.total }
