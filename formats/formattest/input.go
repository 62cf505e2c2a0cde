package formattest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/symlake/symlake/formats"
)

// Input is the file at path as an object in memory, with default limits and
// no companions.
func Input(t testing.TB, path string) *formats.Input {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return InputOf(filepath.Base(path), b, formats.Limits{})
}

// Beside is the file at path as Input gives it, with the files of its folder
// as companions: by their path relative to it, else by their base name.
func Beside(t testing.TB, file string) *formats.Input {
	in := Input(t, file)
	in.Companion = func(_ context.Context, want formats.Ref) (*formats.Input, error) {
		for _, name := range []string{want.Name, path.Base(want.Name)} {
			b, err := os.ReadFile(filepath.Join(filepath.Dir(file), filepath.FromSlash(name)))
			if want.Name != "" && err == nil {
				return InputOf(name, b, formats.Limits{}), nil
			}
		}
		return nil, formats.ErrNoCompanion
	}
	return in
}

// InputOf is b as an object. Its Spool keeps streams in memory and counts
// them against lim.SpoolBytes.
func InputOf(name string, b []byte, lim formats.Limits) *formats.Input {
	lim = lim.WithDefaults()
	var spooled atomic.Int64
	return &formats.Input{
		Name: name, Size: int64(len(b)), Limits: &lim,
		Bytes: bytes.NewReader(b), Mapped: b,
		Companion: func(context.Context, formats.Ref) (*formats.Input, error) { return nil, formats.ErrNoCompanion },
		Spool: func(name string, size int64, r io.Reader) (*formats.Input, error) {
			return spool(name, size, r, &lim, &spooled)
		},
	}
}

// Unmapped returns in without its view of memory: everything is read by ReadAt,
// spooled inputs too.
func Unmapped(in *formats.Input) *formats.Input {
	u := *in
	u.Mapped = nil
	u.Spool = func(name string, size int64, r io.Reader) (*formats.Input, error) {
		s, err := in.Spool(name, size, r)
		if err != nil {
			return nil, err
		}
		return Unmapped(s), nil
	}
	return &u
}

func spool(name string, size int64, r io.Reader, lim *formats.Limits, spooled *atomic.Int64) (*formats.Input, error) {
	fault := func(err error, want string) error {
		return &formats.Error{Format: "spool", Section: name, Want: want, Err: err}
	}
	most := lim.SpoolBytes - spooled.Load()
	if size > most {
		return nil, fault(formats.ErrLimit, fmt.Sprintf("at most %d bytes", most))
	}
	if size >= 0 {
		most = size
	}
	var buf bytes.Buffer
	n, err := io.CopyN(&buf, r, most+1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case n > most && size < 0:
		return nil, fault(formats.ErrLimit, fmt.Sprintf("at most %d bytes", most))
	case size >= 0 && n != size:
		return nil, fault(formats.ErrCorrupt, fmt.Sprintf("%d bytes, not %d", size, n))
	}
	spooled.Add(n)
	in := InputOf(name, buf.Bytes(), *lim)
	in.Limits = lim
	in.Release = func() error {
		spooled.Add(-n)
		return nil
	}
	return in, nil
}
