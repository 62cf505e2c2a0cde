package elffile

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

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

// compile makes an object of C with clang; -ffunction-sections gives each
// function a section of its own.
func compile(t *testing.T, text string, flags ...string) string {
	t.Helper()
	clang := formattest.Tool(t, "clang++-19", "apt-get install clang-19")
	dir := t.TempDir()
	src, obj := filepath.Join(dir, "a.cpp"), filepath.Join(dir, "a.o")
	if err := os.WriteFile(src, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, clang, append([]string{"-c", "-O1", "-ffreestanding", src, "-o", obj}, flags...)...)
	return obj
}

// TestLayout: each code section of an object has a place of its own, at its
// alignment, and symbols and anchors move with it.
func TestLayout(t *testing.T) {
	obj := compile(t, `extern "C" { int f(int a) { return a; }
__attribute__((aligned(64))) int g(int a) { return a * 3; } int h(int a) { return a - f(a); } int data = 1; }`,
		"--target=x86_64-linux-gnu", "-ffunction-sections")
	f := openFile(t, obj)
	code, err := f.Code()
	if err != nil {
		t.Fatal(err)
	}
	syms, err := f.Symbols(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]uint64{}
	for _, s := range syms {
		at[s.Name] = s.Addr
	}
	anchors := f.Anchors()
	if len(code) != 3 || len(at) != 3 || at["g"]%64 != 0 || at["g"] == 0 || at["h"] <= at["g"] || at["f"] != 0 {
		t.Errorf("code %v, symbols %v", code, at)
	}
	for _, name := range []string{"f", "g", "h"} {
		if anchors[".text."+name] != at[name] {
			t.Errorf("%s at %#x, its section at %#x", name, at[name], anchors[".text."+name])
		}
	}
	for i := 1; i < len(code); i++ {
		if code[i].Start < code[i-1].End {
			t.Errorf("code overlaps: %v", code)
		}
	}
}

// TestManySections: a file with more sections than its header has room to
// count. Its symbols need the extended table to name theirs.
func TestManySections(t *testing.T) {
	const n = 0xff00 + 100
	var text strings.Builder
	for i := range n {
		text.WriteString(".section .text.f" + strconv.Itoa(i) + ",\"ax\",@progbits\n.type f" + strconv.Itoa(i) + ",@function\nf" + strconv.Itoa(i) + ": ret\n.size f" + strconv.Itoa(i) + ", .-f" + strconv.Itoa(i) + "\n")
	}
	clang := formattest.Tool(t, "clang-19", "apt-get install clang-19")
	src := filepath.Join(t.TempDir(), "a.s")
	if err := os.WriteFile(src, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, clang, "--target=x86_64-linux-gnu", "-c", src, "-o", src+".o")
	f := openFile(t, src+".o")
	syms, err := f.Symbols(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(f.headers) < n || len(syms) != n {
		t.Fatalf("%d sections, %d symbols, want %d", len(f.headers), len(syms), n)
	}
	for i, s := range syms {
		if s.Name != "f"+strconv.Itoa(i) || s.Size != 1 {
			t.Fatalf("symbol %d is %+v", i, s)
		}
	}
}

func TestUnversioned(t *testing.T) {
	for name, want := range map[string]string{
		"f": "f", "f@V_1.2": "f", "f@@V_1.2": "f", "f@": "f", "@f": "@f", "f@plt": "f", "f@@lib-a.so.1": "f",
		"*Cart@Store#add<Int32>:Nil":    "*Cart@Store#add<Int32>:Nil",
		"*Cart@Store::new:Cart":         "*Cart@Store::new:Cart",
		"~procProc(Nil)@src/cart.cr:42": "~procProc(Nil)@src/cart.cr:42",
	} {
		if got := unversioned(name); got != want {
			t.Errorf("unversioned(%q) = %q, want %q", name, got, want)
		}
	}
}
