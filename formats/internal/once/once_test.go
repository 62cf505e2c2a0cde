package once

import (
	"errors"
	"testing"

	"github.com/symlake/symlake/formats"
)

// Work is done once, and its error stays.
func TestDo(t *testing.T) {
	var w Work
	first := errors.New("first")
	if err := w.Do("elf", func() error { return first }); err != first {
		t.Error(err)
	}
	if err := w.Do("elf", func() error { t.Error("done twice"); return nil }); err != first {
		t.Error(err)
	}
}

// Work that a panic ended is not taken for done.
func TestPanic(t *testing.T) {
	var w Work
	func() {
		defer func() { recover() }()
		w.Do("elf", func() error { panic("the mapped file was cut short") })
	}()
	err := w.Do("elf", func() error { t.Error("done twice"); return nil })
	if e := (*formats.Error)(nil); !errors.As(err, &e) || e.Format != "elf" || !errors.Is(err, formats.ErrCorrupt) {
		t.Error(err)
	}
}
