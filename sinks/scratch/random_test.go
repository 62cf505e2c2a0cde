package scratch

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"
)

// A random file returns the bytes that were written at any offset. They do not stand in the file.
func TestRandom(t *testing.T) {
	t.Parallel()
	f, err := NewRandom(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rnd := rand.New(rand.NewPCG(1, 2))
	want := bytes.Repeat([]byte("function names "), 20_000)
	if _, err := f.WriteAt(want, 0); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		from := rnd.IntN(len(want))
		to := min(from+rnd.IntN(200), len(want))
		copy(want[from:to], "other names, and again, and again")
		if _, err := f.WriteAt(want[from:to], int64(from)); err != nil {
			t.Fatal(err)
		}
	}
	for range 200 {
		from := rnd.IntN(len(want))
		got := make([]byte, min(1+rnd.IntN(3000), len(want)-from))
		if _, err := f.ReadAt(got, int64(from)); err != nil || !bytes.Equal(got, want[from:from+len(got)]) {
			t.Fatalf("%d bytes at %d differ: %v", len(got), from, err)
		}
	}
	end := make([]byte, 20)
	if n, err := f.ReadAt(end, int64(len(want))-5); n != 5 || err != io.EOF || string(end[:5]) != string(want[len(want)-5:]) {
		t.Errorf("at the end: %d bytes %q, %v", n, end[:n], err)
	}
	stored := make([]byte, len(want))
	if _, err := f.f.ReadAt(stored, 0); err != nil || bytes.Contains(stored, []byte("names")) {
		t.Errorf("names stand in the file: %v", err)
	}
}
