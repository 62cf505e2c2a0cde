package native

import (
	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/once"
)

// Section is a section as its readers want it. It is safe for concurrent use.
type Section struct {
	Name string // as asked for: ".debug_info" also where the file says ".zdebug_info"
	Addr uint64 // unslid; 0 for a section that is not loaded
	Size uint64 // of In
	// In is the section's contents, inflated and (relocatable files) relocated;
	// of size 0 when the file holds no bytes for it.
	In *formats.Input

	read  once.Work
	bytes []byte
}

// Bytes is all of the section: a view of In.Mapped, else one copy, which is
// kept. It must not be changed. Read what may be large by Section.In.
func (s *Section) Bytes() ([]byte, error) {
	err := s.read.Do("native", func() (err error) {
		s.bytes, err = s.In.View(0, s.In.Size)
		return err
	})
	return s.bytes, err
}

// LazySection makes a section readable once. It is safe for concurrent use.
type LazySection struct {
	opened once.Work
	sec    *Section
}

// Get returns the section, which the first call opens.
func (s *LazySection) Get(open func() (*Section, error)) (*Section, error) {
	err := s.opened.Do("native", func() (err error) {
		s.sec, err = open()
		return err
	})
	return s.sec, err
}
