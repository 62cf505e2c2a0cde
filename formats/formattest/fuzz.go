package formattest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/symlake/symlake/formats"
)

// fuzzTime is what an object of the fuzzer's size may take: work must not
// grow faster than the object.
const fuzzTime = 10 * time.Second

// Fuzz is the body of every format's fuzz target: no panic, limits kept, runs
// well-formed, and the same result from memory and through ReadAt. magic is
// put back over the first bytes of data, so that no input is wasted on not
// being claimed.
//
//	f.Fuzz(func(t *testing.T, data []byte) { formattest.Fuzz(t, &Format, "\x7fELF", data) })
func Fuzz(t *testing.T, f *formats.Format, magic string, data []byte) {
	t.Helper()
	b := bytes.Clone(data)
	copy(b, magic)
	lim := formats.Limits{
		ObjectBytes: 8 << 20, SectionBytes: 4 << 20, SpoolBytes: 8 << 20, NameBytes: 4 << 10,
		Units: 1 << 10, Files: 1 << 12, Symbols: 1 << 16, Members: 1 << 8, InlineDepth: 64, RunRanges: 1 << 10,
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 2*fuzzTime)
	defer cancel()
	mapped, err := contentOf(ctx, f, InputOf("fuzz", b, lim), forward)
	checkRejects(t, err)
	unmapped, err2 := contentOf(ctx, f, Unmapped(InputOf("fuzz", b, lim)), backward)
	checkRejects(t, err2)
	if (err == nil) != (err2 == nil) || !errors.Is(err2, kindOf(err)) {
		t.Fatalf("from memory: %v; through ReadAt: %v", err, err2)
	}
	if mapped != nil && unmapped != nil {
		equal(t, "unmapped", unmapped, mapped)
	}
	if spent := time.Since(start); spent > fuzzTime {
		t.Fatalf("%v for %d bytes", spent, len(data))
	}
}

// kindOf is the sentinel behind err: parts are read in different orders, so
// only that must agree.
func kindOf(err error) error {
	for _, kind := range []error{formats.ErrCorrupt, formats.ErrUnsupported, formats.ErrLimit} {
		if errors.Is(err, kind) {
			return kind
		}
	}
	return err
}

// Seed adds the files at paths to a fuzz corpus, except files above max bytes.
func Seed(f *testing.F, max int, paths ...string) {
	f.Helper()
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		if len(b) <= max {
			f.Add(b)
		}
	}
}
