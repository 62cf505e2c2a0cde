package scratch

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/symlake/symlake/formats"
)

func spool(t *testing.T, budget int64) *Spool {
	t.Helper()
	lim := formats.Limits{SpoolBytes: 10 << 20}.WithDefaults()
	return &Spool{Budget: NewBudget(budget), Dir: t.TempDir(), Limits: &lim}
}

func pattern(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	r.Read(b)
	return b
}

// check reads an input in many ways and compares.
func check(t *testing.T, in *formats.Input, want []byte) {
	t.Helper()
	if in.Size != int64(len(want)) {
		t.Fatalf("size %d, want %d", in.Size, len(want))
	}
	if in.Mapped != nil && !bytes.Equal(in.Mapped, want) {
		t.Fatal("mapped bytes differ")
	}
	if len(want) > 0 {
		if err := iotest.TestReader(io.NewSectionReader(in.Bytes, 0, in.Size), want); err != nil {
			t.Fatal(err)
		}
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		off := r.IntN(len(want) + 1)
		n := r.IntN(min(len(want)-off, 3*PageBytes) + 1)
		got := make([]byte, n)
		if _, err := in.Bytes.ReadAt(got, int64(off)); n > 0 && err != nil && err != io.EOF || !bytes.Equal(got, want[off:off+n]) {
			t.Fatalf("%d bytes at %d: %v", n, off, err)
		}
	}
	if n, err := in.Bytes.ReadAt(make([]byte, 10), in.Size-min(5, in.Size)); err != io.EOF || int64(n) != min(5, in.Size) {
		t.Fatalf("past the end: %d %v", n, err)
	}
}

func TestSpool(t *testing.T) {
	for _, size := range []int{0, 1, 1000, firstBytes, firstBytes + 1, PageBytes * 3, PageBytes*5 + 17} {
		for _, budget := range []int64{64 << 20, 1 << 20, 300 << 10, 0} {
			for _, known := range []int64{int64(size), -1} {
				s := spool(t, budget)
				want := pattern(size)
				in, err := s.Read("x", known, iotest.HalfReader(bytes.NewReader(want)))
				if err != nil {
					t.Fatal(err)
				}
				check(t, in, want)
				if budget == 0 && size > 0 && in.Mapped != nil {
					t.Fatal("in memory without a budget")
				}
				if s.Budget.Used() > budget {
					t.Fatalf("%d bytes of a budget of %d", s.Budget.Used(), budget)
				}
				if err := errors.Join(in.Release(), in.Release()); err != nil || s.Budget.Used() != 0 {
					t.Fatal(err, s.Budget.Used())
				}
			}
		}
	}
}

func TestSpoolRefuses(t *testing.T) {
	for _, budget := range []int64{64 << 20, 0} {
		for name, c := range map[string]struct {
			size int64
			n    int
			want error
		}{
			"longer": {99, 100, formats.ErrCorrupt}, "shorter": {101, 100, formats.ErrCorrupt}, "too much": {11 << 20, 1, formats.ErrLimit},
			"endless": {-1, 11 << 20, formats.ErrLimit}, "longer than a page": {PageBytes, PageBytes + 1, formats.ErrCorrupt},
		} {
			s := spool(t, budget)
			_, err := s.Read("x", c.size, bytes.NewReader(make([]byte, c.n)))
			if !errors.Is(err, c.want) || s.Budget.Used() != 0 {
				t.Errorf("%s, budget %d: %v", name, budget, err)
			}
		}
		s := spool(t, budget)
		broken := errors.New("broken pipe")
		if _, err := s.Read("x", -1, io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken))); !errors.Is(err, broken) || s.Budget.Used() != 0 {
			t.Errorf("budget %d: %v", budget, err)
		}
		// All that one object spools is limited, not each stream.
		for i := range 3 {
			in, err := s.Read("x", 4<<20, bytes.NewReader(make([]byte, 4<<20)))
			if (i < 2) != (err == nil) || i == 2 && !errors.Is(err, formats.ErrLimit) {
				t.Fatalf("stream %d: %v", i, err)
			}
			if err == nil {
				in.Release()
			}
		}
	}
}

func TestStage(t *testing.T) {
	for _, size := range []int{0, 1, PageBytes, PageBytes*4 + 5} {
		for _, budget := range []int64{64 << 20, 0} {
			s := spool(t, budget)
			want := pattern(size)
			in, err := s.Stage("x", int64(size), func(w io.WriterAt) error {
				r := rand.New(rand.NewPCG(2, 2))
				var cuts []int
				for at := 0; at < size; at += 1 + r.IntN(PageBytes*2) {
					cuts = append(cuts, at)
				}
				for _, i := range append(r.Perm(len(cuts)), r.Perm(len(cuts))...) {
					end := size
					if i+1 < len(cuts) {
						end = cuts[i+1]
					}
					if _, err := w.WriteAt(want[cuts[i]:end], int64(cuts[i])); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			check(t, in, want)
			if err := in.Release(); err != nil || s.Budget.Used() != 0 {
				t.Fatal(err)
			}
		}
	}
	s := spool(t, 0)
	if _, err := s.Stage("x", PageBytes*2, func(w io.WriterAt) error {
		_, err := w.WriteAt(make([]byte, PageBytes+10), 0)
		return err
	}); err == nil {
		t.Fatal("half an object is no error")
	}
}

// The file on disk does not show the text, and cannot be changed unnoticed.
func TestFileIsSealed(t *testing.T) {
	f, err := Create(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := bytes.Repeat([]byte("secret_function "), PageBytes/16)
	for range 2 {
		if _, err := f.Append(text); err != nil {
			t.Fatal(err)
		}
	}
	raw := make([]byte, 2*slotBytes)
	if _, err := f.f.ReadAt(raw, 0); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(raw, []byte("secret")) || bytes.Equal(raw[:slotBytes], raw[slotBytes:]) {
		t.Fatal("pages are in clear, or equal pages look equal")
	}
	got := make([]byte, PageBytes)
	if err := f.Read(1, got); err != nil || !bytes.Equal(got, text) {
		t.Fatal(err)
	}
	if _, err := f.f.WriteAt(raw[:slotBytes], slotBytes); err != nil { // page 0 in the place of page 1
		t.Fatal(err)
	}
	if err := f.Read(1, got); err == nil {
		t.Fatal("another page opened in its place")
	}
	if _, err := f.Append(make([]byte, PageBytes+1)); err == nil {
		t.Fatal("a page too long")
	}
	if runtime.GOOS == "linux" {
		if _, err := os.Stat(f.f.Name()); !os.IsNotExist(err) {
			t.Fatal("the file has a name")
		}
	}
}
