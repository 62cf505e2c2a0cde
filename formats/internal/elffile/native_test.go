package elffile

import (
	"bytes"
	"context"
	"debug/elf"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
)

func openFile(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(formattest.Input(t, path))
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
	p := filepath.Join(formattest.GOROOT(t), "src", "debug", filepath.FromSlash(name))
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
				debug := strings.HasPrefix(plainName(s.Name), ".debug_") || s.Name == ".eh_frame"
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
				f.Order.PutUint32(word, uint32(at))
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

func contents(t *testing.T, f *File, name string) []byte {
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
func functions(t *testing.T, f *File) map[string]uint64 {
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
