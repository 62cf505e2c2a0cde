package perfscript

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/symlake/symlake/formats/profile"
)

// visitor takes the lines of a text. Each method may be nil.
type visitor struct {
	header func(h *header) error
	// frame takes a frame of the sample at hand; back: its address is a return address.
	frame  func(f *frame, back bool) error
	source func(file string, line uint32) error
	// mapping takes the line of a mapping.
	mapping func(m *mapping) error
	// line takes each line as it stands, before its meaning.
	line func(line []byte) error
}

// each goes through a text. Lines that are none of a sample's pass.
func each(ctx context.Context, in *profile.Input, v *visitor) (err error) {
	from, err := in.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	b := bufio.NewReaderSize(from, 256<<10)
	depth := -1 // frames of the sample at hand; -1: none is
	kernel := false
	frame := func(f *frame) error {
		back := depth > 0 && !kernel
		kernel = f.isKernel()
		if !f.inlined {
			depth++
		}
		if v.frame == nil {
			return nil
		}
		return v.frame(f, back)
	}
	for n := 0; ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, err := b.ReadSlice('\n')
		if len(line) == 0 && err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return nil
			}
			return err
		}
		if v.line != nil {
			if err := v.line(line); err != nil {
				return err
			}
		}
		if err := v.one(trimmed(line), &depth, &kernel, frame); err != nil {
			return err
		}
	}
}

// trimmed is a line without its end.
func trimmed(line []byte) []byte {
	for len(line) > 0 && (line[len(line)-1] == '\n' || line[len(line)-1] == '\r') {
		line = line[:len(line)-1]
	}
	return line
}

// one reads a line.
func (v *visitor) one(line []byte, depth *int, kernel *bool, frame func(f *frame) error) error {
	if isSkipped(line) {
		if m, ok := parseMapping(line); ok && v.mapping != nil {
			return v.mapping(&m)
		}
		if len(line) == 0 {
			*depth = -1
		}
		return nil
	}
	if f, ok := parseFrame(line); ok && *depth >= 0 {
		return frame(&f)
	}
	if file, at, ok := parseSource(line); ok && *depth >= 0 {
		if v.source == nil {
			return nil
		}
		return v.source(file, at)
	}
	h, ok := parseHeader(line)
	if !ok {
		return nil
	}
	*depth, *kernel = 0, false
	if v.header != nil {
		if err := v.header(&h); err != nil {
			return err
		}
	}
	if h.frame != nil {
		if f, ok := parseFrame(h.frame); ok {
			return frame(&f)
		}
	}
	return nil
}
