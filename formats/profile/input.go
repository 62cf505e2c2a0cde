package profile

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
)

// Input is a profile that may be read several times.
type Input struct {
	Name string // for messages
	// Open returns the bytes from the first one. Several readers may be open at once.
	Open func() (io.ReadCloser, error)

	damaged error // of its packing, once a reader came there
}

// Bytes returns an input that is in memory.
func Bytes(name string, b []byte) *Input {
	return &Input{Name: name, Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}
}

// Packing is how the bytes of an input are packed.
type Packing uint8

// The packings.
const (
	Plain Packing = iota
	Gzip          // one member or several
)

// Unpack returns the input without its packing, and its first bytes, up to HeadBytes. Damage of the packing ends the
// bytes; Answer counts it.
func Unpack(in *Input) (plain *Input, head []byte, p Packing, err error) {
	if head, err = in.head(); err != nil {
		return nil, nil, Plain, err
	}
	if !bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}) {
		return in, head, Plain, nil
	}
	plain = &Input{Name: in.Name, Open: func() (io.ReadCloser, error) {
		r, err := in.Open()
		if err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(bufio.NewReaderSize(r, 256<<10))
		if err != nil {
			if err = plain.damage(err); err != nil {
				return nil, errors.Join(err, r.Close())
			}
			z = nil
		}
		return &unpacked{plain, z, r}, nil
	}}
	head, err = plain.head()
	return plain, head, Gzip, err
}

// damage notes an error of a packing, and returns other errors.
func (in *Input) damage(err error) error {
	var flated flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &flated) {
		in.damaged = err
		return nil
	}
	return err
}

// head reads the first bytes. An input that is cut short has fewer.
func (in *Input) head() ([]byte, error) {
	r, err := in.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	head := make([]byte, HeadBytes)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return head[:n], nil
}

// unpacked reads through a packing.
type unpacked struct {
	in   *Input
	z    *gzip.Reader // nil: the packing is damaged
	from io.Closer
}

// Read implements io.Reader.
func (u *unpacked) Read(b []byte) (int, error) {
	if u.z == nil {
		return 0, io.EOF
	}
	n, err := u.z.Read(b)
	if err != nil && err != io.EOF {
		if err = u.in.damage(err); err == nil {
			u.z, err = nil, io.EOF
		}
	}
	return n, err
}

// Close implements io.Closer.
func (u *unpacked) Close() error { return u.from.Close() }
