package archive_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// flipAt returns b with the byte n behind the first occurrence of mark changed.
func flipAt(t *testing.T, b []byte, mark string, n int) []byte {
	t.Helper()
	i := bytes.Index(b, []byte(mark))
	if i < 0 {
		t.Fatalf("no %q", mark)
	}
	out := bytes.Clone(b)
	out[i+n] ^= 0x55
	return out
}

// One damaged member is rejected alone; the others come out as they are.
func TestDamagedMember(t *testing.T) {
	text := strings.Repeat("some text to deflate, ", 10_000)
	noise := samples()["lib/arm64-v8a/libx.so"]
	for _, c := range []struct {
		name   string
		method uint16
		body   string
		at     int // behind the local name
	}{
		{"deflated", zip.Deflate, text, 50}, {"deflated noise: the checksum alone tells", zip.Deflate, noise, 5000}, {"zstd", 93, text, 8}, {"stored", zip.Store, noise, 100_000},
		{"small", zip.Deflate, "just a few bytes, all of them in the head", 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			sound := makeZip(t, member{"first", text, 8}, member{"BROKEN", c.body, c.method}, member{"last", noise, c.method})
			both(t, "o.zip", flipAt(t, sound, "BROKEN", 6+c.at), func(t *testing.T, in *formats.Input) {
				f := walk(t, in)
				if err := f.errs["o.zip!BROKEN"]; !errors.Is(err, formats.ErrCorrupt) || len(f.errs) != 1 {
					t.Errorf("%v", f.errs)
				}
				if f.bytes["o.zip!first"] != text || f.bytes["o.zip!last"] != noise || len(f.bytes) != 2 {
					t.Errorf("%d members", len(f.bytes))
				}
			})
		})
	}
}

// A compressed object that is cut says where it ends.
func TestWhereDamageIs(t *testing.T) {
	noise := []byte(samples()["lib/arm64-v8a/libx.so"])
	var gz, zst bytes.Buffer
	z, err := zstd.NewWriter(&zst)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []io.WriteCloser{gzip.NewWriter(&gz), z} {
		_, err := w.Write(noise)
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for name, packed := range map[string][]byte{"libx.so.gz": gz.Bytes(), "libx.so.zst": zst.Bytes()} {
		cut := packed[:len(packed)/2]
		both(t, name, cut, func(t *testing.T, in *formats.Input) {
			var e *formats.Error
			if err := walk(t, in).errs[name+"!libx.so"]; !errors.As(err, &e) || e.Offset != int64(len(cut)) {
				t.Errorf("%s: %v, want it at %#x", name, err, len(cut))
			}
		})
	}
}

// patch sets 16 or 32 bits of the one directory entry, and of the local header
// where they stand at the given offset there (-1: nowhere).
func patch(t *testing.T, b []byte, entry, local int, v any) []byte {
	t.Helper()
	out := bytes.Clone(b)
	put := func(magic string, at int) {
		i := bytes.LastIndex(out, []byte(magic))
		if i < 0 {
			t.Fatal("no header")
		}
		if _, err := binary.Encode(out[i+at:], binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	put("PK\x01\x02", entry)
	if local >= 0 {
		put("PK\x03\x04", local)
	}
	return out
}

func TestZipRejects(t *testing.T) {
	deflated := makeZip(t, member{"m", strings.Repeat("m", 100_000), 8})
	stored := makeZip(t, member{"m", "stored bytes", 0})
	for _, c := range []struct {
		name   string
		b      []byte
		member bool // the member's error, not the archive's
		want   error
	}{
		{"encrypted", patch(t, deflated, 8, 6, uint16(1)), true, formats.ErrUnsupported},
		{"method", patch(t, deflated, 10, 8, uint16(14)), true, formats.ErrUnsupported},
		{"too small a size", patch(t, deflated, 24, -1, uint32(99_999)), true, formats.ErrCorrupt},
		{"too large a size", patch(t, deflated, 24, -1, uint32(100_001)), true, formats.ErrCorrupt},
		{"a size out of reach", patch(t, deflated, 24, -1, uint32(0xfffffff0)), true, formats.ErrCorrupt},
		{"stored in two sizes", patch(t, stored, 24, -1, uint32(5)), true, formats.ErrCorrupt},
		{"checksum", patch(t, deflated, 16, -1, uint32(1)), true, formats.ErrCorrupt},
		{"header elsewhere", patch(t, deflated, 42, -1, uint32(7)), true, formats.ErrCorrupt},
		{"header beyond the end", patch(t, deflated, 42, -1, uint32(0xfffffff0)), true, formats.ErrCorrupt},
		{"data beyond the end", patch(t, deflated, 20, -1, uint32(0x7ffffff0)), true, formats.ErrCorrupt},
		{"name longer than the directory", patch(t, deflated, 28, -1, uint16(0xffff)), false, formats.ErrCorrupt},
		{"no directory entry", patch(t, deflated, 0, -1, uint32(7)), false, formats.ErrCorrupt},
		{"no end record", deflated[:len(deflated)-10], false, formats.ErrCorrupt},
		{"a size for ZIP64 without its field", patch(t, deflated, 24, -1, uint32(0xffffffff)), true, formats.ErrCorrupt},
	} {
		both(t, "o.zip", c.b, func(t *testing.T, in *formats.Input) {
			f := walk(t, in)
			at := "o.zip"
			if c.member {
				at = "o.zip!m"
			}
			if err := f.errs[at]; !errors.Is(err, c.want) || len(f.errs) != 1 {
				t.Errorf("%s: %v", c.name, f.errs)
			}
		})
	}
}

// zeros is an endless stream of them.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Bombs stop at the limit, despite their claims.
func TestBombs(t *testing.T) {
	const size = 64 << 20
	lim := formats.Limits{SpoolBytes: 4 << 20}
	pack := func(w io.WriteCloser, buf *bytes.Buffer) []byte {
		if _, err := io.CopyN(w, zeros{}, size); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	var z, s bytes.Buffer
	fw, err := flate.NewWriter(&z, 9)
	if err != nil {
		t.Fatal(err)
	}
	deflated := pack(fw, &z)
	zw, err := zstd.NewWriter(&s)
	if err != nil {
		t.Fatal(err)
	}
	zstandard := pack(zw, &s)
	raw := func(claimed uint32) []byte {
		var buf bytes.Buffer
		w := zip.NewWriter(&buf)
		f, err := w.CreateRaw(&zip.FileHeader{Name: "m", Method: 8, CRC32: crc32.ChecksumIEEE(nil), CompressedSize64: uint64(len(deflated)), UncompressedSize64: uint64(claimed)})
		if err == nil {
			_, err = f.Write(deflated)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	gz := append([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"), deflated...)
	for _, c := range []struct {
		name string
		b    []byte
		want error
	}{
		{"gzip", binary.LittleEndian.AppendUint64(gz, 0), formats.ErrLimit},
		{"zstd", zstandard, formats.ErrLimit},
		{"zip honest", raw(size), formats.ErrLimit},
		{"zip that claims less", raw(1000), formats.ErrCorrupt},
		{"zip that claims more", raw(0xfffffff0), formats.ErrCorrupt},
	} {
		in := formattest.InputOf("bomb", c.b, lim)
		f := walk(t, in)
		if len(f.errs) != 1 || len(f.bytes) != 0 {
			t.Errorf("%s: %v", c.name, f.errs)
		}
		for _, err := range f.errs {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	// An excessive window is refused before it is allocated.
	window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x98, 1, 0, 0, 0} // 512 MiB
	for _, err := range walk(t, formattest.InputOf("w.zst", window, formats.Limits{})).errs {
		if !errors.Is(err, formats.ErrLimit) {
			t.Errorf("window: %v", err)
		}
		return
	}
	t.Error("window: no error")
}

// A truncated archive gives its whole members, and says where it ends.
func TestTruncated(t *testing.T) {
	noise := samples()["lib/arm64-v8a/libx.so"]
	m := []member{{"a", "first", 0}, {"b", noise, 0}, {"c", "last", 0}}
	for name, b := range map[string][]byte{"o.tar": makeTar(t, m...), "o.a": makeAr(m...)} {
		both(t, name, b[:100_000], func(t *testing.T, in *formats.Input) {
			f := walk(t, in)
			if f.bytes[name+"!a"] != "first" || len(f.bytes) != 1 {
				t.Errorf("%d members", len(f.bytes))
			}
			if !errors.Is(f.errs[name+"!b"], formats.ErrCorrupt) || !errors.Is(f.errs[name], formats.ErrCorrupt) {
				t.Errorf("%v", f.errs)
			}
		})
	}
	both(t, "x.gz", makeGzip(t, []byte(noise))[:100_000], func(t *testing.T, in *formats.Input) {
		if f := walk(t, in); !errors.Is(f.errs["x.gz!x"], formats.ErrCorrupt) || len(f.bytes) != 0 {
			t.Errorf("%v", f.errs)
		}
	})
}

func TestArRejects(t *testing.T) {
	good := string(makeAr(member{"a-very-long-name-of-a-member.o", "1", 0}, member{"b.o", "22", 0}))
	for _, c := range []struct {
		name, b, at string
		want        error
	}{
		{"thin", strings.Replace(good, "!<arch>", "!<thin>", 1), "o.a", formats.ErrUnsupported},
		{"name outside the table", strings.Replace(good, "\n/0 ", "\n/9999 ", 1)[:len(good)], "o.a", formats.ErrCorrupt},
		{"header end", strings.Replace(good, "`\n22", "xx22", 1), "o.a", formats.ErrCorrupt},
		{"size", strings.Replace(good, "2         `\n22", "-2        `\n22", 1), "o.a", formats.ErrCorrupt},
		{"name size", "!<arch>\n#1/99           0           0     0     644     2         `\n22", "o.a!#1/99", formats.ErrCorrupt},
		{"name place", "!<arch>\n/5              0           0     0     644     2         `\n22", "o.a!/5", formats.ErrCorrupt},
		{"rest", good + "  stray", "o.a", formats.ErrCorrupt},
	} {
		f := walk(t, formattest.InputOf("o.a", []byte(c.b), formats.Limits{}))
		if !errors.Is(f.errs[c.at], c.want) {
			t.Errorf("%s: %v", c.name, f.errs)
		}
	}
}
