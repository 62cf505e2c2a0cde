package native

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/therootcompany/xz"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/upstream"
)

// dictBytes is the dictionary of xz -9; the distributions use 8 MiB.
const dictBytes = 64 << 20

// UnpackXZ unpacks a section that holds a file packed by xz. The caller releases the result.
func (f *Source) UnpackXZ(name string, packed *formats.Input) (*formats.Input, error) {
	// The header does not give the size after unpacking.
	most := f.In.Limits.SectionBytes
	if packed.Size < most/packedRatio {
		most = min(most, max(MemoryBytes, packed.Size*packedRatio))
	}
	src := &upstream.Reader{R: io.NewSectionReader(packed.Bytes, 0, packed.Size)}
	z, err := xz.NewReader(bufio.NewReaderSize(src, 64<<10), dictBytes)
	out := &unpacked{file: f, section: name, src: src}
	if err != nil {
		return nil, out.fault(err)
	}
	out.r, out.left = z, most
	r := &openEnded{out}

	var head bytes.Buffer
	if _, err := io.CopyN(&head, r, MemoryBytes); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if head.Len() < MemoryBytes {
		return f.InMemory(name, head.Bytes()), nil
	}
	return f.In.Spool(name, -1, io.MultiReader(&head, r))
}

// openEnded is an unpacked stream that may end before its bound.
type openEnded struct{ u *unpacked }

func (o *openEnded) Read(p []byte) (int, error) {
	n, err := o.u.r.Read(p)
	o.u.at += uint64(n)
	if o.u.left -= int64(n); o.u.left < 0 {
		return 0, o.u.file.Limit(o.u.section, o.u.at, "less after unpacking")
	}
	if err != nil && err != io.EOF {
		return n, o.u.fault(err)
	}
	return n, err
}
