package msvc

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/symlake/symlake/formats/formattest"
)

const maxBytes = 64 << 10

// namesVariable names a file with one name a line, which TestOracle asks llvm-undname about too.
const namesVariable = "SYMLAKE_MSVC_NAMES"

// answer is a name with both forms of LLVM, "" of a name that it does not read.
type answer struct{ name, full, frame string }

// answers reads what testdata/msvc/names.sh records.
func answers(t testing.TB) []answer {
	t.Helper()
	data, err := os.ReadFile(formattest.Testdata(t, "msvc/answers.tsv.zst"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var list []answer
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		cells := strings.Split(lines.Text(), "\t")
		if len(cells) != 3 {
			t.Fatalf("%d cells in %q", len(cells), lines.Text())
		}
		list = append(list, answer{cells[0], cells[1], cells[2]})
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

func (d *Demangler) of(name string, f Form) string {
	text, _ := d.Name(name, f, maxBytes)
	return text
}

// TestAnswers compares with what LLVM says of the names that clang made of our source.
func TestAnswers(t *testing.T) {
	t.Parallel()
	d := new(Demangler)
	list := answers(t)
	for _, a := range list {
		if got := d.of(a.name, Full); got != a.full {
			t.Errorf("%s:\n got %s\nwant %s", a.name, got, a.full)
		}
		if got := d.of(a.name, Frame); got != a.frame && !unbalanced(a.frame) {
			t.Errorf("%s:\n got %s\nwant %s", a.name, got, a.frame)
		}
		if text, ok := d.Append([]byte("x "), a.name, Full, maxBytes); !ok || string(text) != "x "+a.full {
			t.Errorf("%s: appended %q", a.name, text)
		}
	}
	if len(list) < 500 {
		t.Errorf("%d names", len(list))
	}
}

// unbalanced reports whether LLVM 19 has left out the second half of a function that a function returns. Its later versions write
// it, as this package does.
func unbalanced(text string) bool { return strings.Count(text, "(") != strings.Count(text, ")") }

// TestForms: names in their three forms, and what the fixtures have none of.
func TestForms(t *testing.T) {
	t.Parallel()
	d := new(Demangler)
	for _, c := range []struct{ name, full, frame, bare string }{
		{"?f@@YAXXZ", "void __cdecl f(void)", "f(void)", "f"},
		{"?f@@YAXXZ.llvm.7", "void __cdecl f(void) (.llvm.7)", "f(void) (.llvm.7)", "f (.llvm.7)"},
		{"?f@@YAXXZ::<!shop>", "void __cdecl f(void)", "f(void)", "f"},
		{"?x@@3HA", "int x", "int x", "x"},
		{"?x@A@@2HA", "public: static int A::x", "int A::x", "A::x"},
		{"??0?$box@H@shop@@QEAA@XZ", "public: __cdecl shop::box<int>::box<int>(void)", "shop::box<int>::box<int>(void)", "shop::box::box"},
		{"??$max@V?$box@H@@@shop@@YA?AV?$box@H@@V1@0@Z", "class box<int> __cdecl shop::max<class box<int>>(class box<int>, class box<int>)",
			"shop::max<class box<int>>(class box<int>, class box<int>)", "shop::max"},
		{"??R<lambda_1>@?1??f@shop@@YAXH@Z@QEBA@XZ", "public: __cdecl `void __cdecl shop::f(int)'::`2'::<lambda_1>::operator()(void) const",
			"`void __cdecl shop::f(int)'::`2'::<lambda_1>::operator()(void) const", "shop::f::<lambda_1>::operator()"},
		{"?f@?A0x12345678@@YAXXZ", "void __cdecl `anonymous namespace'::f(void)", "`anonymous namespace'::f(void)", "`anonymous namespace'::f"},
		{"?f@A@@W7EAAXXZ", "[thunk]: public: virtual void __cdecl A::f`adjustor{8}'(void)", "[thunk]: A::f`adjustor{8}'(void)", "A::f"},
		{"?f@@YA?A_PXZ", "auto __cdecl f(void)", "f(void)", "f"},
		{"??_C@_03LHFKIMBL@abc?$AA@", `"abc"`, `"abc"`, `"abc"`},
		{"??@a6a285da2eea70dba6b578022be61d81@", "??@a6a285da2eea70dba6b578022be61d81@", "??@a6a285da2eea70dba6b578022be61d81@", "??@a6a285da2eea70dba6b578022be61d81@"},
		{"??@a6a285da2eea70dba6b578022be61d81@??_R4@", "??@a6a285da2eea70dba6b578022be61d81@??_R4@", "??@a6a285da2eea70dba6b578022be61d81@??_R4@", "??@a6a285da2eea70dba6b578022be61d81@??_R4@"},
		{".?AV?$box@H@shop@@", "class shop::box<int> `RTTI Type Descriptor Name'", "class shop::box<int> `RTTI Type Descriptor Name'", "class shop::box `RTTI Type Descriptor Name'"},
		{"??BA@@QEAAHXZ", "public: int __cdecl A::operator int(void)", "A::operator int(void)", "A::operator int"},
	} {
		for f, want := range map[Form]string{Full: c.full, Frame: c.frame, Bare: c.bare} {
			if got := d.of(c.name, f); got != want {
				t.Errorf("%s, form %d:\n got %s\nwant %s", c.name, f, got, want)
			}
		}
	}
	for _, in := range []string{"", "?", "??", "???", "?f", "?f@", "?f@@", "?f@@Y", "?f@@YA", "?f@@YAX", "?f@@YAXX", "?f@@YAXXZx", "?f@@YAXXZ.", "?f@@YAX0@Z", "?f@1@YAXXZ", "??0@QEAA@XZ", "??_P@@YAXXZ", "?x@@3", "?x@@3H",
		"??BA@@3HA", "??_C@_0", "??_C@_10A@A@", "??_7A@@6", "?what is it?", ".?AV", ".?AVA", "_f", "?f@@YA_X", "?f@@YAXPAY@", "?x@?0?", "?x@?0?@", "?x@?BA@?f"} {
		if got, ok := d.Name(in, Frame, maxBytes); ok {
			t.Errorf("%q became %q", in, got)
		}
	}
}

// undname returns what llvm-undname says of names, "" of each that it does not read.
func undname(t *testing.T, names []string, flags ...string) []string {
	t.Helper()
	cmd := exec.Command(formattest.Tool(t, "llvm-undname-19", "apt-get install llvm-19"), flags...)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, _ := cmd.Output() // it fails if one name is none
	lines := strings.Split(string(out), "\n")
	texts := make([]string, len(names))
	for i, name := range names {
		if len(lines) < 2 || lines[0] != name {
			t.Fatalf("it says %q of %s", lines[0], name)
		}
		texts[i] = lines[1]
		if lines = lines[2:]; texts[i] != "" {
			lines = lines[1:]
		}
	}
	return texts
}

// TestOracle asks llvm-undname about the fixtures' names, and about the names in a file.
func TestOracle(t *testing.T) {
	t.Parallel()
	var names []string
	for _, a := range answers(t) {
		names = append(names, a.name)
	}
	if file := os.Getenv(namesVariable); file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range strings.Fields(string(data)) {
			if Is(name) {
				names = append(names, name)
			}
		}
	}
	d := new(Demangler)
	for form, flags := range map[Form][]string{Full: nil, Frame: {"--no-access-specifier", "--no-calling-convention", "--no-return-type", "--no-member-type"}} {
		var same, neither, more, fewer, differ int
		for i, want := range undname(t, names, flags...) {
			switch got := d.of(names[i], form); {
			case got == want && want == "":
				neither++
			case got == want || unbalanced(want) && !unbalanced(got):
				same++
			case want == "":
				more++
			case got == "":
				t.Logf("not read: %s: %s", names[i], want)
				fewer++
			default:
				t.Logf("%s:\n got %s\nwant %s", names[i], got, want)
				differ++
			}
		}
		t.Logf("form %d: %d names, %d equal, %d that neither reads, %d that LLVM alone reads, %d that it does not read, %d differ", form, len(names), same, neither, fewer, more, differ)
		if fewer+differ > max(2, len(names)/2000) {
			t.Errorf("form %d: too many differ", form)
		}
	}
}

// TestMore: names in which LLVM's later versions say more, and C++/CX, which LLVM does not read.
func TestMore(t *testing.T) {
	t.Parallel()
	d := new(Demangler)
	for name, want := range map[string]string{
		"?f@@YAXP6AP6AXXZPEAX@Z@Z": "f(void (__cdecl * (__cdecl *)(void *))(void))",
		"?CreateValue@Details@Platform@@YAPE$AAVObject@2@W4TypeCode@2@PEBX@Z": "Platform::Details::CreateValue(enum Platform::TypeCode, void const *)",
		"?f@A@@QE$AAAXPE$AAVB@@AE$AAV2@@Z":                                    "A::f(class B ^, class B %)",
		"??_7A@@6BB@@C@@@":                                                    "const A::`vftable'{for `B's `C'}",
	} {
		if got := d.of(name, Frame); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

// TestUndecorated: what 32-bit images add to names of C.
func TestUndecorated(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"_main": "_main", "_f@8": "f", "@f@8": "f", "f@@16": "f", "__f@0": "_f", "?f@@YAXXZ": "?f@@YAXXZ",
		"": "", "_": "_", "@": "@", "f": "f", "f@x": "f@x", "@f": "@f", "_@8": "_@8", "@@8": "@@8", "a@b@8": "a@b@8", "f@8": "f@8", "_f@": "_f@", "__Z1fi@4": "_Z1fi",
	} {
		if got := Undecorated(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestReuse: a demangler that read a name, whole or not, reads the next as a new one does.
func TestReuse(t *testing.T) {
	t.Parallel()
	d := new(Demangler)
	list := answers(t)
	for i, a := range list {
		for _, cut := range []int{len(a.name) / 3, len(a.name) / 2, len(a.name) - 1} {
			d.of(a.name[:cut], Form(i%3))
		}
		if got := d.of(a.name, Full); got != a.full {
			t.Errorf("%s: %s, want %s", a.name, got, a.full)
		}
	}
}

func FuzzName(f *testing.F) {
	for i, a := range answers(f) {
		if i%5 == 0 {
			f.Add(a.name)
		}
	}
	d := new(Demangler)
	f.Fuzz(func(t *testing.T, name string) {
		for _, form := range []Form{Frame, Full, Bare} {
			text, ok := d.Name(name, form, maxBytes)
			again, known := new(Demangler).Name(name, form, maxBytes)
			if text != again || ok != known || len(text) > maxBytes {
				t.Fatalf("%q: %q, then %q", name, text, again)
			}
		}
		Undecorated(name)
	})
}

func BenchmarkName(b *testing.B) {
	list := answers(b)
	size := 0
	for _, a := range list {
		size += len(a.name)
	}
	b.SetBytes(int64(size))
	d := new(Demangler)
	var out []byte
	for b.Loop() {
		for _, a := range list {
			out, _ = d.Append(out[:0], a.name, Frame, maxBytes)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(list)), "ns/name")
}
