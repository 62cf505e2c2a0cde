package elffile

import (
	"errors"
	"fmt"
)

// minidebug is the file inside .gnu_debugdata: an ELF file packed by xz that
// holds the symbol table strip removed. nil when there is none. It lives until
// its Close.
func (f *File) minidebug() (*File, error) {
	const name = ".gnu_debugdata"
	packed, err := f.Input(name)
	if packed == nil || err != nil {
		return nil, err
	}
	in, err := f.UnpackXZ(name, packed)
	if err != nil {
		return nil, err
	}
	inner, err := Open(in)
	if err != nil {
		if in.Release != nil {
			err = errors.Join(err, in.Release())
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	inner.Keep(in.Release)
	if inner.kind != f.kind || inner.machine != f.machine || inner.wide != f.wide || inner.Order != f.Order {
		return nil, errors.Join(corrupt(name, 0, "a file of the same machine and kind"), inner.Close())
	}
	return inner, nil
}
