package elffile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/internal/native"
)

func TestHostileSizes(t *testing.T) {
	in := formattest.Input(t, formattest.Fixture(t, "elf/otel/inline-big-fake-compressed-dwarf"))
	f, err := Open(in)
	if err != nil {
		t.Fatal(err)
	}
	rejected := 0
	for i := range f.headers {
		h := &f.headers[i]
		if h.flags&shfCompressed == 0 {
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := f.Section(h.name)
		runtime.ReadMemStats(&after)
		t.Logf("%s: %v", h.name, err)
		var fault *formats.Error
		if err != nil && !errors.As(err, &fault) {
			t.Errorf("%s: %v", h.name, err)
		}
		if err != nil {
			rejected++
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 1<<20 {
			t.Errorf("%s: %d bytes allocated", h.name, spent)
		}
	}
	if rejected == 0 {
		t.Error("nothing was rejected")
	}
}

// build makes a minimal 64-bit little-endian file with one section.
func build(name string, flags uint64, contents []byte) []byte {
	var b bytes.Buffer
	names := "\x00.shstrtab\x00" + name + "\x00"
	head := make([]byte, 64)
	copy(head, "\x7fELF\x02\x01\x01")
	le := binary.LittleEndian
	le.PutUint16(head[16:], 3)
	le.PutUint16(head[18:], machAMD64)
	le.PutUint64(head[40:], uint64(64+len(names)+len(contents)))
	le.PutUint16(head[52:], 64)
	le.PutUint16(head[58:], 64)
	le.PutUint16(head[60:], 3)
	le.PutUint16(head[62:], 1)
	b.Write(head)
	b.WriteString(names)
	b.Write(contents)
	b.Write(make([]byte, 64))
	section := func(nameOff, kind uint32, flags, off, size uint64) {
		h := make([]byte, 64)
		le.PutUint32(h, nameOff)
		le.PutUint32(h[4:], kind)
		le.PutUint64(h[8:], flags)
		le.PutUint64(h[24:], off)
		le.PutUint64(h[32:], size)
		b.Write(h)
	}
	section(1, 3, 0, 64, uint64(len(names)))
	section(11, 1, flags, uint64(64+len(names)), uint64(len(contents)))
	return b.Bytes()
}

func deflate(b []byte) []byte {
	var out bytes.Buffer
	z := zlib.NewWriter(&out)
	z.Write(b)
	z.Close()
	return out.Bytes()
}

func compressionHeader(kind uint32, size uint64) []byte {
	h := make([]byte, 24)
	binary.LittleEndian.PutUint32(h, kind)
	binary.LittleEndian.PutUint64(h[8:], size)
	return h
}

func TestInflateChecks(t *testing.T) {
	plain := bytes.Repeat([]byte("symbols and lines "), 1000)
	packed := deflate(plain)
	broken := slices.Clone(packed)
	broken[len(broken)-1] ^= 1 // the checksum
	for _, c := range []struct {
		name     string
		contents []byte
		lim      formats.Limits
		want     error
	}{
		{"sound", append(compressionHeader(1, uint64(len(plain))), packed...), formats.Limits{}, nil},
		{"too short", append(compressionHeader(1, uint64(len(plain)+1)), packed...), formats.Limits{}, formats.ErrCorrupt},
		{"too long", append(compressionHeader(1, uint64(len(plain)-1)), packed...), formats.Limits{}, formats.ErrCorrupt},
		{"checksum", append(compressionHeader(1, uint64(len(plain))), broken...), formats.Limits{}, formats.ErrCorrupt},
		{"cut", append(compressionHeader(1, uint64(len(plain))), packed[:len(packed)/2]...), formats.Limits{}, formats.ErrCorrupt},
		{"codec", append(compressionHeader(7, uint64(len(plain))), packed...), formats.Limits{}, formats.ErrUnsupported},
		{"limit", append(compressionHeader(1, uint64(len(plain))), packed...), formats.Limits{SectionBytes: int64(len(plain)) - 1}, formats.ErrLimit},
		{"implausible", append(compressionHeader(1, 1<<31), packed...), formats.Limits{}, formats.ErrCorrupt},
		{"implausible though small", append(compressionHeader(1, 2<<20), packed...), formats.Limits{}, formats.ErrCorrupt},
		{"absurd", append(compressionHeader(1, 1<<63), packed...), formats.Limits{}, formats.ErrLimit},
		{"header cut", compressionHeader(1, 1)[:10], formats.Limits{}, formats.ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, unmapped := range []bool{false, true} {
				in := formattest.InputOf("x", build(".debug_info", shfCompressed, c.contents), c.lim)
				if unmapped {
					in = formattest.Unmapped(in)
				}
				f, err := Open(in)
				if err != nil {
					t.Fatal(err)
				}
				s, err := f.Section(".debug_info")
				if !errors.Is(err, c.want) {
					t.Fatalf("%v, want %v", err, c.want)
				}
				if c.want != nil {
					var fault *formats.Error
					if !errors.As(err, &fault) || fault.Section != ".debug_info" {
						t.Fatalf("%v names no section", err)
					}
					continue
				}
				if b, err := s.Bytes(); err != nil || !bytes.Equal(b, plain) {
					t.Fatalf("%v, %d bytes", err, len(b))
				}
			}
		})
	}
}

func TestZdebug(t *testing.T) {
	plain := bytes.Repeat([]byte("symbols and lines "), 1000)
	old := binary.BigEndian.AppendUint64([]byte("ZLIB"), uint64(len(plain)))
	f, err := Open(formattest.InputOf("x", build(".zdebug_line", 0, append(old, deflate(plain)...)), formats.Limits{}))
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Section(".debug_line")
	if err != nil || s == nil {
		t.Fatalf("%v %v", s, err)
	}
	if b, err := s.Bytes(); err != nil || !bytes.Equal(b, plain) {
		t.Fatalf("%v, %d bytes", err, len(b))
	}
}

// TestOnce: for any number of callers, a section is inflated once, and a large one
// goes through the spool and is released.
func TestOnce(t *testing.T) {
	plain := make([]byte, native.MemoryBytes+1)
	for i := range plain {
		plain[i] = byte(i >> 10)
	}
	in := formattest.InputOf("x", build(".debug_info", shfCompressed, append(compressionHeader(1, uint64(len(plain))), deflate(plain)...)), formats.Limits{})
	spools, releases := 0, 0
	keep := in.Spool
	in.Spool = func(name string, size int64, r io.Reader) (*formats.Input, error) {
		spools++
		s, err := keep(name, size, r)
		if err == nil {
			s.Release = func() error { releases++; return nil }
		}
		return s, err
	}
	f, err := Open(in)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := f.Section(".debug_info")
			if err != nil || s.Size != uint64(len(plain)) {
				t.Errorf("%v", err)
			}
		})
	}
	wg.Wait()
	if err := f.Close(); err != nil || spools != 1 || releases != 1 {
		t.Fatalf("%v, %d spools, %d releases", err, spools, releases)
	}
}

// TestReadErrors: a file that cannot be read is not a bad object.
func TestReadErrors(t *testing.T) {
	plain := bytes.Repeat([]byte("symbols"), 10000)
	in := formattest.Unmapped(formattest.InputOf("x", build(".debug_info", shfCompressed, append(compressionHeader(1, uint64(len(plain))), deflate(plain)...)), formats.Limits{}))
	f, err := Open(in)
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("connection lost")
	f.In.Bytes = failing{gone}
	if _, err := f.Section(".debug_info"); !errors.Is(err, gone) || formats.Rejects(err) {
		t.Fatalf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }
