package native

import (
	"errors"
	"sync"

	"github.com/symlake/symlake/formats"
)

// source is what program files of every system have in common here: bytes, a
// byte order, and contents that were made readable and are given back at the end.
type source struct {
	in     *formats.Input
	format string // in errors
	order  byteOrder

	mu       sync.Mutex
	releases []func() error
}

// BigEndian reports the byte order.
func (f *source) BigEndian() bool { return bool(f.order) }

// view reads n bytes of the file; its error says what was wanted.
func (f *source) view(section string, off uint64, n int64, want string) ([]byte, error) {
	if off > uint64(f.in.Size) || n < 0 || n > f.in.Size-int64(off) {
		return nil, f.corrupt(section, off, want)
	}
	b, err := f.in.View(int64(off), n)
	if errors.Is(err, formats.ErrCorrupt) {
		return nil, f.corrupt(section, off, want)
	}
	return b, err
}

// Close gives back what backs inflated and relocated sections. Nothing that
// came from them may be used afterwards.
func (f *source) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, release := range f.releases {
		errs = append(errs, release())
	}
	f.releases = nil
	return errors.Join(errs...)
}

func (f *source) keep(release func() error) {
	if release == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.releases = append(f.releases, release)
}

func (f *source) corrupt(section string, off uint64, want string) error {
	return f.fault(formats.ErrCorrupt, section, off, want)
}

func (f *source) limit(section string, off uint64, want string) error {
	return f.fault(formats.ErrLimit, section, off, want)
}

func (f *source) fault(err error, section string, off uint64, want string) error {
	return &formats.Error{Format: f.format, Section: section, Offset: int64(off), Want: want, Err: err}
}

// fields reads integers of a structure whose size has been checked.
type fields struct {
	b     []byte
	order byteOrder
}

func (r fields) u16(at int) uint16 { return r.order.Uint16(r.b[at:]) }

func (r fields) u32(at int) uint32 { return r.order.Uint32(r.b[at:]) }

func (r fields) u64(at int) uint64 { return r.order.Uint64(r.b[at:]) }
