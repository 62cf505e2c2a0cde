package native

import (
	"sync"

	"github.com/symlake/symlake/formats"
)

// Section is a section as its readers want it. It is safe for concurrent use.
type Section struct {
	Name string // as asked for: ".debug_info" also where the file says ".zdebug_info"
	Addr uint64 // unslid; 0 for a section that is not loaded
	Size uint64 // of In
	// In is the section's contents, inflated and (relocatable files) relocated;
	// of size 0 when the file holds no bytes for it.
	In *formats.Input

	once  sync.Once
	bytes []byte
	err   error
}

// Bytes is all of the section: a view of In.Mapped, else one copy, which is
// kept. It must not be changed. Read what may be large by Section.In.
func (s *Section) Bytes() ([]byte, error) {
	s.once.Do(func() {
		s.err = errInterrupted
		s.bytes, s.err = s.In.View(0, s.In.Size)
	})
	return s.bytes, s.err
}

// errInterrupted is the error of a section after a panic ended its first reading (a mapped file was cut
// short): a second reader must not take the empty result for a good one.
var errInterrupted = &formats.Error{Format: "native", Want: "contents that could be read the first time", Err: formats.ErrCorrupt}

// LazySection makes a section readable once. It is safe for concurrent use.
type LazySection struct {
	once sync.Once
	sec  *Section
	err  error
}

// Get returns the section, which the first call opens.
func (s *LazySection) Get(open func() (*Section, error)) (*Section, error) {
	s.once.Do(func() {
		s.err = errInterrupted
		s.sec, s.err = open()
	})
	return s.sec, s.err
}
