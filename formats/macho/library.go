package macho

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
)

// library is a static library by the names of its members: a debug map may ask for each of them.
type library struct {
	in      *formats.Input
	members map[string][]libraryMember // at most maxNamesakes a name
	err     error                      // of the members behind those
}

type libraryMember struct{ off, size int64 }

// readLibrary reads the headers of the members. A file of another kind has none.
func readLibrary(in *formats.Input) *library {
	l := &library{in: in, members: map[string][]libraryMember{}}
	l.err = l.read()
	return l
}

func (l *library) read() error {
	const magic, headBytes = "!<arch>\n", 60
	in := l.in
	head, err := in.View(0, min(in.Size, int64(len(magic))))
	if err != nil || string(head) != magic {
		return err
	}
	for n, off := 0, int64(len(magic)); in.Size-off >= headBytes; n++ {
		if n >= in.Limits.Members {
			return &formats.Error{Format: name, Section: "static library", Offset: off, Want: "fewer members", Err: formats.ErrLimit}
		}
		h, err := in.View(off, headBytes)
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(strings.TrimSpace(string(h[48:58])), 10, 64)
		if err != nil || size < 0 || size > in.Size-off-headBytes {
			return &formats.Error{Format: name, Section: "static library", Offset: off, Want: "a member inside the file", Err: formats.ErrCorrupt}
		}
		label, body := strings.TrimRight(string(h[:16]), " /"), off+headBytes
		off = body + size + size&1
		if n, long := strings.CutPrefix(label, "#1/"); long {
			length, err := strconv.ParseInt(n, 10, 64)
			if err != nil || length < 0 || length > size || length > in.Limits.NameBytes {
				return &formats.Error{Format: name, Section: "static library", Offset: body, Want: "a member's name", Err: formats.ErrCorrupt}
			}
			b, err := in.View(body, length)
			if err != nil {
				return err
			}
			label, body, size = string(bytes.TrimRight(b, "\x00")), body+length, size-length
		}
		if all := l.members[label]; len(all) < maxNamesakes {
			l.members[label] = append(all, libraryMember{body, size})
		}
	}
	return nil
}

// each visits the members with that label, until visit returns done.
func (l *library) each(label string, visit func(*formats.Input) (done bool, err error)) error {
	for _, at := range l.members[label] {
		m, err := l.in.Section(l.in.Name+"!"+label, at.off, at.size)
		if err != nil {
			return err
		}
		if done, err := visit(m); done || err != nil {
			return err
		}
	}
	return l.err
}
