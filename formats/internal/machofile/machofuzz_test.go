package machofile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/native"
)

// FuzzMachO reads everything this package can find in an image.
func FuzzMachO(f *testing.F) {
	for _, name := range []string{"objects/libmapped.dylib", "objects/engine.o", "hidden/libhidden"} {
		b, err := os.ReadFile(formattest.Testdata(f, filepath.Join("macho", name)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		lim := formats.Limits{SectionBytes: 4 << 20, SpoolBytes: 8 << 20, Symbols: 1 << 16}
		for _, err := range readMachO(t, formattest.InputOf("fuzz", b, lim)) {
			var fault *formats.Error
			if err != nil && (!errors.As(err, &fault) || !formats.Rejects(err)) {
				t.Fatalf("%v is no *formats.Error that rejects the object", err)
			}
		}
	})
}

func readMachO(t *testing.T, in *formats.Input) (errs []error) {
	f, err := Open(in)
	if err != nil {
		return []error{err}
	}
	note := func(err error) { errs = append(errs, err) }
	for _, s := range []string{".debug_info", ".debug_line", ".debug_str_offsets", ".debug_abbrev"} {
		_, err := f.Input(s)
		note(err)
	}
	_, err = f.Stored("__TEXT", "__text")
	note(err)
	note(f.EachDebug(func(*formats.Input) error { return nil }))
	code := native.Image{Code: f.Code()}
	for i, s := range code.Code {
		if s.End <= s.Start || i > 0 && s.Start < code.Code[i-1].End || s.Start < f.Base() || s.End > f.End() {
			t.Fatalf("code %+v of %+v", s, code.Code)
		}
	}
	all, err := f.Symbols(t.Context())
	note(err)
	for i, s := range all {
		if span, ok := code.Span(s.Addr); !ok || s.Addr+s.Size > span.End || s.Size == 0 || i > 0 && s.Addr < all[i-1].Addr {
			t.Fatalf("symbol %+v", s)
		}
	}
	exported, err := f.exported(&code)
	note(err)
	for _, s := range exported {
		if _, ok := code.Span(s.Addr); !ok || s.Name == "" {
			t.Fatalf("export %+v", s)
		}
	}
	_, err = f.DebugMap(t.Context())
	note(err)
	note(f.Defined(func(string, uint64) {}))
	note(f.Close())
	return errs
}
