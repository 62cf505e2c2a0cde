package archive

import (
	"bufio"
	"context"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"
	"sync"

	"github.com/klauspost/compress/flate"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/upstream"
)

// Compression methods of ZIP that we inflate.
const (
	zipStore   = 0
	zipDeflate = 8
	zipZstd    = 93
)

// zipFile reads a ZIP by its central directory, which has the sizes also of
// members written with data descriptors. Only what the directory names exists.
type zipFile struct {
	in *formats.Input
	zipDirectory
	shelf shelf

	mu    sync.Mutex
	spare []*inflater // of members that were released
}

// inflater is what deflating a member takes; they are large enough to keep.
type inflater struct {
	flate io.ReadCloser
	src   upstream.Reader
	buf   *bufio.Reader // deflate asks for single bytes
}

func openZip(ctx context.Context, in *formats.Input) (*formats.Object, error) {
	z := &zipFile{in: in}
	var err error
	if z.zipDirectory, err = findZipDirectory(in); err != nil {
		return nil, err
	}
	z.shelf = shelf{in: in, form: "zip", scan: z.scan, open: z.open}
	return &formats.Object{Members: z.members}, nil
}

func (z *zipFile) members(ctx context.Context, emit func(*formats.Input) error) error {
	e := emitter{ctx: ctx, in: z.in, form: "zip", emit: emit}
	packed := uint64(0)
	return z.each(func(h *zipEntry) error {
		// Entries may lead to the same bytes, so a small archive could ask for endless work.
		if packed += min(h.packed, uint64(z.in.Size)); packed > uint64(z.in.Size) {
			return bad("zip", h.name, h.at, "members that do not lie over each other", formats.ErrCorrupt)
		}
		if strings.HasSuffix(h.name, "/") {
			return nil // a folder
		}
		m, err := z.member(ctx, h)
		if err != nil {
			if !formats.Rejects(err) {
				return err
			}
			m = broken(z.in, h.name, err)
		}
		return e.put(m)
	})
}

func (z *zipFile) scan(ctx context.Context, each func(place) error) error {
	return z.each(func(h *zipEntry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return each(place{name: h.name, at: h.at})
	})
}

func (z *zipFile) open(ctx context.Context, p place) (*formats.Input, error) {
	h, err := z.entry(p.at)
	if err != nil {
		return nil, err
	}
	return z.member(ctx, h)
}

// member makes a member's input from its directory entry.
func (z *zipFile) member(ctx context.Context, h *zipEntry) (*formats.Input, error) {
	lim := z.in.Limits
	switch {
	case h.flags&1 != 0:
		return nil, bad("zip", h.name, h.at, "a member that is not encrypted", formats.ErrUnsupported)
	case h.method != zipStore && h.method != zipDeflate && h.method != zipZstd:
		return nil, bad("zip", h.name, h.at, "stored, deflated or zstd data", formats.ErrUnsupported)
	case h.size > uint64(lim.ObjectBytes), h.packed > uint64(lim.ObjectBytes):
		return nil, bad("zip", h.name, h.at, "a smaller member", formats.ErrLimit)
	case h.method == zipDeflate && h.size/1032 > h.packed:
		// Deflate's longest match costs two bits for 258 bytes.
		return nil, bad("zip", h.name, h.at, "a size that deflate can reach", formats.ErrCorrupt)
	case h.method == zipStore && h.size != h.packed:
		return nil, bad("zip", h.name, h.at, "a stored member of one size", formats.ErrCorrupt)
	}
	off, err := z.data(h)
	if err != nil {
		return nil, err
	}
	if h.method == zipStore {
		return z.stored(ctx, h, off)
	}
	l := &lazy{ctx: ctx, parent: z.in, name: h.name, size: int64(h.size)}
	l.open = func() (io.Reader, func(), error) { return z.inflate(h, off) }
	m, err := l.input()
	if err != nil {
		return nil, err
	}
	m.Companion = z.shelf.companion(place{name: h.name, at: h.at})
	return m, nil
}

// stored is a member as a section of the archive; its checksum is compared
// when a format wants it.
func (z *zipFile) stored(ctx context.Context, h *zipEntry, off int64) (*formats.Input, error) {
	m, err := z.in.Section(z.in.Name+"!"+h.name, off, int64(h.packed))
	if err != nil {
		return nil, err
	}
	m.Companion = z.shelf.companion(place{name: h.name, at: h.at})
	var once sync.Once
	var verdict error
	m.Fetch = func(context.Context) error {
		once.Do(func() {
			sum := crc32.NewIEEE()
			if m.Mapped != nil {
				sum.Write(m.Mapped)
			} else if _, verdict = io.Copy(sum, reader(z.in, off, int64(h.packed))); verdict != nil {
				return
			}
			if sum.Sum32() != h.crc {
				verdict = bad("zip", h.name, off, "bytes with the checksum of the directory", formats.ErrCorrupt)
			}
		})
		return verdict
	}
	return m, nil
}

// data returns the offset of a member's bytes: behind its local header. The name
// and extra fields there may be longer or shorter than the directory's.
func (z *zipFile) data(h *zipEntry) (int64, error) {
	at := z.base + int64(h.local)
	b, err := z.in.View(at, 30)
	if err != nil {
		return 0, err
	}
	if binary.LittleEndian.Uint32(b) != 0x04034b50 {
		return 0, bad("zip", h.name, at, "a local file header", formats.ErrCorrupt)
	}
	at += 30 + int64(binary.LittleEndian.Uint16(b[26:])) + int64(binary.LittleEndian.Uint16(b[28:]))
	if at > z.in.Size || int64(h.packed) > z.in.Size-at {
		return 0, bad("zip", h.name, at, "the member's bytes inside the file", formats.ErrCorrupt)
	}
	return at, nil
}

// inflate starts a member's decompressor.
func (z *zipFile) inflate(h *zipEntry, off int64) (io.Reader, func(), error) {
	d := &inflating{form: "zip", section: h.name, off: off, size: int64(h.size), sum: h.crc}
	raw := reader(z.in, off, int64(h.packed))
	if h.method == zipZstd {
		d.src = &upstream.Reader{R: raw}
		dec, err := newZstd(d.src)
		if err != nil {
			return nil, nil, damage("zip", h.name, off, d.src, err)
		}
		d.r = dec
		return d, dec.Close, nil
	}
	f := z.take()
	f.src = upstream.Reader{R: raw}
	f.buf.Reset(&f.src)
	if f.flate == nil {
		f.flate = flate.NewReader(f.buf)
	} else if err := f.flate.(flate.Resetter).Reset(f.buf, nil); err != nil {
		return nil, nil, err
	}
	d.r, d.src, d.buf = f.flate, &f.src, f.buf
	return d, func() { z.put(f) }, nil
}

func (z *zipFile) take() *inflater {
	z.mu.Lock()
	defer z.mu.Unlock()
	if n := len(z.spare); n > 0 {
		f := z.spare[n-1]
		z.spare = z.spare[:n-1]
		return f
	}
	return &inflater{buf: bufio.NewReaderSize(nil, 16<<10)}
}

func (z *zipFile) put(f *inflater) {
	z.mu.Lock()
	defer z.mu.Unlock()
	f.src.R = nil
	z.spare = append(z.spare, f)
}
