package group

import (
	"errors"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/demangle"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// TestOf: the numbers are durable, because users compare stored ones with new ones. printf 'a\nb\n' | sha256sum makes
// them.
func TestOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		want  string
		names []string
	}{
		{"", nil},
		{"2:911169ddaaf146af", []string{"a", "b"}},
		{"2:86dc03602dcf3852", []string{"a", "b", "c", "d", "e"}},
		{"2:86dc03602dcf3852", []string{"a", "b", "c", "d", "e", "f"}},
	} {
		if got := Of(c.names); got != c.want {
			t.Errorf("%v: %s, want %s", c.names, got, c.want)
		}
	}
}

// TestStack: a group rests on the application's frames alone, and is there once they are final.
func TestStack(t *testing.T) {
	t.Parallel()
	type frame struct{ file, functions string } // "": its artifact is not stored
	const libc, app = "/apex/com.android.runtime/lib64/bionic/libc.so", "/data/app/shop/lib/arm64/libcart.so"
	ab := Of([]string{"a", "b"})
	for name, c := range map[string]struct {
		want   string
		frames []frame
	}{
		"all found":                        {ab, []frame{{app, "a"}, {app, "b"}}},
		"a was inlined into b":             {ab, []frame{{app, "a b"}}},
		"parts and copies":                 {ab, []frame{{app, "a.cold"}, {app, "b.isra.0.part.1"}}},
		"a calls itself":                   {ab, []frame{{app, "a"}, {app, "a a"}, {app, "b"}}},
		"the system's do not count":        {ab, []frame{{libc, "abort"}, {app, "a"}, {libc, "qsort"}, {app, "b"}}},
		"nor do a language's":              {ab, []frame{{app, "_ZNSt6vectorIiSaIiEE2atEm a"}, {app, "b"}}},
		"nor need they be final":           {ab, []frame{{libc, ""}, {app, "a"}, {app, "b"}, {libc, ""}}},
		"one of the application's is not":  {"", []frame{{app, "a"}, {app, ""}, {app, "b"}}},
		"one behind the last that counts":  {Of([]string{"a", "b", "c", "d", "e"}), []frame{{app, "a"}, {app, "b c"}, {app, "d"}, {app, "e"}, {app, ""}}},
		"the system's alone":               {Of([]string{"qsort"}), []frame{{libc, "qsort"}}},
		"the system's alone and not final": {"", []frame{{libc, "qsort"}, {libc, ""}}},
		"nothing":                          {"", nil},
	} {
		var s Stack
		var n Namer
		for _, f := range c.frames {
			a := symbol.Answer{Status: symbol.Found}
			for _, linkage := range strings.Fields(f.functions) {
				a.Frames = append(a.Frames, symbol.Frame{Linkage: linkage, Function: demangle.Name(linkage)})
			}
			if f.functions == "" {
				a = symbol.Answer{Status: symbol.NoArtifact, Err: errors.New("unknown")}
			}
			s.Add(&n, &report.Frame{File: f.file}, &a, a.Status == symbol.Found)
		}
		if got := s.Group(); got != c.want {
			t.Errorf("%s: group %q, want %q", name, got, c.want)
		}
	}
}

// TestNativeNames names symbols as several compilers and options have them.
func TestNativeNames(t *testing.T) {
	t.Parallel()
	for linkage, want := range map[string]string{
		"_ZN3foo3barEv":                         "foo::bar",
		"_ZN3foo3barEv.cold":                    "foo::bar",
		"_ZN3foo3barEv.cold.1":                  "foo::bar",
		"_ZN3foo3barEi.__part.3":                "foo::bar",
		"_ZN3foo3barEv.llvm.12345678":           "foo::bar",
		"_ZN3foo3barEv.isra.0.constprop.1":      "foo::bar",
		"_ZN3foo3barEv.__uniq.123.llvm.4":       "foo::bar",
		"_ZN3foo3barEv.avx2.0":                  "foo::bar",
		"_ZN3foo3barEv._omp_fn.0":               "foo::bar",
		"_ZL6helperv.lto_priv.0":                "helper",
		"helper.part.0":                         "helper",
		"helper.1234":                           "helper",
		"helper.omp_outlined_debug__":           "helper",
		"_ZThn16_N3foo3barEv":                   "foo::bar",
		"_ZN3fooC1Ev":                           "foo::foo",
		"_ZN3fooC2Ev":                           "foo::foo",
		"_ZN3fooD0Ev":                           "foo::~foo",
		"_ZN12_GLOBAL__N_13fooEv":               "foo",
		"_Z3addIiET_S0_S0_":                     "add",
		"_ZNK3foocvbEv":                         "foo::operator bool",
		"_ZN3foolsEi":                           "foo::operator<<",
		"_ZN3fooclEi":                           "foo::operator()",
		"_ZN3foocvT_IiEEv":                      "foo::operator int",
		"_ZN3fooB5cxx11Ev":                      "foo",
		"_ZZN4game6Engine4stepEiENK3$_0clEv":    "step::{lambda}",
		"_ZZN4game6Engine4stepEiENKUlvE_clEv":   "step::{lambda}",
		"_ZZN4game6Engine4stepEiENKUliE1_clEi":  "step::{lambda}",
		"___ZN3foo3barEv_block_invoke_2":        "foo::bar {block}",
		"__45-[Cart add:to:]_block_invoke_2":    "-[Cart add:to:] {block}",
		"__45-[Cart add:to:]_block_invoke":      "-[Cart add:to:] {block}",
		"-[Cart add:to:].cold.1":                "-[Cart add:to:]",
		"_ZN4shop4cart3add17h0123456789abcdefE": "cart::add",
		"_ZN4shop4cart28_$u7b$$u7b$closure$u7d$$u7d$17h0123456789abcdefE": "cart::{closure}",
		"_RNCNvC4shop4main0B3_":                                  "main::{closure}",
		"_RINvNtC4shop4cart3addlEB4_":                            "cart::add",
		"$s4shop4CartV5totalSiyF":                                "shop.Cart.total",
		"$s4shop4CartV5totalSiyFTm":                              "shop.Cart.total",
		"$s4shop4CartV5totalSiyFTf4d_n":                          "shop.Cart.total",
		"$s4shop4CartV5total5itemsSiSaySiG_tKF":                  "shop.Cart.total",
		"$s4shop4CartV5totalSiyYaFTQ0_":                          "shop.Cart.total",
		"$s4shop4CartV1xSivg":                                    "shop.Cart.x.getter",
		"$s4shop3fooyxxlFSi_Tg5":                                 "shop.foo",
		"$s4shop3runyyFyycfU_":                                   "{closure} in shop.run",
		"$s4shop3runyyFyycfU_TA":                                 "",
		"$s4shop4CartVAA1PA2aDP1fyyFTW":                          "",
		"main":                                                   "main",
		"?total@Cart@shop@@QEBAHH@Z":                             "Cart::total",
		"?total@Cart@shop@@QEBAHH@Z.llvm.12":                     "Cart::total",
		"??0Cart@shop@@QEAA@XZ":                                  "Cart::Cart",
		"??_GCart@shop@@UEAAPEAXI@Z":                             "",
		"??$add@V?$box@H@@@shop@@YAXV?$box@H@@@Z":                "shop::add",
		"?foo@?A0x12345678@@YAXXZ":                               "foo",
		"?bar@foo@@W7EAAXXZ":                                     "foo::bar",
		"??R<lambda_1>@?1??step@Engine@game@@QEAAXH@Z@QEBA@H@Z":  "step::{lambda}",
		"??R<lambda_0123456789abcdef0123456789abcdef>@@QEBA@H@Z": "{lambda}",
		"??__Ecarts@shop@@YAXXZ":                                 "",
		"??@a6a285da2eea70dba6b578022be61d81@":                   "??@a6a285da2eea70dba6b578022be61d81@",
	} {
		var n Namer
		if got, _ := n.Name(nil, &symbol.Frame{Linkage: linkage, Function: demangle.Name(linkage)}); got != want {
			t.Errorf("%s (%s) is %q, want %q", linkage, demangle.Name(linkage), got, want)
		}
	}
}

// TestReadableNames names functions that come without linkage names.
func TestReadableNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"<shop::Cart as core::ops::drop::Drop>::drop":                "<shop::Cart as core::ops::drop::Drop>::drop",
		"<shop::Cart<T> as core::fmt::Display>::fmt":                 "<shop::Cart as core::fmt::Display>::fmt",
		"core::ptr::drop_in_place<std::rt::lang_start<()>>":          "ptr::drop_in_place",
		"<shop::Cart>::total":                                        "Cart::total",
		"<shop::Held<i32>>::open":                                    "Held::open",
		"shop::Cart::add::<i32>":                                     "Cart::add",
		"std::map<int, char (*)(int)>::at(int const&) const":         "map::at",
		"foo::<lambda_0123456789abcdef>::operator()(int) const":      "foo::operator()",
		"run::(anonymous struct)::operator()":                        "run::{lambda}",
		"shop::unit::(anonymous namespace)::hidden":                  "unit::hidden",
		"game::run()::{lambda(int)#2}::operator()(int) const":        "run::{lambda}",
		"unsigned long long shop::sum<int>(std::vector<int> const&)": "shop::sum",
		"operator new(unsigned long)":                                "operator new",
		"foo(int) [clone .cold]":                                     "foo",
	} {
		if got := lastScopes(nativeName(name)); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for name, want := range map[string]string{
		"main.(*Cart).Add":         "main.(*Cart).Add",
		"main.(*Cart).Add.func1.2": "main.(*Cart).Add.{func}",
		"main.Sum[go.shape.int]":   "main.Sum",
		"main.run.gowrap1":         "main.run.{func}",
	} {
		if got := goName(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestManagedNames names methods as javac, kotlinc and R8 leave them.
func TestManagedNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"shop.Cart.pay":                                      "shop.Cart.pay",
		"shop.Cart$1.run":                                    "shop.Cart$.run",
		"shop.Cart$2.run":                                    "shop.Cart$.run",
		"shop.Cart$Item.total":                               "shop.Cart$Item.total",
		"shop.Cart.lambda$pay$0":                             "shop.Cart.pay{lambda}",
		"shop.Cart.lambda$pay$12":                            "shop.Cart.pay{lambda}",
		"shop.Cart.pay$lambda$3":                             "shop.Cart.pay{lambda}",
		"shop.Cart.pay$lambda-1":                             "shop.Cart.pay{lambda}",
		"shop.Cart$pay$2.invoke":                             "shop.Cart.pay{lambda}",
		"shop.Cart$pay$2.invokeSuspend":                      "shop.Cart.pay{lambda}",
		"shop.Cart$$Lambda$12/0x0000000840064c40.run":        "",
		"shop.Cart$$Lambda/0x0000000840064c40.run":           "",
		"shop.-$$Lambda$Cart$abcdef.run":                     "",
		"shop.Cart$$ExternalSyntheticLambda0.run":            "",
		"shop.Cart.$r8$lambda$abc":                           "",
		"shop.Cart.access$000":                               "",
		"shop.Cart.access$getTotal$p":                        "",
		"shop.Cart.pay$default":                              "shop.Cart.pay",
		"shop.Cart.pay$app_release":                          "shop.Cart.pay",
		"shop.Cart.pay$app_debug":                            "shop.Cart.pay",
		"shop.ComposableSingletons$MyScreenKt$lambda-1$1.go": "shop.ComposableSingletons$MyScreenKt$lambda$.go",
	} {
		if got := managedName(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

// TestScriptNames names functions as engines and maps have them.
func TestScriptNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ function, file, want string }{
		{"price", "../src/shop.ts", "shop.ts:price"},
		{"Cart.price", "webpack:///./src/shop.ts?ab12", "shop.ts:price"},
		{"async Cart.price [as total]", "src/shop.ts", "shop.ts:price"},
		{"new Cart", "src/shop.ts", "shop.ts:Cart"},
		{"Object.<anonymous>", "src/shop.ts", "shop.ts:"},
		{"", "src/shop.ts", "shop.ts:"},
		{"price/<", "src/shop.ts", "shop.ts:price"},
	} {
		if got := scriptName(c.function, c.file); got != c.want {
			t.Errorf("%s in %s is %q, want %q", c.function, c.file, got, c.want)
		}
	}
	// An engine's name, where the map has none, is another in each build.
	kept := symbol.Frame{Function: "t.exports", Linkage: "<anonymous>", File: "src/shop.ts"}
	if name, _ := new(Namer).Name(nil, &kept); name != "shop.ts:" {
		t.Errorf("%+v is %q", kept, name)
	}
	if ofBundler("src/shop.ts") || !ofBundler("../node_modules/a/b.js") || !ofBundler("webpack://shop/webpack/runtime/chunk.js") {
		t.Error("packages are not told from the application")
	}
}

// FuzzName names anything: no name makes a namer panic, and a name does not change if it is named again.
func FuzzName(f *testing.F) {
	for _, s := range []string{"game::run()::{lambda(int)#2}::operator()(int) const", "<shop::Cart as core::fmt::Display>::fmt", "closure #1 () -> () in shop.run() -> ()", "shop.Cart$1.run", "f.isra.0", "operator<", "'a", "{", "(", "$_"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var n Namer
		for _, linkage := range []string{"", s, "_Z1fv", "$s1f", "_R1f"} {
			for _, file := range []string{"", "a.go", "a.ts", "a.dart"} {
				name, own := n.Name(nil, &symbol.Frame{Function: s, Linkage: linkage, File: file})
				if again, ownAgain := n.Name(nil, &symbol.Frame{Function: s, Linkage: linkage, File: file}); again != name || ownAgain != own {
					t.Errorf("%q, then %q", name, again)
				}
				if len(name) > 8*len(s)+64 {
					t.Errorf("a name of %d bytes of %d", len(name), len(s))
				}
			}
		}
		managedName(s)
	})
}
