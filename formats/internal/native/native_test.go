package native

import (
	"bytes"
	"compress/zlib"
	"context"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

func openFile(t testing.TB, path string) *ELF {
	t.Helper()
	f, err := OpenELF(formattest.Input(t, path))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// goFile is a file of the Go tree's own test data.
func goFile(t testing.TB, name string) string {
	t.Helper()
	p := filepath.Join(runtime.GOROOT(), "src", "debug", filepath.FromSlash(name))
	if _, err := os.Stat(p); err != nil {
		t.Skipf("SKIP: %v", err)
	}
	return p
}

// TestSectionsAgainstGo holds every section of many files against the
// standard library's reader; relocated ones are TestRelocations'.
func TestSectionsAgainstGo(t *testing.T) {
	paths, _ := filepath.Glob(goFile(t, "elf/testdata") + "/*.obj")
	more, _ := filepath.Glob(goFile(t, "dwarf/testdata") + "/*.elf*")
	exec, _ := filepath.Glob(goFile(t, "elf/testdata") + "/gcc-*-exec")
	paths = append(append(paths, more...), exec...)
	if len(paths) < 30 {
		t.Fatalf("only %d files", len(paths))
	}
	compared := 0
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer want.Close()
			f := openFile(t, path)
			if f.Arch() == "" || len(f.headers) != len(want.Sections) || len(f.segments) != len(want.Progs) {
				t.Fatalf("%d sections and %d segments, want %d and %d", len(f.headers), len(f.segments), len(want.Sections), len(want.Progs))
			}
			for i, s := range want.Sections {
				debug := strings.HasPrefix(plainName(s.Name), ".debug_")
				if s.Type == elf.SHT_NULL || s.Type == elf.SHT_NOBITS || want.Type == elf.ET_REL && debug {
					continue
				}
				data, err := s.Data()
				if err != nil {
					t.Fatal(err)
				}
				got, err := f.section(i)
				if err != nil {
					t.Fatal(err)
				}
				if b, err := got.Bytes(); err != nil || !bytes.Equal(b, data) {
					t.Errorf("%s differs (%v)", s.Name, err)
				}
				compared++
			}
		})
	}
	if compared < 400 {
		t.Fatalf("%d sections compared", compared)
	}
}

// TestRelocationsAgainstGo: the offsets of strings that the standard library
// finds by relocation stand in our .debug_info too.
func TestRelocationsAgainstGo(t *testing.T) {
	paths, _ := filepath.Glob(goFile(t, "elf/testdata") + "/go-relocation-test-*.obj")
	compared := 0
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			want, err := elf.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer want.Close()
			d, err := want.DWARF()
			if err != nil {
				t.Fatal(err)
			}
			entry, err := d.Reader().Next()
			if err != nil || entry == nil {
				t.Fatalf("%v %v", entry, err)
			}
			f := openFile(t, path)
			info, strs := contents(t, f, ".debug_info"), contents(t, f, ".debug_str")
			for _, field := range entry.Field {
				s, ok := field.Val.(string)
				if !ok {
					continue
				}
				at := bytes.Index(strs, append([]byte(s), 0))
				if at <= 0 {
					continue
				}
				word := make([]byte, 4)
				f.order.PutUint32(word, uint32(at))
				if !bytes.Contains(info, word) {
					t.Errorf("%s %q: no offset %#x in .debug_info", field.Attr, s, at)
				}
				compared++
			}
		})
	}
	if compared < 30 {
		t.Fatalf("%d strings compared", compared)
	}
}

func contents(t *testing.T, f *ELF, name string) []byte {
	t.Helper()
	s, err := f.Section(name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if s == nil {
		return nil
	}
	b, err := s.Bytes()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}

// TestRelocationsAgainstLinker: an object's debug sections, relocated, are
// byte for byte what a linker makes of them that leaves strings in place and
// puts the code at 0.
func TestRelocationsAgainstLinker(t *testing.T) {
	clang := formattest.Tool(t, "clang++-19", "apt-get install clang-19")
	lld := formattest.Tool(t, "ld.lld-19", "apt-get install lld-19")
	dir := t.TempDir()
	src := filepath.Join(dir, "a.cpp")
	text := `
extern "C" {
__attribute__((noinline)) int f(int a) { return a * 3; }
static inline int g(int a) { int b = f(a); return b + f(b); }
__attribute__((noinline)) int h(int a) { return g(a) + 1; }
}
`
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{
		"x86_64-linux-gnu", "i686-linux-gnu", "aarch64-linux-gnu", "aarch64_be-linux-gnu", "armv7a-linux-gnueabi", "riscv64-linux-gnu", "riscv32-linux-gnu",
		"powerpc64le-linux-gnu", "powerpc64-linux-gnu", "powerpc-linux-gnu", "s390x-linux-gnu", "mips-linux-gnu", "mips64el-linux-gnu", "loongarch64-linux-gnu",
	} {
		for _, flags := range [][]string{{"-gdwarf-4", "-ffunction-sections"}, {"-gdwarf-5"}, {"-gdwarf-5", "-gz=zlib"}, {"-gdwarf-5", "-gdwarf64"}} {
			if flags[len(flags)-1] == "-gdwarf64" && (strings.HasPrefix(target, "i686") || strings.Contains(target, "32") || strings.HasPrefix(target, "arm") || target == "powerpc-linux-gnu" || target == "mips-linux-gnu") {
				continue
			}
			name := target + strings.Join(flags, "")
			t.Run(name, func(t *testing.T) {
				obj, linked := filepath.Join(dir, name+".o"), filepath.Join(dir, name)
				compile := append([]string{"--target=" + target, "-O1", "-ffreestanding", "-fno-exceptions", "-fno-asynchronous-unwind-tables", "-fno-pic", "-c", src, "-o", obj}, flags...)
				run(t, clang, compile...)
				run(t, lld, "-O0", "-Ttext=0", "--entry=0", "--no-relax", "--image-base=0x1000000", obj, "-o", linked)
				rel, exe := openFile(t, obj), openFile(t, linked)
				if !rel.Relocatable() || exe.Relocatable() {
					t.Fatal("kinds")
				}
				compared := 0
				for _, section := range []string{".debug_info", ".debug_line", ".debug_ranges", ".debug_rnglists", ".debug_addr", ".debug_str_offsets", ".debug_abbrev", ".debug_str"} {
					got, want := contents(t, rel, section), contents(t, exe, section)
					if got == nil && want == nil {
						continue
					}
					if !bytes.Equal(got, want) {
						t.Errorf("%s differs:\n% x\nlinked\n% x", section, got, want)
					}
					compared++
				}
				if compared < 5 {
					t.Errorf("%d sections compared", compared)
				}
				got, want := functions(t, rel), linkedFunctions(t, linked)
				if len(got) != 2 || !maps.Equal(got, want) {
					t.Errorf("functions %v, linked %v", got, want)
				}
			})
		}
	}
}

// functions gives the addresses of f and h.
func functions(t *testing.T, f *ELF) map[string]uint64 {
	t.Helper()
	all, err := f.Symbols(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]uint64{}
	for _, s := range all {
		if s.Name == "f" || s.Name == "h" {
			m[s.Name] = s.Addr
		}
	}
	return m
}

// linkedFunctions gives them as the standard library reads them.
func linkedFunctions(t *testing.T, path string) map[string]uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]uint64{}
	for _, s := range all {
		if s.Name != "f" && s.Name != "h" {
			continue
		}
		if opd := f.Section(".opd"); opd != nil { // the first ABI's descriptors
			b, err := opd.Data()
			if err != nil {
				t.Fatal(err)
			}
			s.Value = f.ByteOrder.Uint64(b[s.Value-opd.Addr:])
		}
		m[s.Name] = s.Value
	}
	return m
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func TestHostileSizes(t *testing.T) {
	in := formattest.Input(t, formattest.Fixture(t, "elf/otel/inline-big-fake-compressed-dwarf"))
	f, err := OpenELF(in)
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
		{"absurd", append(compressionHeader(1, 1<<63), packed...), formats.Limits{}, formats.ErrLimit},
		{"header cut", compressionHeader(1, 1)[:10], formats.Limits{}, formats.ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, unmapped := range []bool{false, true} {
				in := formattest.InputOf("x", build(".debug_info", shfCompressed, c.contents), c.lim)
				if unmapped {
					in = formattest.Unmapped(in)
				}
				f, err := OpenELF(in)
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
	f, err := OpenELF(formattest.InputOf("x", build(".zdebug_line", 0, append(old, deflate(plain)...)), formats.Limits{}))
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

// TestOnce: however many ask, a section is inflated once, and what is large
// goes through the spool and is released.
func TestOnce(t *testing.T) {
	plain := make([]byte, memoryBytes+1)
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
	f, err := OpenELF(in)
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
	f, err := OpenELF(in)
	if err != nil {
		t.Fatal(err)
	}
	gone := errors.New("connection lost")
	f.in.Bytes = failing{gone}
	if _, err := f.Section(".debug_info"); !errors.Is(err, gone) || formats.Rejects(err) {
		t.Fatalf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func TestSymbols(t *testing.T) {
	for _, c := range []struct {
		path  string
		addr  uint64
		name  string
		rank  symbol.Rank
		never string
	}{
		{"elf/dump_syms/basic.minidebuginfo", 0, "main", symbol.RankSymtab, "$x"},
		{"elf/symbolic/dynsyms_only", 0, "", symbol.RankDynsym, ""},
		{"own-native/elf/libgame-armv7thumb-dw5.so", 0, "game_entry", symbol.RankSymtab, "$t"},
		{"own-native/elf/libgame-arm64-dw5.so", 0, "game_entry", symbol.RankSymtab, "$x"},
		{"own-native/elf/libgame-riscv64-dw5.so", 0, "game_entry", symbol.RankSymtab, ".L"},
	} {
		t.Run(c.path, func(t *testing.T) {
			f := openFile(t, formattest.Fixture(t, c.path))
			all, err := f.Symbols(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for i, s := range all {
				if i > 0 && all[i-1].Addr > s.Addr {
					t.Fatalf("%s at %#x after %#x", s.Name, s.Addr, all[i-1].Addr)
				}
				if c.never != "" && strings.HasPrefix(s.Name, c.never) {
					t.Errorf("mapping symbol %s", s.Name)
				}
				if f.machine == machARM && s.Addr&1 != 0 {
					t.Errorf("Thumb bit in %s at %#x", s.Name, s.Addr)
				}
				found = found || (c.name == "" || s.Name == c.name) && s.Rank == c.rank
			}
			if !found {
				t.Errorf("no %q of rank %d among %d", c.name, c.rank, len(all))
			}
		})
	}
}
