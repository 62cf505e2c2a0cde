package archive

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/upstream"
)

// detectTar wants the magic of POSIX and GNU archives: older ones have none.
func detectTar(_ string, head []byte) bool {
	return len(head) >= 512 && string(head[257:262]) == "ustar"
}

// tarFile walks a tar's headers; a member is a section of it. Links and
// devices are no members: what a link leads to is one itself.
type tarFile struct {
	in    *formats.Input
	shelf shelf
}

func openTar(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	t := &tarFile{in: in}
	t.shelf = shelf{in: in, form: "tar", scan: t.scan, open: t.open}
	return &formats.Object{Members: t.members}, nil
}

// tarReader is a walk at one member: its data, and where the data comes from.
type tarReader struct {
	*tar.Reader
	src *upstream.Reader
}

// walk gives each regular member with the offset of its data. r reads the
// data of a member with holes, which is no section.
func (t *tarFile) walk(ctx context.Context, each func(p place, r tarReader) error) error {
	src := &seekSource{upstream.Reader{R: reader(t.in, 0, t.in.Size)}}
	r := tar.NewReader(src)
	for {
		h, err := r.Next()
		at, serr := src.Seek(0, io.SeekCurrent)
		switch {
		case errors.Is(err, tar.ErrInsecurePath): // a name is a label
		case err == io.EOF:
			return nil
		case err != nil && src.Err != nil:
			return src.Err
		case err != nil:
			return bad("tar", "", at, "a member's header ("+err.Error()+")", formats.ErrCorrupt)
		case serr != nil:
			return serr
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeReg, '\x00', tar.TypeCont, tar.TypeGNUSparse:
		default:
			continue
		}
		if strings.HasSuffix(h.Name, "/") {
			continue
		}
		p := place{label(h.Name), at, h.Size}
		if sparse(h) {
			p.size = holes
		}
		if err := each(p, tarReader{r, &src.Reader}); err != nil {
			return err
		}
	}
}

func (t *tarFile) members(ctx context.Context, emit func(*formats.Input) error) error {
	e := emitter{ctx: ctx, in: t.in, form: "tar", emit: emit}
	return t.walk(ctx, func(p place, r tarReader) error {
		m, err := t.member(ctx, p, r)
		if err != nil {
			if !formats.Rejects(err) {
				return err
			}
			m = broken(t.in, p.name, err)
		}
		return e.put(m)
	})
}

// holes is the size of the place of a member with holes: its bytes are not in
// the archive as they are, and r has them.
const holes = -1

func (t *tarFile) member(ctx context.Context, p place, r tarReader) (*formats.Input, error) {
	switch {
	case p.size > t.in.Limits.ObjectBytes:
		return nil, bad("tar", p.name, p.at, "a smaller member", formats.ErrLimit)
	case int64(len(p.name)) > t.in.Limits.NameBytes:
		return nil, bad("tar", "member name", p.at, "a shorter name", formats.ErrLimit)
	}
	var m *formats.Input
	var err error
	if p.size == holes {
		l := &lazy{ctx: ctx, parent: t.in, name: p.name, size: -1}
		l.open = func() (io.Reader, func(), error) {
			return &inflating{r: r, src: r.src, form: "tar", section: p.name, off: p.at, size: -1}, func() {}, nil
		}
		m, err = l.input()
	} else {
		m, err = t.in.Section(t.in.Name+"!"+p.name, p.at, p.size)
	}
	if err != nil {
		return nil, err
	}
	m.Companion = t.shelf.companion(p)
	return m, nil
}

func (t *tarFile) scan(ctx context.Context, each func(place) error) error {
	return t.walk(ctx, func(p place, _ tarReader) error { return each(p) })
}

func (t *tarFile) open(ctx context.Context, p place) (*formats.Input, error) {
	if p.size != holes {
		return t.member(ctx, p, tarReader{})
	}
	found := errors.New("found") // ends the walk
	var m *formats.Input
	err := t.walk(ctx, func(q place, r tarReader) (err error) {
		if q.at != p.at {
			return nil
		}
		if m, err = t.member(ctx, p, r); err != nil {
			return err
		}
		return found
	})
	if err != found {
		return nil, errors.Join(err, formats.ErrNoCompanion)
	}
	return m, nil
}

// sparse: the member's bytes are not in the archive as they are.
func sparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for k := range h.PAXRecords {
		if strings.HasPrefix(k, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// seekSource is an upstream reader that can skip.
type seekSource struct{ upstream.Reader }

func (s *seekSource) Seek(off int64, whence int) (int64, error) {
	return s.R.(io.Seeker).Seek(off, whence)
}
