package msf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// container is an MSF file that is written by hand: blocks with fixed contents, and a directory.
type container struct {
	block int
	file  []byte
}

func newContainer(block int) *container { return &container{block, make([]byte, 3*block)} }

// put appends contents in blocks of their own, and returns the numbers of the blocks.
func (c *container) put(b []byte) (list []uint32) {
	for ; len(b) > 0; b = b[min(len(b), c.block):] {
		list = append(list, uint32(len(c.file)/c.block))
		c.file = append(c.file, b[:min(len(b), c.block)]...)
		c.file = append(c.file, make([]byte, (c.block-len(c.file)%c.block)%c.block)...)
	}
	return list
}

func numbers(list ...uint32) (b []byte) {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// finish writes the directory and the superblock.
func (c *container) finish(sizes []uint32, lists ...[]uint32) []byte {
	dir := numbers(append([]uint32{uint32(len(sizes))}, sizes...)...)
	for _, list := range lists {
		dir = append(dir, numbers(list...)...)
	}
	where := c.put(numbers(c.put(dir)...))
	head := append([]byte(magic), numbers(append([]uint32{uint32(c.block), 1, uint32(len(c.file) / c.block), uint32(len(dir)), 0}, where...)...)...)
	copy(c.file, head)
	return c.file
}

func open(t testing.TB, b []byte, unmapped bool) (*File, error) {
	t.Helper()
	in := formattest.InputOf("a.pdb", b, formats.Limits{})
	if unmapped {
		in = formattest.Unmapped(in)
	}
	return Open(in, "pdb")
}

// Streams are views where their blocks lie together, and copies where not; both say the same, for each size of block.
func TestStreams(t *testing.T) {
	for _, block := range []int{512, 4096, 8192, 32768, 65536} {
		c := newContainer(block)
		together := bytes.Repeat([]byte("0123456789abcde"), block/5)
		whole := c.put(together)
		apart := make([]uint32, len(whole))
		for i := range whole { // the same blocks, in the reverse order
			apart[i] = whole[len(whole)-1-i]
		}
		var reversed []byte
		for _, n := range apart {
			reversed = append(reversed, c.file[int(n)*block:(int(n)+1)*block]...)
		}
		size := uint32(len(together))
		file := c.finish([]uint32{absent, size, size, 0, absent}, whole, apart)
		for _, unmapped := range []bool{false, true} {
			f, err := open(t, file, unmapped)
			if err != nil {
				t.Fatal(err)
			}
			if f.Streams() != 5 {
				t.Fatalf("%d streams", f.Streams())
			}
			for n, want := range [][]byte{{}, together, reversed[:size], {}, {}, {}} {
				s, err := f.Stream("x", n)
				if err != nil {
					if n == 2 {
						continue // more blocks than the file has
					}
					t.Fatal(err)
				}
				got, err := s.All(nil)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("block %d, stream %d: %d bytes, %v; want %d", block, n, len(got), err, len(want))
				}
				var room []byte
				for off := int64(0); off+7 <= s.Size; off += int64(block/3 + 1) {
					got, err := s.At(off, 7, &room)
					if err != nil || !bytes.Equal(got, want[off:off+7]) {
						t.Errorf("block %d, stream %d+%d: %q, %v", block, n, off, got, err)
					}
				}
				if s.Lasting(0, s.Size) != (n == 1 && !unmapped) {
					t.Errorf("block %d, stream %d lasts: %v", block, n, s.Lasting(0, s.Size))
				}
			}
		}
	}
}

// Damage costs the stream, or the file where nothing can be read without it. Nothing allocates what a number says.
func TestHostile(t *testing.T) {
	sound := func() *container { return newContainer(512) }
	for _, c := range []struct {
		name  string
		file  func() []byte
		open  string // what the error of Open says
		read  string // what the error of stream 1 says
		older error
	}{
		{name: "no superblock", file: func() []byte { return []byte(magic) }, open: "MSF 7"},
		{name: "MSF 2", file: func() []byte { return []byte(magicOld + strings.Repeat("\x00", 600)) }, open: "older linker", older: formats.ErrUnsupported},
		{name: "MSFZ", file: func() []byte { return []byte(magicZip + strings.Repeat("\x00", 600)) }, open: "not compressed", older: formats.ErrUnsupported},
		{name: "blocks of 3 bytes", file: func() []byte { b := sound().finish(nil); b[32] = 3; return b }, open: "blocks of"},
		{name: "a directory of 4 GiB", file: func() []byte { b := sound().finish(nil); copy(b[44:], numbers(^uint32(0))); return b }, open: "inside the file"},
		{name: "a directory beyond the file", file: func() []byte { b := sound().finish(nil); copy(b[52:], numbers(1<<31)); return b }, open: "inside the file"},
		{name: "more streams than bytes", file: func() []byte { b := sound().finish([]uint32{0}); copy(b[3*512:], numbers(1<<30)); return b }, open: "as many streams"},
		{name: "a stream of 4 GiB", file: func() []byte { return sound().finish([]uint32{0, 0xfffffffe}) }, read: "list of blocks"},
		{name: "a block beyond the file", file: func() []byte { return sound().finish([]uint32{0, 512}, []uint32{1 << 31}) }, read: "inside the file"},
		{name: "one block for all", file: func() []byte {
			return sound().finish([]uint32{0, 512 * 64}, make([]uint32, 64))
		}, read: "list of blocks"},
		{name: "a directory that lists itself", file: func() []byte {
			b := sound().finish([]uint32{0, 512}, []uint32{3})
			return b
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := open(t, c.file(), false)
			if c.open != "" {
				if want := c.older; err == nil || !strings.Contains(err.Error(), c.open) || !formats.Rejects(err) || want != nil && !errors.Is(err, want) {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			s, err := f.Stream("x", 1)
			if err == nil {
				_, err = s.All(nil)
			}
			if c.read == "" && err != nil || c.read != "" && (err == nil || !strings.Contains(err.Error(), c.read)) {
				t.Fatalf("error %v, want %q", err, c.read)
			}
		})
	}
}

// A directory so large that its list of blocks does not fit into one block.
func TestLargeDirectory(t *testing.T) {
	c := newContainer(512)
	sizes := make([]uint32, 20_000)
	list := c.put([]byte("contents"))
	sizes[19_999] = 8
	f, err := open(t, c.finish(sizes, list), false)
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Stream("x", 19_999)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := s.All(nil); err != nil || string(b) != "contents" {
		t.Errorf("%q, %v", b, err)
	}
}

func FuzzMSF(f *testing.F) {
	c := newContainer(512)
	f.Add(c.finish([]uint32{0, 700, 4}, c.put(make([]byte, 700)), c.put([]byte("abcd"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append([]byte(nil), data...)
		copy(data, magic)
		a, errA := open(t, data, false)
		b, errB := open(t, data, true)
		if (errA == nil) != (errB == nil) || errA != nil && !formats.Rejects(errA) {
			t.Fatalf("mapped %v, unmapped %v", errA, errB)
		}
		if errA != nil {
			return
		}
		total := 0
		for n := range min(a.Streams(), 1000) {
			x, errX := a.Stream("x", n)
			y, errY := b.Stream("x", n)
			if (errX == nil) != (errY == nil) {
				t.Fatalf("stream %d: mapped %v, unmapped %v", n, errX, errY)
			}
			if errX != nil {
				continue
			}
			one, errX := x.All(nil)
			two, errY := y.All(nil)
			if (errX == nil) != (errY == nil) || !bytes.Equal(one, two) {
				t.Fatalf("stream %d: %d bytes and %v, %d bytes and %v", n, len(one), errX, len(two), errY)
			}
			if n > 0 {
				total += len(one)
			}
		}
		if total > len(data)+64<<10 {
			t.Fatalf("%d bytes of streams in a file of %d", total, len(data))
		}
	})
}
