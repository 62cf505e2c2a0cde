package native

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/therootcompany/xz"

	"github.com/symlake/symlake/formats/internal/upstream"
)

// dictBytes is the dictionary of xz -9; the distributions use 8 MiB.
const dictBytes = 64 << 20

// minidebug is the file inside .gnu_debugdata: an ELF file packed by xz that
// holds the symbol table strip removed. nil when there is none. It lives until
// its Close.
func (f *ELF) minidebug() (*ELF, error) {
	const name = ".gnu_debugdata"
	packed, err := f.Input(name)
	if packed == nil || err != nil {
		return nil, err
	}
	// Its size stands nowhere before it is unpacked.
	most := f.in.Limits.SectionBytes
	if packed.Size < most/packedRatio {
		most = min(most, max(memoryBytes, packed.Size*packedRatio))
	}
	src := &upstream.Reader{R: io.NewSectionReader(packed.Bytes, 0, packed.Size)}
	z, err := xz.NewReader(bufio.NewReaderSize(src, 64<<10), dictBytes)
	out := &unpacked{file: &f.file, section: name, src: src}
	if err != nil {
		return nil, out.fault(err)
	}
	out.r, out.left = z, most
	r := &openEnded{out}

	var head bytes.Buffer
	if _, err := io.CopyN(&head, r, memoryBytes); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	in := f.inMemory(name, head.Bytes())
	if head.Len() == memoryBytes {
		if in, err = f.in.Spool(name, -1, io.MultiReader(&head, r)); err != nil {
			return nil, err
		}
	}
	inner, err := OpenELF(in)
	if err != nil {
		if in.Release != nil {
			err = errors.Join(err, in.Release())
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	inner.keep(in.Release)
	if inner.kind != f.kind || inner.machine != f.machine || inner.wide != f.wide || inner.order != f.order {
		return nil, errors.Join(corrupt(name, 0, "a file of the same machine and kind"), inner.Close())
	}
	return inner, nil
}

// openEnded is an unpacked stream that may end before its bound.
type openEnded struct{ u *unpacked }

func (o *openEnded) Read(p []byte) (int, error) {
	n, err := o.u.r.Read(p)
	o.u.at += uint64(n)
	if o.u.left -= int64(n); o.u.left < 0 {
		return 0, o.u.file.limit(o.u.section, o.u.at, "less after unpacking")
	}
	if err != nil && err != io.EOF {
		return n, o.u.fault(err)
	}
	return n, err
}
