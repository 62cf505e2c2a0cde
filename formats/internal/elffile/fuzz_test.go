package elffile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// FuzzNative reads everything this package can find in a file.
func FuzzNative(f *testing.F) {
	for _, pattern := range []string{"obj/*.o", "minidebuginfo/*.so", "*zstd.so", "*zdebug.so", "*arm64be-dw5.so"} {
		paths, err := filepath.Glob(filepath.Join(formattest.Root(), "testdata", "elf", filepath.FromSlash(pattern)))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Add(build(".debug_info", shfCompressed, append(compressionHeader(1, 70000), deflate(make([]byte, 70000))...)))
	f.Fuzz(func(t *testing.T, b []byte) {
		lim := formats.Limits{SectionBytes: 4 << 20, SpoolBytes: 8 << 20, Symbols: 1 << 16}
		if err := readAll(formattest.InputOf("fuzz", b, lim)); err != nil {
			var fault *formats.Error
			if !errors.As(err, &fault) || !formats.Rejects(err) {
				t.Fatalf("%v is no *formats.Error that rejects the object", err)
			}
		}
	})
}

// readAll stops at the first error of the headers; errors of contents are
// looked at one by one.
func readAll(in *formats.Input) error {
	f, err := Open(in)
	if err != nil {
		return err
	}
	var first error
	note := func(err error) {
		if first == nil {
			first = err
		}
	}
	for i := range f.headers {
		s, err := f.section(i)
		if err == nil {
			_, err = s.Bytes()
		}
		note(err)
	}
	note(f.Notes(func(string, uint32, []byte) bool { return true }))
	_, _, err = f.DebugLink()
	note(err)
	_, err = f.Supplement()
	note(err)
	_, err = f.SONAME()
	note(err)
	_, err = f.Code()
	note(err)
	syms, err := f.Symbols(context.Background())
	note(err)
	for i := 1; i < len(syms); i++ {
		if syms[i].Addr < syms[i-1].Addr {
			return errors.New("symbols are not in order")
		}
	}
	f.Anchors()
	f.Arch()
	note(f.Close())
	return first
}
