// Package msf reads the container of PDB files: MSF 7, a file of blocks that form numbered streams.
//
// Invariants:
//   - a stream costs no memory until it is read; where its blocks follow each other, it is a view of the file;
//   - all streams together have at most as many blocks as the file, so that a small directory cannot name endless bytes;
//   - a stream with a damaged list of blocks fails when it is read, and does not harm the others.
package msf

import (
	"bytes"
	"encoding/binary"

	"github.com/symlake/symlake/formats"
)

const (
	magic    = "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"
	magicOld = "Microsoft C/C++ program database 2.00\r\n\x1aJG"
	magicZip = "Microsoft MSFZ Container\r\n\x1aALD"
	headSize = len(magic) + 6*4
	mapAt    = headSize - 4 // the numbers of the blocks with the directory's list of blocks begin here
	absent   = 0xffffffff   // the size of a stream that was deleted

	minBlock, maxBlock = 512, 64 << 10
)

// Known reports whether a file begins as an MSF container does, of this version, an older one, or a compressed one.
func Known(head []byte) bool {
	return bytes.HasPrefix(head, []byte(magic)) || bytes.HasPrefix(head, []byte(magicOld)) || bytes.HasPrefix(head, []byte(magicZip))
}

// File is an opened container. It is safe for concurrent use.
type File struct {
	in      *formats.Input
	format  string
	block   int64
	blocks  int64 // of the file, the last one maybe cut
	streams []stream
	lists   []byte // the directory's lists of blocks, 4 bytes a block
}

// stream is the size of a stream, and where its list of blocks begins.
type stream struct {
	size   uint32
	list   uint32 // in bytes
	broken bool
}

// Open reads the superblock and the directory. format stands in errors.
func Open(in *formats.Input, format string) (*File, error) {
	f := &File{in: in, format: format}
	head, err := in.View(0, min(in.Size, minBlock))
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(head, []byte(magicOld)) {
		return nil, &formats.Error{Format: format, Want: "a PDB of Visual C++ 7 or later: this one is of an older linker; link again, or convert the symbols to Breakpad's with the tools of that time", Err: formats.ErrUnsupported}
	}
	if bytes.HasPrefix(head, []byte(magicZip)) {
		return nil, &formats.Error{Format: format, Want: "a PDB that is not compressed: take it out of its MSFZ container with pdztool, or link without compression", Err: formats.ErrUnsupported}
	}
	if len(head) < headSize || !bytes.HasPrefix(head, []byte(magic)) {
		return nil, f.corrupt("superblock", 0, "an MSF 7 container")
	}
	u32 := func(at int) int64 { return int64(binary.LittleEndian.Uint32(head[len(magic)+at:])) }
	f.block = u32(0)
	if f.block < minBlock || f.block > maxBlock || f.block&(f.block-1) != 0 {
		return nil, f.corrupt("superblock", int64(len(magic)), "blocks of 512 bytes to 64 KiB")
	}
	f.blocks = (in.Size + f.block - 1) / f.block
	return f, f.readDirectory(u32(12))
}

// readDirectory reads the directory, which has size bytes. Blocks that the superblock numbers
// list its blocks.
func (f *File) readDirectory(size int64) error {
	const section = "directory"
	blocks := (size + f.block - 1) / f.block
	if size < 4 || blocks > f.blocks {
		return f.corrupt("superblock", int64(len(magic)+12), "a directory inside the file")
	}
	maps := (blocks*4 + f.block - 1) / f.block
	if int64(mapAt)+maps*4 > f.block {
		return f.corrupt("superblock", int64(len(magic)+12), "a directory that one block can list")
	}
	list, err := f.in.View(int64(mapAt), maps*4)
	if err != nil {
		return err
	}
	if list, err = f.assemble(section, list, 0, blocks*4, nil); err != nil {
		return err
	}
	dir, err := f.assemble(section, list, 0, size, nil)
	if err != nil {
		return err
	}

	n := int64(binary.LittleEndian.Uint32(dir))
	if n > (size-4)/4 {
		return f.corrupt(section, 0, "as many streams as it has room for")
	}
	f.streams = make([]stream, n)
	f.lists = dir[4+4*n:]
	at, total := int64(0), int64(0)
	for i := range f.streams {
		s := &f.streams[i]
		s.size = binary.LittleEndian.Uint32(dir[4+4*i:])
		if s.size == absent {
			s.size = 0
		}
		need := (int64(s.size) + f.block - 1) / f.block
		if i > 0 { // the first one is the directory before the last change: its blocks may serve others
			total += need
		}
		if at+need*4 > int64(len(f.lists)) || total > f.blocks {
			s.broken = true
			at = int64(len(f.lists))
			continue
		}
		s.list = uint32(at)
		at += need * 4
	}
	return nil
}

// Streams returns the number of streams.
func (f *File) Streams() int { return len(f.streams) }

// Stream returns a stream. A number without a stream gives an empty one.
func (f *File) Stream(name string, n int) (Stream, error) {
	if n < 0 || n >= len(f.streams) {
		return Stream{f: f, name: name}, nil
	}
	s := &f.streams[n]
	if s.broken {
		return Stream{}, f.corrupt("directory", int64(4+4*n), "a list of blocks for stream "+name)
	}
	blocks := (int64(s.size) + f.block - 1) / f.block * 4
	return Stream{f: f, name: name, Size: int64(s.size), list: f.lists[s.list : int64(s.list)+blocks]}, nil
}

// Stream is the contents of a stream. The zero value is empty.
type Stream struct {
	Size int64
	f    *File
	name string
	list []byte
}

// At returns n bytes of the stream at off. They are a view of the file where they lie together in memory, else they
// stand in room, which grows as needed, or in memory of their own if room is nil. The error names the stream.
func (s *Stream) At(off, n int64, room *[]byte) ([]byte, error) {
	if off < 0 || n < 0 || off > s.Size || n > s.Size-off {
		return nil, s.Corrupt(off, "more bytes than there are")
	}
	if n == 0 {
		return nil, nil
	}
	return s.f.assemble(s.name, s.list, off, n, room)
}

// All returns all bytes of the stream, as At does.
func (s *Stream) All(room *[]byte) ([]byte, error) { return s.At(0, s.Size, room) }

// Lasting reports whether the n bytes at off are a view of memory that stays as long as the input.
func (s *Stream) Lasting(off, n int64) bool {
	if s.f == nil || s.f.in.Mapped == nil || n <= 0 {
		return false
	}
	first, last := off/s.f.block, (off+n-1)/s.f.block
	return run(s.list, first, last) == last-first+1
}

// Corrupt returns an error that rejects the object: at off of the stream it does not have what want says.
func (s *Stream) Corrupt(off int64, want string) error {
	if s.f == nil {
		return &formats.Error{Section: s.name, Offset: off, Want: want, Err: formats.ErrCorrupt}
	}
	return s.f.corrupt(s.name, off, want)
}

// run counts the blocks from first to last that follow each other in the file.
func run(list []byte, first, last int64) int64 {
	start := binary.LittleEndian.Uint32(list[first*4:])
	n := int64(1)
	for ; first+n <= last && binary.LittleEndian.Uint32(list[(first+n)*4:]) == start+uint32(n); n++ {
	}
	return n
}

// assemble returns n bytes at off of the blocks in list, which has room for them.
func (f *File) assemble(section string, list []byte, off, n int64, room *[]byte) ([]byte, error) {
	first, last := off/f.block, (off+n-1)/f.block
	var out []byte
	for at := first; at <= last; {
		count := run(list, at, last)
		from := int64(binary.LittleEndian.Uint32(list[at*4:])) * f.block
		size := count * f.block
		if at == first {
			from += off % f.block
			size -= off % f.block
		}
		size = min(size, n-int64(len(out)))
		if from > f.in.Size || size > f.in.Size-from {
			return nil, f.corrupt(section, at*f.block, "a block inside the file")
		}
		if size == n && f.in.Mapped != nil {
			return f.in.Mapped[from : from+n : from+n], nil
		}
		if out == nil {
			if room == nil {
				room = new([]byte)
			}
			if int64(cap(*room)) < n {
				*room = make([]byte, n)
			}
			out = (*room)[:0]
		}
		have := len(out)
		out = out[:have+int(size)]
		if got, err := f.in.Bytes.ReadAt(out[have:], from); got < int(size) {
			return nil, f.readError(section, at*f.block+int64(got), err)
		}
		at += count
	}
	return out, nil
}
