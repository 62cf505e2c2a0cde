package archive

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/upstream"
)

// Numbers of cabinets, in which symbol stores keep files: name.pd_ holds name.pdb.
const (
	cabMagic      = "MSCF"
	cabHeader     = 36
	cabPrevious   = 1
	cabNext       = 2
	cabReserves   = 4
	cabStored     = 0
	cabMSZIP      = 1
	cabBlock      = 32 << 10 // bytes of a block after inflating
	cabNameBytes  = 256
	cabBlockBytes = 8 // before a block
)

// cabinet is what the headers of a cabinet of one file say.
type cabinet struct {
	name    string
	size    int64
	method  uint16
	data    int64 // where the blocks begin
	blocks  int
	reserve int64 // bytes in front of each block
}

// openCab opens a cabinet of one file. Others are refused with the command that unpacks them.
func openCab(_ context.Context, in *formats.Input) (*formats.Object, error) {
	c, err := readCab(in)
	if err != nil {
		return nil, err
	}
	members := func(ctx context.Context, emit func(*formats.Input) error) error {
		e := emitter{ctx: ctx, in: in, form: "cabinet", emit: emit}
		l := &lazy{ctx: ctx, parent: in, size: c.size, name: c.name}
		l.open = func() (io.Reader, func(), error) {
			src := &upstream.Reader{R: reader(in, c.data, in.Size-c.data)}
			blocks := &cabReader{src: bufio.NewReaderSize(src, 64<<10), c: c}
			return &inflating{r: io.LimitReader(blocks, c.size), src: src, buf: blocks.src, form: "cabinet", section: c.name, off: c.data, size: -1}, func() {}, nil
		}
		m, err := l.input()
		if err != nil {
			return err
		}
		return e.put(m)
	}
	return &formats.Object{Members: members}, nil
}

// readCab reads the headers.
func readCab(in *formats.Input) (*cabinet, error) {
	head, err := in.View(0, min(in.Size, 4<<10))
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	short := bad("cabinet", "header", int64(len(head)), "whole headers", formats.ErrCorrupt)
	if len(head) < cabHeader {
		return nil, short
	}
	files, folders, count, flags := int64(le.Uint32(head[16:])), le.Uint16(head[26:]), le.Uint16(head[28:]), le.Uint16(head[30:])
	if folders != 1 || count != 1 || flags&(cabPrevious|cabNext) != 0 {
		return nil, unread(26, fmt.Sprintf("one file, not %d", count))
	}
	at, folder, block := int64(cabHeader), int64(0), int64(0)
	if flags&cabReserves != 0 {
		if len(head) < cabHeader+4 {
			return nil, short
		}
		at += 4 + int64(le.Uint16(head[36:]))
		folder, block = int64(head[38]), int64(head[39])
	}
	if at+8+folder > int64(len(head)) {
		return nil, short
	}
	c := &cabinet{data: int64(le.Uint32(head[at:])), blocks: int(le.Uint16(head[at+4:])), method: le.Uint16(head[at+6:]) & 15, reserve: block}
	if c.method != cabStored && c.method != cabMSZIP {
		return nil, unread(at+6, fmt.Sprintf("blocks of MSZIP, not of method %d", c.method))
	}
	var entry []byte
	if files < in.Size {
		if entry, err = in.View(files, min(16+cabNameBytes, in.Size-files)); err != nil {
			return nil, err
		}
	}
	end := -1
	if len(entry) > 16 {
		end = bytes.IndexByte(entry[16:], 0)
	}
	if end < 0 || c.data > in.Size {
		return nil, bad("cabinet", "header", files, "a file's entry", formats.ErrCorrupt)
	}
	c.size, c.name = int64(le.Uint32(entry)), label(formats.Base(string(entry[16:16+end])))
	if le.Uint32(entry[4:]) != 0 || c.size > int64(c.blocks)*cabBlock {
		return nil, bad("cabinet", "header", files, fmt.Sprintf("a file that %d blocks hold", c.blocks), formats.ErrCorrupt)
	}
	return c, nil
}

// unread refuses a cabinet that is sound.
func unread(at int64, want string) error {
	return bad("cabinet", "header", at, want+": unpack it with Windows' expand, or with cabextract, and ingest the file", formats.ErrUnsupported)
}

// cabReader reads the blocks of a cabinet.
type cabReader struct {
	src     *bufio.Reader
	c       *cabinet
	done    int
	left    []byte // of the last block
	last    []byte // the last block, on which the next one builds
	inflate io.ReadCloser
	err     error
}

func (r *cabReader) Read(p []byte) (int, error) {
	for len(r.left) == 0 {
		if r.err == nil {
			r.err = r.next()
		}
		if r.err != nil {
			return 0, r.err
		}
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// next reads a block.
func (r *cabReader) next() error {
	if r.done == r.c.blocks {
		return io.EOF
	}
	r.done++
	head := make([]byte, cabBlockBytes+r.c.reserve)
	if _, err := io.ReadFull(r.src, head); err != nil {
		return errors.Join(errors.New("a block's header"), err)
	}
	sum, packed, size := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint16(head[4:]), binary.LittleEndian.Uint16(head[6:])
	if size > cabBlock {
		return fmt.Errorf("a block of %d bytes", size)
	}
	data := make([]byte, packed)
	if _, err := io.ReadFull(r.src, data); err != nil {
		return errors.Join(errors.New("a block"), err)
	}
	if sum != 0 && sum != cabSum(head[4:], cabSum(data, 0)) {
		return errors.New("a block without its checksum")
	}
	if r.c.method == cabStored {
		r.left = data
		return nil
	}
	rest, ok := bytes.CutPrefix(data, []byte("CK"))
	if !ok {
		return errors.New("a block without its mark")
	}
	in := bytes.NewReader(rest)
	if r.inflate == nil {
		r.inflate = flate.NewReader(in)
	} else if err := r.inflate.(flate.Resetter).Reset(in, r.last); err != nil {
		return err
	}
	out := make([]byte, size)
	if _, err := io.ReadFull(r.inflate, out); err != nil {
		return errors.Join(errors.New("a block that inflates"), err)
	}
	r.left, r.last = out, out
	return nil
}

// cabSum is the checksum of blocks.
func cabSum(b []byte, sum uint32) uint32 {
	for ; len(b) >= 4; b = b[4:] {
		sum ^= binary.LittleEndian.Uint32(b)
	}
	last := uint32(0)
	for _, c := range b {
		last = last<<8 | uint32(c)
	}
	return sum ^ last
}
