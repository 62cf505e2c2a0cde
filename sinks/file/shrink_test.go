package file

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks"
)

// Tidy gives the unused pages of a catalog back after its records became smaller. Another reader has it open.
func TestTidyShrinksCatalog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	if err := Create(dir); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const n = 1500
	key := func(i int) []byte { return binary.BigEndian.AppendUint32([]byte("a"), uint32(i)*2654435761) }
	large, small := bytes.Repeat([]byte{1}, 1400), bytes.Repeat([]byte{2}, 300)
	each := func(old, new []byte) {
		t.Helper()
		errs := make(chan error, n)
		for i := range n {
			go func() { errs <- s.Catalog.Swap(t.Context(), key(i), old, new) }()
		}
		for range n {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
	}
	each(nil, large)
	other, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	tidy := func() int64 {
		t.Helper()
		freed, err := s.Blocks.Tidy(t.Context(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return freed
	}
	if freed := tidy(); freed != 0 {
		t.Errorf("%d bytes of a full catalog", freed)
	}
	each(large, small)
	read := func(s *sinks.Store) {
		t.Helper()
		got := 0
		if err := s.Catalog.List(context.Background(), sinks.Span{}, func(r sinks.Row) error {
			if bytes.Equal(r.Value, small) {
				got++
			}
			return nil
		}); err != nil || got != n {
			t.Errorf("%d records, %v", got, err)
		}
	}
	read(other)
	if freed := tidy(); freed < n*1000 {
		t.Errorf("freed %d bytes", freed)
	}
	read(s)
	read(other)
	other.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, catalogName)); err != nil || info.Size() > n*400 {
		t.Errorf("%d bytes are left, %v", info.Size(), err)
	}
}
