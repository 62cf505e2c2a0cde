package archive_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
)

// files are the samples in a folder, for the system's own programs.
func files(t *testing.T) (dir string, all map[string]string) {
	t.Helper()
	dir, all = t.TempDir(), samples()
	for name, body := range all {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir, all
}

// need skips the test unless the machine has the program.
func need(t *testing.T, program string) {
	t.Helper()
	where := program
	if other := map[string]string{"xz": "xz-utils", "ar": "binutils"}[program]; other != "" {
		where = other
	}
	formattest.Tool(t, program, "install the package "+where)
}

func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	need(t, args[0])
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
}

func load(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Archives of the system's programs hold their input.
func TestSystemArchives(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  string // in the folder; the files' names follow
		under string
		packs string // the program that tar runs
	}{
		{name: "o.zip", args: "zip -q -X -r ../o.zip"},
		{name: "stored.zip", args: "zip -q -0 -r ../stored.zip"},
		{name: "z64.zip", args: "zip -q -fz -r ../z64.zip"},
		{name: "o.tar", args: "tar --format=gnu -cf ../o.tar"},
		{name: "pax.tar", args: "tar --format=posix -cf ../pax.tar"},
		{"o.tar.gz", "tar -czf ../o.tar.gz", "o.tar!", "gzip"},
		{"o.txz", "tar -cJf ../o.txz", "o.tar!", "xz"},
		{"o.tar.zst", "tar --zstd -cf ../o.tar.zst", "o.tar!", "zstd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.packs != "" {
				need(t, c.packs)
			}
			dir, all := files(t)
			top, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			args := strings.Fields(c.args)
			for _, e := range top {
				args = append(args, e.Name())
			}
			run(t, dir, args...)
			out := filepath.Join(filepath.Dir(dir), c.name)
			b, err := os.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			both(t, c.name, b, func(t *testing.T, in *formats.Input) {
				walk(t, in).expect(t, c.name, under(c.under, all))
			})
		})
	}
}

// zip's other ways: streamed, encrypted, behind something else, with a comment.
func TestSystemZip(t *testing.T) {
	need(t, "zip")
	dir, all := files(t)
	body := all["text/long"]
	run(t, dir, "sh", "-c", "cat text/long | zip -q ../streamed.zip -")
	b := load(t, dir, "../streamed.zip")
	walk(t, formattest.InputOf("s", b, formats.Limits{})).expect(t, "s", map[string]string{"!-": body})

	run(t, dir, "zip", "-q", "-P", "secret", "../enc.zip", "text/long")
	f := walk(t, formattest.InputOf("e", load(t, dir, "../enc.zip"), formats.Limits{}))
	if err := f.errs["e!text/long"]; !errors.Is(err, formats.ErrUnsupported) || !strings.Contains(err.Error(), "not encrypted") {
		t.Errorf("encrypted: %v", f.errs)
	}

	// Put behind other bytes, with offsets that do not know of it; with a
	// comment that looks like an end record. It begins as a ZIP does, since
	// that is how one is known.
	one := makeZip(t, member{"m", body, 8}, member{"n", "stored", 0})
	prefixed := append([]byte("PK\x03\x04 and some other things"), one...)
	want := map[string]string{"!m": body, "!n": "stored"}
	walk(t, formattest.InputOf("p", prefixed, formats.Limits{})).expect(t, "p", want)

	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	fw, err := w.Create("m")
	if err == nil {
		_, err = io.WriteString(fw, body)
	}
	if err == nil {
		err = w.SetComment("a comment with PK\x05\x06 and more text behind it, as long as a record")
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	walk(t, formattest.InputOf("c", buf.Bytes(), formats.Limits{})).expect(t, "c", map[string]string{"!m": body})
	walk(t, formattest.InputOf("none", makeZip(t), formats.Limits{})).expect(t, "none", nil)
}

// A directory of more members than its old record can count, which needs ZIP64.
func TestZip64Count(t *testing.T) {
	const n = 70_000
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for i := range n {
		if _, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%d.png", i), Method: zip.Store}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f := walk(t, formattest.InputOf("o", buf.Bytes(), formats.Limits{}))
	if len(f.errs) != 0 || len(f.order) != n+1 {
		t.Errorf("%d members, %v", len(f.order)-1, f.errs)
	}
	if f := walk(t, formattest.InputOf("o", buf.Bytes(), formats.Limits{Members: n - 1})); !errors.Is(f.errs["o"], formats.ErrLimit) || len(f.order) != 1 {
		t.Errorf("%d members, %v", len(f.order)-1, f.errs)
	}
}

// Links, devices and folders are no members; files with holes are whole.
func TestSystemTar(t *testing.T) {
	dir := t.TempDir()
	run(t, dir, "sh", "-c", `echo real > real; ln -s real soft; ln real hard; mkdir d; mkfifo pipe
		printf head > holes; truncate -s 3000000 holes; printf tail >> holes; echo end > zz`)
	holes := "head" + strings.Repeat("\x00", 3_000_000-4) + "tail"
	for _, format := range []string{"gnu", "posix"} {
		run(t, dir, "tar", "-S", "--format="+format, "-cf", "../s.tar", "real", "soft", "hard", "d", "pipe", "holes", "zz")
		b := load(t, dir, "../s.tar")
		if len(b) > 1_000_000 {
			t.Skip("the filesystem makes no holes")
		}
		both(t, "s.tar", b, func(t *testing.T, in *formats.Input) {
			walk(t, in).expect(t, "s.tar", map[string]string{"!real": "real\n", "!holes": holes, "!zz": "end\n"})
		})
	}
}

func TestSystemAr(t *testing.T) {
	dir := t.TempDir()
	want := map[string]string{}
	for i, name := range []string{"a.o", "exactly-15-ch.o", "sixteen-chars-.o", "a-member-with-a-long-name.o", "odd.o"} {
		body := strings.Repeat(name, 1000+i)[:1001+i]
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o666); err != nil {
			t.Fatal(err)
		}
		want["!"+name] = body
	}
	names := slices.Collect(maps.Keys(want))
	for i := range names {
		names[i] = names[i][1:]
	}
	run(t, dir, append([]string{"ar", "rc", "o.a"}, names...)...)
	both(t, "o.a", load(t, dir, "o.a"), func(t *testing.T, in *formats.Input) {
		walk(t, in).expect(t, "o.a", want)
	})
	run(t, dir, append([]string{"ar", "rcT", "thin.a"}, names...)...)
	if f := walk(t, formattest.InputOf("t", load(t, dir, "thin.a"), formats.Limits{})); !errors.Is(f.errs["t"], formats.ErrUnsupported) {
		t.Errorf("thin: %v", f.errs)
	}
}

// A library of Apple's linker tools: BSD names and symbol index.
func TestBSDLibrary(t *testing.T) {
	in := formattest.Input(t, formattest.Fixture(t, "macho/samply/oso/libfile23.a"))
	f := walk(t, in)
	if len(f.errs) != 0 || len(f.bytes) != 2 {
		t.Fatalf("%q, %v", f.order, f.errs)
	}
	for name, b := range f.bytes {
		if !strings.HasSuffix(name, ".o") || !strings.HasPrefix(b, "\xcf\xfa\xed\xfe") {
			t.Errorf("%s begins %x", name, b[:4])
		}
	}
}

// Objects and archives from the tree, and uploads of real tools.
func TestRealArchives(t *testing.T) {
	for _, c := range []struct {
		path string
		want []string // some names
	}{
		{"game.apk", []string{"game.apk!lib/arm64-v8a/libgame.so"}},
		{"symbols.tar.gz", nil}, {"symbols.tar.zst", nil}, {"libengine.a", nil},
	} {
		f := walk(t, formattest.Input(t, formattest.Testdata(t, "elf/archive/"+c.path)))
		elf := 0
		for _, b := range f.bytes {
			if strings.HasPrefix(b, "\x7fELF") {
				elf++
			}
		}
		if len(f.errs) != 0 || elf == 0 {
			t.Errorf("%s: %q, %v", c.path, f.order, f.errs)
		}
		for _, w := range c.want {
			if !slices.Contains(f.order, w) {
				t.Errorf("%s: no %s in %q", c.path, w, f.order)
			}
		}
	}
	for path, want := range map[string]string{
		"macho/bugsnag/single-dsym.zip": "\xcf\xfa\xed\xfe", "macho/measure/DemoApp-1.0.1-1.app.dSYM.tgz": "\xcf\xfa\xed\xfe",
	} {
		f := walk(t, formattest.Input(t, formattest.Fixture(t, path)))
		n := 0
		for _, b := range f.bytes {
			if strings.HasPrefix(b, want) {
				n++
			}
		}
		if len(f.errs) != 0 || n == 0 {
			t.Errorf("%s: %q, %v", path, f.order, f.errs)
		}
	}
}
