// Package sinktest is the suite that every store passes.
package sinktest

import (
	"testing"

	"github.com/symlake/symlake/sinks"
)

// Run tests the store that open gives. A test has one store: open called again
// with the same t opens the same data once more, as another process would.
func Run(t *testing.T, open func(t *testing.T) *sinks.Store) {
	open(t)
}
