package archive

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"path"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/upstream"
)

// windowBytes is the largest window a stream may ask for: what zstd --long
// and xz -9 need is within it (128 MiB and 64 MiB), as in the reference tools.
const windowBytes = 128 << 20

func openGzip(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	return single(in, "gzip", func(r io.Reader) (io.Reader, string, func(), error) {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, "", nil, err
		}
		return z, z.Name, func() {}, nil
	})
}

func openZstd(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	return single(in, "zstd", func(r io.Reader) (io.Reader, string, func(), error) {
		z, err := newZstd(r)
		if err != nil {
			return nil, "", nil, err
		}
		return z, "", z.Close, nil
	})
}

func openXz(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	return single(in, "xz", func(r io.Reader) (io.Reader, string, func(), error) {
		z, err := xz.NewReader(r, windowBytes)
		return z, "", func() {}, err
	})
}

// newZstd decodes on the caller's goroutine.
func newZstd(r io.Reader) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(windowBytes))
}

// tooMuch: the stream asks for a window above windowBytes.
func tooMuch(err error) bool {
	return errors.Is(err, zstd.ErrWindowSizeExceeded) || errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, xz.ErrMemlimit)
}

// detectZstd also accepts skippable frames before the first one: pzstd and
// seekable writers begin with them.
func detectZstd(_ string, head []byte) bool {
	for len(head) >= 8 && binary.LittleEndian.Uint32(head)&^0xf == 0x184d2a50 {
		n := 8 + uint64(binary.LittleEndian.Uint32(head[4:]))
		if n > uint64(len(head)) {
			return false
		}
		head = head[n:]
	}
	return len(head) >= 4 && binary.LittleEndian.Uint32(head) == 0xfd2fb528
}

// decoder starts inflating r. name is what the stream calls its content, or "".
type decoder func(r io.Reader) (out io.Reader, name string, done func(), err error)

// single is one compressed object: an archive of one member, which has the
// object's name without the suffix. When that is a tar, it is an archive in turn.
func single(in *formats.Input, form string, open decoder) (*formats.Object, error) {
	members := func(ctx context.Context, emit func(*formats.Input) error) error {
		e := emitter{ctx: ctx, in: in, form: form, emit: emit}
		l := &lazy{ctx: ctx, parent: in, size: -1}
		var inner string
		l.open = func() (io.Reader, func(), error) {
			src := &upstream.Reader{R: reader(in, 0, in.Size)}
			buf := bufio.NewReaderSize(src, 64<<10)
			r, name, done, err := open(buf)
			if err != nil {
				return nil, nil, damage(form, "", consumed(src, buf), src, err)
			}
			inner = name
			return &inflating{r: r, src: src, buf: buf, form: form, size: -1}, done, nil
		}
		l.name = innerName(in.Name, "")
		m, err := l.input()
		if err != nil {
			if !formats.Rejects(err) {
				return err
			}
			return e.put(broken(in, l.name, err))
		}
		if inner != "" {
			l.name = innerName(in.Name, inner)
			m.Name = in.Name + "!" + l.name
		}
		return e.put(m)
	}
	return &formats.Object{Members: members}, nil
}

// innerName is the base name of an object without its compression's suffix.
// An object without one keeps its name, unless the stream knows a better one.
func innerName(outer, inside string) string {
	base := path.Base(outer[strings.LastIndexByte(outer, '!')+1:])
	lower := strings.ToLower(base)
	for _, s := range [...][2]string{
		{".tgz", ".tar"}, {".tzst", ".tar"}, {".txz", ".tar"},
		{".gz", ""}, {".zst", ""}, {".zstd", ""}, {".xz", ""},
	} {
		if strings.HasSuffix(lower, s[0]) && len(base) > len(s[0]) {
			return base[:len(base)-len(s[0])] + s[1]
		}
	}
	if inside != "" {
		return label(path.Base(strings.ReplaceAll(inside, "\\", "/")))
	}
	return base
}
