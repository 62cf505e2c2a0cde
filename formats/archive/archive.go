// Package archive reads containers of objects: ZIP with its children (APK, AAR,
// JAR), tar, static libraries (ar), and single objects compressed by gzip, zstd,
// xz or into a cabinet, as symbol stores of Windows have them. Each is a format with members; other formats read the members.
//
// Invariants:
//   - a member's name is a label ("outer.zip!lib/x.so"): no path is ever made
//     from it, so ".." and absolute names are harmless;
//   - a stored member becomes a section of the archive, not a copy. A compressed
//     member is inflated as far as it is read: its head for
//     Detect, all of it (spooled) once a format claims it;
//   - a damaged member is emitted with its error, and the next ones follow as
//     long as their place is known;
//   - sizes and counts are compared with the limits and with the bytes of the
//     archive before anything is allocated for them.
package archive

import (
	"bytes"
	"context"

	"github.com/symlake/symlake/formats"
)

// The formats, in no order: their magics exclude one another.
var (
	Zip  = formats.Format{Name: "zip", Version: 1, Detect: magic("PK\x03\x04", "PK\x05\x06"), Open: openZip}
	Ar   = formats.Format{Name: "ar", Version: 1, Detect: magic(arMagic, arThin), Open: openAr}
	Tar  = formats.Format{Name: "tar", Version: 1, Detect: detectTar, Open: openTar}
	Gzip = formats.Format{Name: "gzip", Version: 1, Detect: magic("\x1f\x8b\x08"), Open: openGzip}
	Zstd = formats.Format{Name: "zstd", Version: 1, Detect: detectZstd, Open: openZstd}
	Xz   = formats.Format{Name: "xz", Version: 1, Detect: magic("\xfd7zXZ\x00"), Open: openXz}
	Cab  = formats.Format{Name: "cabinet", Version: 1, Detect: magic(cabMagic + "\x00\x00\x00\x00"), Open: openCab}
)

func magic(any ...string) func(string, []byte) bool {
	return func(_ string, head []byte) bool {
		for _, m := range any {
			if bytes.HasPrefix(head, []byte(m)) {
				return true
			}
		}
		return false
	}
}

// bad is an error of one format at an offset of the archive.
func bad(format, section string, off int64, want string, err error) *formats.Error {
	return &formats.Error{Format: format, Section: section, Offset: off, Want: want, Err: err}
}

// broken is a member that cannot be read.
func broken(in *formats.Input, name string, err error) *formats.Input {
	return &formats.Input{Name: in.Name + "!" + name, Limits: in.Limits, Err: err}
}

// emitter counts members on their way to the caller.
type emitter struct {
	ctx  context.Context
	in   *formats.Input
	form string
	emit func(*formats.Input) error
	n    int
}

// put hands one member out and releases it.
func (e *emitter) put(m *formats.Input) error {
	if err := e.ctx.Err(); err != nil {
		return err
	}
	if e.n++; e.n > e.in.Limits.Members {
		return bad(e.form, "members", int64(e.n), "fewer members", formats.ErrLimit)
	}
	err := e.emit(m)
	if m.Release != nil {
		if rerr := m.Release(); err == nil {
			err = rerr
		}
	}
	return err
}
