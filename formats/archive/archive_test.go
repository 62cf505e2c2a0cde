package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/archive"
	"github.com/symlake/symlake/formats/formattest"
)

// wanted is a format that claims everything but names that end in .png, so
// that the walk below fetches what it should.
var wanted = formats.Format{
	Name: "wanted", Version: 1,
	Detect: func(name string, _ []byte) bool { return !strings.HasSuffix(name, ".png") },
	Open: func(ctx context.Context, in *formats.Input) (*formats.Object, error) {
		return &formats.Object{}, nil
	},
}

var list = []*formats.Format{&archive.Ar, &archive.Zip, &archive.Gzip, &archive.Zstd, &archive.Xz, &archive.Tar, &wanted}

// found is what a walk through archives in archives met.
type found struct {
	bytes map[string]string // by name
	errs  map[string]error
	order []string
}

// walk opens in and all below it, as ingest does.
func walk(t *testing.T, in *formats.Input) *found {
	t.Helper()
	f := &found{bytes: map[string]string{}, errs: map[string]error{}}
	f.walk(t, in)
	return f
}

func (f *found) walk(t *testing.T, in *formats.Input) {
	t.Helper()
	f.order = append(f.order, in.Name)
	form, obj, err := formats.Open(t.Context(), list, in)
	if err != nil {
		f.errs[in.Name] = err
		return
	}
	if obj == nil {
		return
	}
	if obj.Members == nil {
		b, err := io.ReadAll(io.NewSectionReader(in.Bytes, 0, in.Size))
		if err != nil {
			f.errs[in.Name] = err
			return
		}
		if in.Mapped != nil && !bytes.Equal(in.Mapped, b) {
			t.Errorf("%s: the mapping is another", in.Name)
		}
		f.bytes[in.Name] = string(b)
		return
	}
	err = formats.Guard(form.Name, func() error {
		return obj.Members(t.Context(), func(m *formats.Input) error {
			f.walk(t, m)
			return nil
		})
	})
	if err != nil {
		f.errs[in.Name] = err
	}
}

// expect compares with names below outer.
func (f *found) expect(t *testing.T, outer string, want map[string]string) {
	t.Helper()
	for name, err := range f.errs {
		t.Errorf("%s: %v", name, err)
	}
	full := make(map[string]string)
	for k, v := range want {
		full[outer+k] = v
	}
	if !maps.Equal(f.bytes, full) {
		t.Errorf("got  %q\nwant %q", slices.Sorted(maps.Keys(f.bytes)), slices.Sorted(maps.Keys(full)))
		for k := range f.bytes {
			if v, ok := full[k]; ok && v != f.bytes[k] {
				t.Errorf("%s: %d bytes, want %d", k, len(f.bytes[k]), len(v))
			}
		}
	}
}

// samples are members of every size that matters: nothing, below the head,
// the head, above it; text and noise; odd names.
func samples() map[string]string {
	noise := func(n int) string {
		r := rand.New(rand.NewPCG(3, uint64(n)))
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		return string(b)
	}
	return map[string]string{
		"empty":                           "",
		"one":                             "1",
		"lib/arm64-v8a/libx.so":           noise(200_001),
		"text/long":                       strings.Repeat("a line of text\n", 20_000),
		"head":                            noise(formats.HeadBytes),
		"head+1":                          strings.Repeat("h", formats.HeadBytes+1),
		"ünïcode/\U0001F600":              "é",
		"a/" + strings.Repeat("long", 40): "x",
	}
}

func both(t *testing.T, name string, b []byte, f func(t *testing.T, in *formats.Input)) {
	t.Helper()
	t.Run("mapped", func(t *testing.T) { f(t, formattest.InputOf(name, b, formats.Limits{})) })
	t.Run("unmapped", func(t *testing.T) { f(t, formattest.Unmapped(formattest.InputOf(name, b, formats.Limits{}))) })
}

type member struct {
	name   string
	body   string
	method uint16
}

func makeZip(t testing.TB, members ...member) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	w.RegisterCompressor(93, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	for _, m := range members {
		f, err := w.CreateHeader(&zip.FileHeader{Name: m.name, Method: m.method})
		if err == nil {
			_, err = io.WriteString(f, m.body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func makeTar(t testing.TB, members ...member) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for _, m := range members {
		err := w.WriteHeader(&tar.Header{Name: m.name, Mode: 0o644, Size: int64(len(m.body)), Typeflag: tar.TypeReg})
		if err == nil {
			_, err = io.WriteString(w, m.body)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func makeGzip(t testing.TB, b []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func list2(all map[string]string, method uint16) []member {
	var out []member
	for _, k := range slices.Sorted(maps.Keys(all)) {
		out = append(out, member{k, all[k], method})
	}
	return out
}

func under(name string, all map[string]string) map[string]string {
	out := make(map[string]string)
	for k, v := range all {
		out["!"+name+k] = v
	}
	return out
}

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		head string
		want string
	}{
		{"PK\x03\x04...", "zip"}, {"PK\x05\x06" + strings.Repeat("\x00", 18), "zip"}, {"\x1f\x8b\x08\x00", "gzip"}, {"\x28\xb5\x2f\xfd", "zstd"},
		{"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd\x28\xb5\x2f\xfd", "zstd"}, {"\x50\x2a\x4d\x18\xff\xff\xff\xffabcd\x28\xb5\x2f\xfd", ""},
		{"\xfd7zXZ\x00", "xz"}, {"!<arch>\n", "ar"}, {"!<thin>\n", "ar"}, {"\x7fELF", ""}, {"", ""}, {"PK", ""},
		{strings.Repeat("\x00", 257) + "ustar\x0000" + strings.Repeat("\x00", 300), "tar"}, {strings.Repeat("\x00", 257) + "ustar", ""},
	} {
		got := ""
		for _, f := range list[:6] {
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
			both(t, "o.zip", makeZip(t, list2(all, method)...), func(t *testing.T, in *formats.Input) {
				walk(t, in).expect(t, "o.zip", under("", all))
			})
		})
	}
	plain := makeTar(t, list2(all, 0)...)
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
	nested := makeZip(t, member{"in/o.tar.zst", string(enc.EncodeAll(plain, nil)), zip.Deflate}, member{"again.zip", string(makeZip(t, list2(all, zip.Store)...)), zip.Store})
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
	walk(t, formattest.InputOf("o", makeZip(t, list2(all, 8)...), formats.Limits{})).expect(t, "o", under("", all))
	walk(t, formattest.InputOf("o", makeTar(t, list2(all, 8)...), formats.Limits{})).expect(t, "o", under("", all))
}

// counting counts what is read and spooled.
func counting(in *formats.Input) (*formats.Input, *int64, *int) {
	c := *in
	var read int64
	var spools int
	c.Bytes, c.Mapped = readerAt(func(p []byte, off int64) (int, error) {
		n, err := in.Bytes.ReadAt(p, off)
		read += int64(n)
		return n, err
	}), nil
	c.Spool = func(name string, size int64, r io.Reader) (*formats.Input, error) {
		spools++
		return in.Spool(name, size, r)
	}
	return &c, &read, &spools
}

type readerAt func(p []byte, off int64) (int, error)

func (f readerAt) ReadAt(p []byte, off int64) (int, error) { return f(p, off) }

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
		{&archive.Zip, "o.zip", makeZip(t, append(list2(all, 8), member{"s", "stored", 0}, member{"z", "zstd", 93})...)},
		{&archive.Tar, "o.tar", makeTar(t, list2(all, 0)...)},
		{&archive.Ar, "o.a", makeAr(list2(all, 0)...)},
		{&archive.Gzip, "o.gz", makeGzip(t, []byte(all["text/long"]))},
	} {
		path := filepath.Join(dir, c.name)
		if err := os.WriteFile(path, c.b, 0o666); err != nil {
			t.Fatal(err)
		}
		t.Run(c.f.Name, func(t *testing.T) { formattest.Run(t, c.f, path) })
	}
}

// makeAr writes a library with GNU's long names.
func makeAr(members ...member) []byte {
	var long, body bytes.Buffer
	for _, m := range members {
		name := m.name + "/"
		if len(name) > 16 || strings.Contains(m.name, "/") {
			name = fmt.Sprintf("/%d", long.Len())
			long.WriteString(m.name + "/\n")
		}
		fmt.Fprintf(&body, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", name, 0, 0, 0, "644", len(m.body), m.body)
		if len(m.body)%2 == 1 {
			body.WriteByte('\n')
		}
	}
	out := "!<arch>\n"
	if long.Len() > 0 {
		if long.Len()%2 == 1 {
			long.WriteByte('\n')
		}
		out += fmt.Sprintf("%-48s%-10d`\n%s", "//", long.Len(), long.Bytes())
	}
	return append([]byte(out), body.Bytes()...)
}
