package archive_test

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/archive"
	"github.com/symlake/symlake/formats/formattest"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		head string
		want string
	}{
		{"PK\x03\x04...", "zip"}, {"PK\x05\x06" + strings.Repeat("\x00", 18), "zip"}, {"\x1f\x8b\x08\x00", "gzip"}, {"\x28\xb5\x2f\xfd", "zstd"},
		{"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd\x28\xb5\x2f\xfd", "zstd"}, {"\x50\x2a\x4d\x18\xff\xff\xff\xffabcd\x28\xb5\x2f\xfd", ""},
		{"\xfd7zXZ\x00", "xz"}, {"MSCF\x00\x00\x00\x00", "cabinet"}, {"!<arch>\n", "ar"}, {"!<thin>\n", "ar"}, {"\x7fELF", ""}, {"", ""}, {"PK", ""},
		{strings.Repeat("\x00", 257) + "ustar\x0000" + strings.Repeat("\x00", 300), "tar"}, {strings.Repeat("\x00", 257) + "ustar", ""},
	} {
		got := ""
		for _, f := range list[:7] {
			if f.Detect("x", []byte(c.head)) {
				got += f.Name
			}
		}
		if got != c.want {
			t.Errorf("%.20q: %q, want %q", c.head, got, c.want)
		}
	}
}

// Bytes of every member of every kind, written by Go's own writers, with
// archives in archives.
func TestContents(t *testing.T) {
	all := samples()
	for _, method := range []uint16{zip.Store, zip.Deflate, 93} {
		t.Run(fmt.Sprint("zip method ", method), func(t *testing.T) {
			both(t, "o.zip", makeZip(t, membersOf(all, method)...), func(t *testing.T, in *formats.Input) {
				walk(t, in).expect(t, "o.zip", under("", all))
			})
		})
	}
	plain := makeTar(t, membersOf(all, 0)...)
	both(t, "o.tar", plain, func(t *testing.T, in *formats.Input) {
		walk(t, in).expect(t, "o.tar", under("", all))
	})
	both(t, "dir/o.tgz", makeGzip(t, plain), func(t *testing.T, in *formats.Input) {
		walk(t, in).expect(t, "dir/o.tgz", under("o.tar!", all))
	})
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	nested := makeZip(t, member{"in/o.tar.zst", string(enc.EncodeAll(plain, nil)), zip.Deflate}, member{"again.zip", string(makeZip(t, membersOf(all, zip.Store)...)), zip.Store})
	both(t, "n.jar", nested, func(t *testing.T, in *formats.Input) {
		want := under("in/o.tar.zst!o.tar!", all)
		maps.Copy(want, under("again.zip!", all))
		walk(t, in).expect(t, "n.jar", want)
	})
}

// The members' order is the archive's.
func TestOrder(t *testing.T) {
	m := []member{{"z", "1", 8}, {"a", "2", 8}, {"m", "3", 0}}
	for _, b := range [][]byte{makeZip(t, m...), makeTar(t, m...)} {
		if got := walk(t, formattest.InputOf("o", b, formats.Limits{})).order; !slices.Equal(got, []string{"o", "o!z", "o!a", "o!m"}) {
			t.Errorf("%q", got)
		}
	}
}

// Names are labels and go nowhere.
func TestHostileNames(t *testing.T) {
	all := map[string]string{"../../etc/passwd": "1", "/abs": "2", "C:\\x\\y": "3", "a//b": "4", "./c": "5"}
	walk(t, formattest.InputOf("o", makeZip(t, membersOf(all, 8)...), formats.Limits{})).expect(t, "o", under("", all))
	walk(t, formattest.InputOf("o", makeTar(t, membersOf(all, 8)...), formats.Limits{})).expect(t, "o", under("", all))
}

// What no format claims costs its head: nothing is spooled, and little is read.
func TestUnwantedIsSkipped(t *testing.T) {
	noise := samples()["lib/arm64-v8a/libx.so"]
	big := strings.Repeat(noise, 40) // 8 MB, incompressible within deflate's window
	var members []member
	for i := range 20 {
		members = append(members, member{fmt.Sprintf("p%02d.png", i), big, []uint16{zip.Store, zip.Deflate, 93}[i%3]})
	}
	members = append(members, member{"libx.so", noise, zip.Deflate})
	for _, c := range []struct {
		name string
		b    []byte
		most int64
	}{
		{"o.zip", makeZip(t, members...), 21 * 200_000},
		{"o.tar", makeTar(t, members...), 21*formats.HeadBytes + 400_000},
		{"o.png.gz", makeGzip(t, []byte(big)), 200_000},
	} {
		in, read, spools := counting(formattest.InputOf(c.name, c.b, formats.Limits{}))
		f := walk(t, in)
		for name, err := range f.errs {
			t.Errorf("%s: %v", name, err)
		}
		want := 0
		if c.name == "o.zip" {
			want = 1 // libx.so
		}
		if *spools != want || *read > c.most {
			t.Errorf("%s: %d of %d bytes read, %d members spooled", c.name, *read, len(c.b), *spools)
		}
		if len(f.bytes) != 1 && c.name != "o.png.gz" || c.name != "o.png.gz" && f.bytes[c.name+"!libx.so"] != noise {
			t.Errorf("%s: %q", c.name, slices.Collect(maps.Keys(f.bytes)))
		}
	}
}

// A member may be read without Fetch: what lies beyond the head brings it in.
func TestReadWithoutFetch(t *testing.T) {
	all := samples()
	body := all["text/long"]
	for name, b := range map[string][]byte{
		"x.zip": makeZip(t, member{"m", body, zip.Deflate}), "m.gz": makeGzip(t, []byte(body)),
	} {
		in := formattest.InputOf(name, b, formats.Limits{})
		obj := formattest.Open(t, list[slices.IndexFunc(list, func(f *formats.Format) bool { return f.Detect("", b) })], in)
		err := obj.Members(t.Context(), func(m *formats.Input) error {
			got := make([]byte, 100)
			for _, off := range []int{0, 50, formats.HeadBytes - 50, 100_000, 10, len(body) - 100} {
				if n, err := m.Bytes.ReadAt(got, int64(off)); n != 100 || err != nil || string(got) != body[off:off+100] {
					t.Errorf("%s: at %d: %d, %v", name, off, n, err)
				}
			}
			if n, err := m.Bytes.ReadAt(got, int64(len(body)-10)); n != 10 || err != io.EOF {
				t.Errorf("%s: at the end: %d, %v", name, n, err)
			}
			for range 2 {
				if err := m.Fetch(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if m.Size != int64(len(body)) || string(m.Mapped) != body {
				t.Errorf("%s: %d bytes, %d mapped", name, m.Size, len(m.Mapped))
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// The limits of an archive, and what emit and the context say.
func TestLimitsAndEnds(t *testing.T) {
	three := []member{{"a", "1", 8}, {"b", strings.Repeat("2", 100_000), 8}, {"c", "3", 0}}
	archives := map[string][]byte{"o.zip": makeZip(t, three...), "o.tar": makeTar(t, three...), "o.a": makeAr(three...)}
	for name, b := range archives {
		f := walk(t, formattest.InputOf(name, b, formats.Limits{Members: 2}))
		if !errors.Is(f.errs[name], formats.ErrLimit) || name != "o.zip" && len(f.bytes) != 2 {
			t.Errorf("%s: %v after %d members", name, f.errs[name], len(f.bytes))
		}
		f = walk(t, formattest.InputOf(name, b, formats.Limits{ObjectBytes: 99_999}))
		if name == "o.zip" { // the others are themselves above the limit
			if !errors.Is(f.errs[name+"!b"], formats.ErrLimit) || len(f.bytes) != 2 {
				t.Errorf("%s: %v, %d members", name, f.errs, len(f.bytes))
			}
		}
		form := list[slices.IndexFunc(list, func(f *formats.Format) bool { return f.Detect("", b) })]
		obj := formattest.Open(t, form, formattest.InputOf(name, b, formats.Limits{}))
		stop, n := errors.New("stop"), 0
		if err := obj.Members(t.Context(), func(*formats.Input) error { n++; return stop }); err != stop || n != 1 {
			t.Errorf("%s: %v after %d", name, err, n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		n = 0
		if err := obj.Members(ctx, func(*formats.Input) error { n++; cancel(); return nil }); !errors.Is(err, context.Canceled) || n != 1 {
			t.Errorf("%s: %v after %d", name, err, n)
		}
	}
}

// A failing reader of the archive is no damage of a member.
func TestReaderFails(t *testing.T) {
	noise := samples()["lib/arm64-v8a/libx.so"]
	down := errors.New("the network is down")
	for name, b := range map[string][]byte{
		"o.zip": makeZip(t, member{"x", noise, 8}), "z.zip": makeZip(t, member{"x", noise, 93}), "s.zip": makeZip(t, member{"x", noise, 0}),
		"x.gz": makeGzip(t, []byte(noise)), "o.tar": makeTar(t, member{"x", noise, 0}),
	} {
		for _, from := range []int64{100, 120_000} {
			in := formattest.Unmapped(formattest.InputOf(name, b, formats.Limits{}))
			sound := in.Bytes
			in.Bytes = readerAt(func(p []byte, off int64) (int, error) {
				// The directory at the end can be read.
				if off+int64(len(p)) > from && off < 200_000-1000 && off != 0 || len(p) < formats.HeadBytes && off == 0 && from == 100 {
					return 0, down
				}
				return sound.ReadAt(p, off)
			})
			f := walk(t, in)
			if len(f.errs) == 0 {
				t.Errorf("%s from %d: no error", name, from)
			}
			for at, err := range f.errs {
				if !errors.Is(err, down) || formats.Rejects(err) {
					t.Errorf("%s from %d: %s: %v", name, from, at, err)
				}
			}
		}
	}
}

func TestConformance(t *testing.T) {
	all := samples()
	delete(all, "head+1")
	dir := t.TempDir()
	for _, c := range []struct {
		f    *formats.Format
		name string
		b    []byte
	}{
		{&archive.Zip, "o.zip", makeZip(t, append(membersOf(all, 8), member{"s", "stored", 0}, member{"z", "zstd", 93})...)},
		{&archive.Tar, "o.tar", makeTar(t, membersOf(all, 0)...)},
		{&archive.Ar, "o.a", makeAr(membersOf(all, 0)...)},
		{&archive.Gzip, "o.gz", makeGzip(t, []byte(all["text/long"]))},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, c.b, 0o666); err != nil {
			t.Fatal(err)
		}
		t.Run(c.f.Name, func(t *testing.T) { formattest.Run(t, c.f, path) })
	}
}
