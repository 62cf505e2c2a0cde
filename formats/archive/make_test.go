package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
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

var list = []*formats.Format{&archive.Ar, &archive.Zip, &archive.Gzip, &archive.Zstd, &archive.Xz, &archive.Cab, &archive.Tar, &wanted}

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

func membersOf(all map[string]string, method uint16) []member {
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

// counting counts the bytes read and spooled.
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
