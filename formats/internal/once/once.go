// Package once does the work that all parts of an object share.
package once

import (
	"sync"

	"github.com/symlake/symlake/formats"
)

// Work is work that the first caller does and that the others wait for. The zero value is ready. Safe for concurrent use.
type Work struct {
	once sync.Once
	err  error
}

// Do does the work, or returns the error of the first time. If a panic ended it, because a mapped file was cut short, later
// callers get formats.ErrCorrupt and never a half-made result. format names the reader in that error.
func (w *Work) Do(format string, work func() error) error {
	w.once.Do(func() {
		w.err = &formats.Error{Format: format, Want: "contents that could be read the first time", Err: formats.ErrCorrupt}
		w.err = work()
	})
	return w.err
}
