package pprof

import (
	"encoding/binary"
	"slices"

	"github.com/symlake/symlake/formats/profile"
)

// spool keeps records in the order that they came: in memory, then in a file.
type spool struct {
	o       *profile.Options
	memory  []byte
	file    profile.Scratch
	written int64
	full    bool // there is no room for more
	from    int64
	at      int // of the next record in memory
}

// newSpool returns an empty spool.
func newSpool(o *profile.Options) *spool { return &spool{o: o} }

// size returns the bytes of the record that b begins with.
func size(b []byte) int {
	count, n := binary.Uvarint(b)
	for range 3 * count {
		for n < len(b)-1 && b[n] >= 0x80 {
			n++
		}
		n++
	}
	return n
}

// add keeps the record that b begins with.
func (s *spool) add(b []byte) error {
	if s.full {
		return nil
	}
	s.memory = append(s.memory, b[:size(b)]...)
	if int64(len(s.memory)) < s.o.Room()/4 {
		return nil
	}
	if s.file == nil {
		if s.o.Scratch == nil {
			s.full = true
			s.o.Counts.Keep("the answers exceed the memory, and the last locations stay", "locations")
			return nil
		}
		var err error
		if s.file, err = s.o.Scratch(); err != nil {
			return err
		}
	}
	return s.flush()
}

// flush writes the records in memory to the file.
func (s *spool) flush() error {
	n, err := s.file.WriteAt(s.memory, s.written)
	s.written += int64(n)
	s.memory = s.memory[:0]
	return err
}

// rewind begins to hand records out, from the first.
func (s *spool) rewind() error {
	if s.file == nil {
		return nil
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.memory, s.at = s.memory[:0], 0
	return nil
}

// take returns the next record, valid until the next one. Behind the last one places stay.
func (s *spool) take() ([]byte, error) {
	if s.file != nil && len(s.memory)-s.at < maxRecord && s.from < s.written {
		rest := copy(s.memory, s.memory[s.at:])
		s.at = 0
		more := min(s.written-s.from, 1<<20)
		s.memory = slices.Grow(s.memory[:rest], int(more))[:rest+int(more)]
		if _, err := s.file.ReadAt(s.memory[rest:], s.from); err != nil {
			return nil, err
		}
		s.from += more
	}
	if s.at >= len(s.memory) {
		return []byte{0}, nil
	}
	b := s.memory[s.at:]
	n := size(b)
	s.at += n
	return b[:n], nil
}

// maxRecord is more than any record has: an answer has at most some hundred frames.
const maxRecord = 64 << 10

// close gives the file back.
func (s *spool) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
