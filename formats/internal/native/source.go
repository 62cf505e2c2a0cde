package native

import (
	"errors"
	"sync"

	"github.com/symlake/symlake/formats"
)

// Source is a program file of any system: its bytes, its byte order, and the contents that were spooled
// and that Close gives back.
type Source struct {
	In     *formats.Input
	Format string // in errors
	Order  ByteOrder

	mu       sync.Mutex
	releases []func() error
}

// BigEndian reports the byte order.
func (f *Source) BigEndian() bool { return bool(f.Order) }

// View reads n bytes of the file; its error names the place.
func (f *Source) View(section string, off uint64, n int64, want string) ([]byte, error) {
	if off > uint64(f.In.Size) || n < 0 || n > f.In.Size-int64(off) {
		return nil, f.Corrupt(section, off, want)
	}
	b, err := f.In.View(int64(off), n)
	if errors.Is(err, formats.ErrCorrupt) {
		return nil, f.Corrupt(section, off, want)
	}
	return b, err
}

// Close gives back what backs inflated and relocated sections. Nothing that
// came from them may be used afterwards.
func (f *Source) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var errs []error
	for _, release := range f.releases {
		errs = append(errs, release())
	}
	f.releases = nil
	return errors.Join(errs...)
}

// Keep has the source call release when it is closed. release may be nil.
func (f *Source) Keep(release func() error) {
	if release == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.releases = append(f.releases, release)
}

// Corrupt returns an error that rejects the object: at off of section it does not have what want says.
func (f *Source) Corrupt(section string, off uint64, want string) error {
	return f.fault(formats.ErrCorrupt, section, off, want)
}

// Limit returns an error that rejects the object: at off of section it exceeds the limit that want names.
func (f *Source) Limit(section string, off uint64, want string) error {
	return f.fault(formats.ErrLimit, section, off, want)
}

func (f *Source) fault(err error, section string, off uint64, want string) error {
	return &formats.Error{Format: f.Format, Section: section, Offset: int64(off), Want: want, Err: err}
}

// Fields reads integers of a structure of checked size.
type Fields struct {
	B     []byte
	Order ByteOrder
}

// U16 returns the two bytes at an offset.
func (r Fields) U16(at int) uint16 { return r.Order.Uint16(r.B[at:]) }

// U32 returns the four bytes at an offset.
func (r Fields) U32(at int) uint32 { return r.Order.Uint32(r.B[at:]) }

// U64 returns the eight bytes at an offset.
func (r Fields) U64(at int) uint64 { return r.Order.Uint64(r.B[at:]) }
