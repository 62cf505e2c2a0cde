package macho

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/machofile"
)

const (
	fatMagic   = 0xcafebabe // Java's class files have it too
	fat64Magic = 0xcafebabf
	// maxSlices is below the number that stands in its place in a class file of
	// any version of Java. Real files have up to ten slices.
	maxSlices = 45
)

// isFat goes by the magic number and, since that is not the format's alone, by
// the number of slices and the kind of the first one.
func isFat(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	magic, n := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])
	return magic == fat64Magic || magic == fatMagic && n < maxSlices
}

// slice is the file of one architecture in a fat file.
type slice struct {
	arch      string
	off, size uint64
	at        int64 // of its entry
	err       error
}

// fatFault is damage of the table of slices.
func fatFault(off int64, want string) error {
	return &formats.Error{Format: name, Section: "fat header", Offset: off, Want: want, Err: formats.ErrCorrupt}
}

// openFat opens a fat file: each slice is a member. A slice outside the file, or
// over another slice, is rejected alone.
func openFat(in *formats.Input) (*formats.Object, error) {
	slices, err := readSlices(in)
	if err != nil {
		return nil, err
	}
	return &formats.Object{Members: func(ctx context.Context, emit func(*formats.Input) error) error {
		for i := range slices {
			if err := emit(slices[i].input(in)); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// readSlices reads the table of slices.
func readSlices(in *formats.Input) ([]slice, error) {
	head, err := in.View(0, min(8, in.Size))
	if err != nil {
		return nil, err
	}
	wide := binary.BigEndian.Uint32(head) == fat64Magic
	n, each := int64(binary.BigEndian.Uint32(head[4:])), int64(20)
	if wide {
		each = 32
	}
	if n >= maxSlices {
		return nil, fatFault(4, fmt.Sprintf("fewer than %d slices, not %d", maxSlices, n))
	}
	if in.Size < 8+n*each {
		return nil, fatFault(8, fmt.Sprintf("%d entries of %d bytes", n, each))
	}
	table, err := in.View(8, n*each)
	if err != nil {
		return nil, err
	}
	slices := make([]slice, n)
	for i := range slices {
		b := table[int64(i)*each:]
		s := &slices[i]
		s.arch = machofile.MachoArch(binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]))
		s.at = 8 + int64(i)*each
		if wide {
			s.off, s.size = binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])
		} else {
			s.off, s.size = uint64(binary.BigEndian.Uint32(b[8:])), uint64(binary.BigEndian.Uint32(b[12:]))
		}
		if size := uint64(in.Size); s.off > size || s.size > size-s.off {
			s.err = fatFault(s.at, fmt.Sprintf("slice %s inside the file", s.arch))
		}
	}
	refuseOverlaps(slices, uint64(8+n*each))
	return slices, nil
}

// sliceFor is the slice of an architecture, nil if a fat file has none; a file that is not fat is its own.
func sliceFor(in *formats.Input, arch string) (*formats.Input, error) {
	head, err := in.View(0, min(8, in.Size))
	if err != nil || !isFat(head) {
		return in, err
	}
	all, err := readSlices(in)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].arch == arch {
			m := all[i].input(in)
			return m, m.Err
		}
	}
	return nil, nil
}

// refuseOverlaps marks each slice that begins before the one in front of it,
// or the table, has ended.
func refuseOverlaps(all []slice, end uint64) {
	order := make([]*slice, 0, len(all))
	for i := range all {
		if all[i].err == nil {
			order = append(order, &all[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *slice) int { return cmp.Compare(a.off, b.off) })
	for _, s := range order {
		if s.off < end {
			s.err = fatFault(s.at, fmt.Sprintf("slice %s behind what stands before it, which ends at %#x", s.arch, end))
			continue
		}
		end = s.off + s.size
	}
}

// input is the slice as a member of in.
func (s *slice) input(in *formats.Input) *formats.Input {
	label := in.Name + "!" + s.arch
	if s.err != nil {
		return &formats.Input{Name: label, Limits: in.Limits, Err: s.err}
	}
	m, err := in.Section(label, int64(s.off), int64(s.size))
	if err != nil {
		return &formats.Input{Name: label, Limits: in.Limits, Err: err}
	}
	return m
}

// isArch reports whether a slice may be called so.
func isArch(s string) bool {
	return slices.Contains([]string{"arm64", "arm64e", "arm64_32", "armv7", "armv7s", "armv7k", "armv6", "arm", "x86_64", "x86_64h", "x86"}, s)
}
