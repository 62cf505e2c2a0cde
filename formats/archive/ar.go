package archive

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
)

const (
	arMagic       = "!<arch>\n"
	arThin        = "!<thin>\n"
	arHeaderBytes = 60
)

// arFile is a static library of System V, GNU or BSD style. The symbol index
// is no member.
type arFile struct {
	in    *formats.Input
	shelf shelf
}

func openAr(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	b, err := in.View(0, int64(len(arMagic)))
	if err != nil {
		return nil, err
	}
	if string(b) == arThin {
		return nil, bad("ar", "", 0, "a library that holds its members (this one is thin)", formats.ErrUnsupported)
	}
	a := &arFile{in: in}
	a.shelf = shelf{in: in, form: "ar", scan: a.scan, open: a.open}
	return &formats.Object{Members: a.members}, nil
}

// walk gives each member's place; err is a damage of this member alone.
func (a *arFile) walk(ctx context.Context, each func(p place, err error) error) error {
	var long []byte // GNU's table of long names
	for off := int64(len(arMagic)); off < a.in.Size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if a.in.Size-off < arHeaderBytes {
			if rest, err := a.in.View(off, a.in.Size-off); err != nil || len(bytes.Trim(rest, "\n\x00")) == 0 {
				return err
			}
			return bad("ar", "", off, "a member's header", formats.ErrCorrupt)
		}
		h, err := a.in.View(off, arHeaderBytes)
		if err != nil {
			return err
		}
		size, err := strconv.ParseInt(strings.TrimRight(string(h[48:58]), " "), 10, 63)
		if err != nil || size < 0 || h[58] != '`' || h[59] != '\n' {
			return bad("ar", "", off, "a member's header", formats.ErrCorrupt)
		}
		at := off + arHeaderBytes
		raw := strings.TrimRight(string(h[:16]), " ")
		short := size > a.in.Size-at // the file ends inside the member
		switch {
		case raw == "/" || raw == "/SYM64/" || raw == "/<ECSYMBOLS>/":
		case raw == "//" && !short:
			if size > indexBytes {
				return bad("ar", "//", at, "a smaller table of names", formats.ErrLimit)
			}
			if long, err = a.in.View(at, size); err != nil {
				return err
			}
		default:
			name, skip, err := a.name(raw, long, at, size)
			if err == nil && short {
				err = bad("ar", name, at, "the member's bytes inside the file", formats.ErrCorrupt)
			}
			if err != nil && !formats.Rejects(err) {
				return err
			}
			if strings.HasPrefix(name, "__.SYMDEF") {
				break // BSD's symbol index
			}
			if err := each(place{label(name), at + skip, size - skip}, err); err != nil {
				return err
			}
		}
		if short {
			return bad("ar", "", at, "the member's bytes inside the file", formats.ErrCorrupt)
		}
		off = at + size + size&1
	}
	return nil
}

// name is a member's name, and how many of its first bytes are its name.
func (a *arFile) name(raw string, long []byte, at, size int64) (name string, skip int64, err error) {
	if n, ok := strings.CutPrefix(raw, "#1/"); ok { // BSD: before the data
		skip, err = strconv.ParseInt(n, 10, 63)
		if err != nil || skip < 0 || skip > size || skip > a.in.Limits.NameBytes {
			return raw, 0, bad("ar", raw, at, "a member's name", formats.ErrCorrupt)
		}
		b, err := a.in.View(at, skip)
		if err != nil {
			return raw, 0, err
		}
		return string(bytes.TrimRight(b, "\x00")), skip, nil
	}
	if n, ok := strings.CutPrefix(raw, "/"); ok && n != "" { // GNU: in the table
		off, err := strconv.ParseInt(n, 10, 63)
		if err != nil || off < 0 || off >= int64(len(long)) {
			return raw, 0, bad("ar", raw, at-arHeaderBytes, "a place in the table of names", formats.ErrCorrupt)
		}
		b := long[off:]
		if i := bytes.IndexAny(b, "\n\x00"); i >= 0 {
			b = b[:i]
		}
		if int64(len(b)) > a.in.Limits.NameBytes {
			return raw, 0, bad("ar", raw, at-arHeaderBytes, "a shorter name", formats.ErrLimit)
		}
		return strings.TrimSuffix(string(b), "/"), 0, nil
	}
	return strings.TrimSuffix(raw, "/"), 0, nil
}

func (a *arFile) members(ctx context.Context, emit func(*formats.Input) error) error {
	e := emitter{ctx: ctx, in: a.in, form: "ar", emit: emit}
	return a.walk(ctx, func(p place, err error) error {
		if err != nil {
			return e.put(broken(a.in, p.name, err))
		}
		m, err := a.open(ctx, p)
		if err != nil {
			return err
		}
		return e.put(m)
	})
}

func (a *arFile) open(_ context.Context, p place) (*formats.Input, error) {
	m, err := a.in.Section(a.in.Name+"!"+p.name, p.at, p.size)
	if err != nil {
		return nil, err
	}
	m.Companion = a.shelf.companion(p)
	return m, nil
}

func (a *arFile) scan(ctx context.Context, each func(place) error) error {
	return a.walk(ctx, func(p place, err error) error {
		if err != nil {
			return nil // reported where it is a member
		}
		return each(p)
	})
}
