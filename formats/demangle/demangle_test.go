package demangle

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

func TestName(t *testing.T) {
	var d Demangler
	for in, want := range map[string]string{
		"_ZN4game6Engine4stepEi":     "game::Engine::step(int)",
		"__ZN4game6Engine4stepEi":    "game::Engine::step(int)",
		"_ZN4game5crashEPVii.isra.0": "game::crash(int volatile*, int) (.isra.0)",
		"_Z1fv.part.0.cold":          "f() (.part.0.cold)",
		"_ZNSt3__14swapIPtEENS_9enable_ifIXaasr21is_move_constructibleIT_EE5valuesr18is_move_assignableIS3_EE5valueEvE4typeERS3_S6_": "std::__1::enable_if<is_move_constructible<unsigned short*>::value && is_move_assignable<unsigned short*>::value, void>::type std::__1::swap<unsigned short*>(unsigned short*&, unsigned short*&)",
		"_ZN16RawAccessBarrierILm64EE13load_internalILm64EaEEN8EnableIfIXsr12HasDecoratorIXT_ELm64EE5valueET0_E4typeEPv":             "RawAccessBarrier<64ul>::load_internal<64ul, signed char>",
		"_ZN3std2fs11OpenOptions5_open17h005de3b10d8796e4E.llvm.12":                                                                  "std::fs::OpenOptions::_open (.llvm.12)",
		"_ZN1A1fEv.isra.7.part.8":                     "A::f() (.isra.7.part.8)",
		"_Z1fv.llvm.1234567890":                       "f() (.llvm.1234567890)",
		"___Z4mainv_block_invoke":                     "invocation function for block in main()",
		"____Z4mainv_block_invoke":                    "invocation function for block in main()",
		"_RNvC6_123foo3bar":                           "123foo::bar",
		"__RNvC6_123foo3bar":                          "123foo::bar",
		"_RNvNtCs1234_7mycrate3foo3bar.llvm.9D1C9369": "mycrate::foo::bar (.llvm.9D1C9369)",
		"_ZN3foo3bar17h05af221e174051e9E":             "foo::bar",
		"?f@@YAXXZ":                                   "f(void)",
		"?f@@YAXXZ.llvm.7":                            "f(void) (.llvm.7)",
		"?total@Cart@shop@@QEBAHAEBV?$vector@HV?$allocator@H@std@@@std@@@Z": "shop::Cart::total(class std::vector<int, class std::allocator<int>> const &) const",
		".?AVCart@shop@@":  "class shop::Cart `RTTI Type Descriptor Name'",
		"$s4main3fooyyF":   "main.foo() -> ()",
		"_$s4main3fooyyF":  "main.foo() -> ()",
		"__$s4main3fooyyF": "main.foo() -> ()",
		"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE": "<Test + 'static as foo::Bar<Test>>::bar",
	} {
		if got := Name(in); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
		if got := string(d.Append([]byte("x]"), in)); got != "x]"+want {
			t.Errorf("%s: appended %q, want %q", in, got, want)
		}
	}
	for _, in := range []string{"", "_", "main", "_Z", "_ZN", "_R", "_RenderBox.layout", "_D8demangle4testFaZv", "$s4main3fooyyQ", "_TypedList.length", "?f@@YAXX", "?", "??", "what?", ".?", ".?AV", "_ZTotally wrong", "-[Cart addItem:]", "_Z\x00", "Z1fv"} {
		if got := Name(in); got != in {
			t.Errorf("%q became %q", in, got)
		}
		if got := string(d.Append(nil, in)); got != in {
			t.Errorf("%q: appended %q", in, got)
		}
	}
}

// TestBombs: names that would cost memory or time come back as they are, soon.
func TestBombs(t *testing.T) {
	double := "_Z1f1aIiE"
	for range 40 {
		double += "S_IS0_S0_E"
	}
	long := "_Z1f" + strings.Repeat("St4pairIS_S0_E", 30)
	for range 30 {
		long += "St4pairIS1_S2_ESt4pairIS3_S4_ESt4pairIS5_S6_E"
	}
	for name, in := range map[string]string{
		"too long":   "_Z1f" + strings.Repeat("i", MaxMangledBytes),
		"pointers":   "_Z1f" + strings.Repeat("P", 30000) + "i",
		"constants":  "_Z1f" + strings.Repeat("PK", 15000) + "i",
		"locals":     "_Z" + strings.Repeat("Z", 8000) + "1fv" + strings.Repeat("E1g", 8000),
		"literals":   strings.Repeat("_Z1fIXadL", 2000) + "_Z1gv" + strings.Repeat("EEEvv", 2000),
		"templates":  "_Z1f" + strings.Repeat("1AI", 8000) + "i" + strings.Repeat("E", 8000),
		"operators":  "_Z1fIX" + strings.Repeat("ad", 15000) + "L_Z1gvEEEvv",
		"double":     double,
		"pairs":      long,
		"microsoft":  "?f@@YAX" + strings.Repeat("V?$A@", 6000) + strings.Repeat("@", 6000) + "@Z",
		"backs":      "?f@@YAXP6AX" + strings.Repeat("P6AX00000000000000@Z", 1000) + "@Z@Z",
		"references": "_RIC1a" + strings.Repeat("R", 32000) + "aE",
		"backrefs":   "_RIC1aTaaE" + strings.Repeat("TB5_B5_E", 1000) + "E",
	} {
		start := time.Now()
		if got := Name(in); got != in && len(got) >= MaxBytes {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		// It takes tenths of a second: the aim is to tell that from minutes, on any host.
		if d := time.Since(start); d > formattest.Patience {
			t.Errorf("%s: %v for %d bytes", name, d, len(in))
		}
	}
}

// TestOracle compares with llvm-cxxfilt on every linkage name of the fixtures'
// goldens. LLVM takes names of Rust's legacy mangling for C++: for those, the
// oracle is c++filt of binutils, which knows them, but for the hash at their end.
func TestOracle(t *testing.T) {
	hash := regexp.MustCompile(`::h[0-9a-f]{16}`)
	names := fixtureNames(t)
	llvm := filter(t, formattest.Tool(t, "llvm-cxxfilt-19", "apt-get install llvm-19"), names)
	gnu := filter(t, formattest.Tool(t, "c++filt", "apt-get install binutils"), names)
	var mangled, legacy, differ int
	for i, name := range names {
		if _, of := strip(name); of == swifts {
			continue // LLVM does not know them
		}
		want := llvm[i]
		if isLegacyRust(name) {
			legacy++
			want = hash.ReplaceAllString(gnu[i], "")
		}
		got := Name(name)
		if want != name || got != name {
			mangled++
		}
		if got == want {
			continue
		}
		differ++
		if want == name {
			continue // LLVM does not read it: forms of GCC 4 and 5
		}
		if !slices.ContainsFunc(exceptions, func(e exception) bool { return e.name.MatchString(name) }) {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
	if differ > 19 {
		t.Errorf("%d names differ, 19 did", differ)
	}
	t.Logf("%d names, %d of them mangled, %d of Rust's legacy mangling; %d differ", len(names), mangled, legacy, differ)
	if mangled < 1000 || legacy < 100 {
		t.Errorf("too few names to tell")
	}
}

// TestGoldens compares with what llvm-symbolizer recorded.
func TestGoldens(t *testing.T) {
	recorded := map[string]string{}
	golden(t, formattest.Testdata(t, "elf"), recorded)
	if len(recorded) < 10 {
		t.Fatalf("%d names", len(recorded))
	}
	for linkage, want := range recorded {
		if want == "" {
			want = linkage
		}
		if got := Name(linkage); got != want {
			t.Errorf("%s: %q, want %q", linkage, got, want)
		}
	}
}

// exception is a kind of names on which the library and LLVM differ.
type exception struct {
	name *regexp.Regexp
	why  string
}

var exceptions = []exception{
	{regexp.MustCompile(`^_ZN7patch_tC[12]I.*PKT_`), "LLVM prints a function type's qualifier before its declarator, with two spaces"},
	{regexp.MustCompile(`DTcl12_S_constructfp_fp0_spcl7forward`), "the library prints parentheses around an expanded pack"},
	{regexp.MustCompile(`^_ZNSt3__1(4swap|6vector)I.*sr(21is_move_constructible|21__is_forward_iterator)I\w+E`), "parameters are left out, see miscounts"},
}

func isLegacyRust(name string) bool {
	i := strings.LastIndex(name, "17h")
	return strings.HasPrefix(name, "_ZN") && i > 0 && len(name) >= i+20 && name[i+19] == 'E'
}

func fixtureNames(t *testing.T) []string {
	recorded := map[string]string{}
	golden(t, formattest.Fixture(t, "."), recorded)
	return slices.Sorted(maps.Keys(recorded))
}

// golden adds the names of all goldens below root with their demangled forms.
func golden(t *testing.T, root string, to map[string]string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".golden.json") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var g struct {
			Cases []struct {
				Frames []struct{ Linkage, Demangled string }
			}
		}
		if json.Unmarshal(data, &g) != nil {
			return nil // a golden of another shape: source maps have no linkage names
		}
		for _, c := range g.Cases {
			for _, f := range c.Frames {
				if f.Linkage != "" && !strings.ContainsAny(f.Linkage, "\n") {
					to[f.Linkage] = f.Demangled
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// filter gives each name's demangled form by an outside program.
func filter(t *testing.T, program string, names []string) []string {
	// The programs look for names inside a line; alone in it, text that is no
	// name passes.
	cmd := exec.Command(program)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(bytes.TrimRight(out, "\n")), "\n")
	if len(lines) != len(names) {
		t.Fatalf("%s: %d lines for %d names", program, len(lines), len(names))
	}
	return lines
}

func FuzzName(f *testing.F) {
	for _, seed := range []string{"_ZN4game6Engine4stepEi", "_Z1fv.part.0.cold", "___Z4mainv_block_invoke_2", "_RNvC6_123foo3bar", "_RINvNtC3std3mem8align_ofdE",
		"_ZN3foo3bar17h05af221e174051e9E", "_ZZN4game6Engine4stepEiENK3$_0clEi", "_Z1fIXadL_Z1gvEEEvv", "__ZNcvT_IiEEv"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := Name(name)
		if mangled, _ := strip(name); got != name && (mangled == "" || len(got) >= MaxBytes) {
			t.Fatalf("%q became %d bytes, %.100q", name, len(got), got)
		}
		if again := Name(name); again != got {
			t.Fatalf("%q became %q, then %q", name, got, again)
		}
	})
}

// The rest of a name that was cut is no mangled name.
func TestCutNames(t *testing.T) {
	for _, name := range []string{"_ZN1a" + strings.Repeat("1b", 40000) + "E1cv", "_R" + strings.Repeat("Nv", 40000), "$s4main3fooyyF" + strings.Repeat("_", 80000)} {
		if cut := symbol.CutName(name); Name(cut) != cut || NewCache(0).Name(cut) != cut || string(new(Demangler).Append(nil, cut)) != cut {
			t.Errorf("%.40s is demangled", cut)
		}
	}
	// The mark alone makes it no mangled name: its beginning may be one.
	whole := "_Z1fv"
	if cut := symbol.CutName(whole + strings.Repeat(".part", 20000)); Name(cut) != cut {
		t.Error(Name(cut)[:40])
	}
}
