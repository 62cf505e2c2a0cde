package pqfile

import (
	"bytes"
	"errors"
	"runtime"
	"testing"
)

// A footer that is longer than its file takes no memory.
func TestLongFooter(t *testing.T) {
	text := append([]byte("PAR1"), 1, 2, 3, 4, 0xff, 0xff, 0xff, 0x7f, 'P', 'A', 'R', '1')
	r, size := bytes.NewReader(text), int64(len(text))
	for name, open := range map[string]func() error{
		"OpenRows": func() error { _, err := OpenRows(t.Context(), r, size, nil); return err },
		"Measure":  func() error { _, err := Measure(r, size); return err },
		"Describe": func() error { _, err := Describe(t.Context(), r, size, nil); return err },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := open()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrRows) || took > 1<<20 {
			t.Errorf("%s took %d bytes: %v", name, took, err)
		}
	}
}
