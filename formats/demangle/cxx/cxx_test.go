package cxx

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ianlancetaylor/demangle"

	"github.com/symlake/symlake/formats/formattest"
)

const maxBytes = 64 << 10

// known are names of the common part, with what LLVM's demangler says.
var known = map[string]string{
	"_Z1fv":                                  "f()",
	"_Z1fiz":                                 "f(int, ...)",
	"_ZN4game6Engine4stepEi":                 "game::Engine::step(int)",
	"_ZNK4game6Engine6energyEPKNS_4Vec3E":    "game::Engine::energy(game::Vec3 const*) const",
	"_ZNO4game6Engine4moveEv":                "game::Engine::move() &&",
	"_ZN4game6EngineC2ERKS0_":                "game::Engine::Engine(game::Engine const&)",
	"_ZN4game6EngineD0Ev":                    "game::Engine::~Engine()",
	"_ZN4game6EngineC1IiEET_":                "game::Engine::Engine<int>(int)",
	"_ZNSt6vectorIiSaIiEE9push_backERKi":     "std::vector<int, std::allocator<int>>::push_back(int const&)",
	"_Z3maxIiET_S0_S0_":                      "int max<int>(int, int)",
	"_Z4makeIJicEEvDpOT_":                    "void make<int, char>(int&&, char&&)",
	"_Z4makeIJRiOcEEvDpOT_":                  "void make<int&, char&&>(int&, char&&)",
	"_Z4makeIJEEvDpOT_":                      "void make<>()",
	"_Z3runPFvPKcE":                          "run(void (*)(char const*))",
	"_Z3runPFPFviEcE":                        "run(void (* (*)(char))(int))",
	"_Z4pickIiEPFvT_EPS0_":                   "void (*pick<int>(int*))(int)",
	"_Z3runRA3_KcPA4_A5_i":                   "run(char const (&) [3], int (*) [4][5])",
	"_Z3runM4GameFviEMS_i":                   "run(void (Game::*)(int), int Game::*)",
	"_Z3sumILi3ELj4ELm5ELb1ELc65ELin7EEvv":   "void sum<3, 4u, 5ul, true, (char)65, -7>()",
	"_Z3sumIL4Kind3EEvv":                     "void sum<(Kind)3>()",
	"_ZZ4mainE5count":                        "main::count",
	"_ZZ4mainENKUlvE_clEv":                   "main::'lambda'()::operator()() const",
	"_ZZN1A1fEvENUliE0_4_FUNEi":              "A::f()::'lambda0'(int)::_FUN(int)",
	"_ZN12_GLOBAL__N_13runEv":                "(anonymous namespace)::run()",
	"_ZN1A1fB5cxx11Ev":                       "A::f[abi:cxx11]()",
	"_ZplRK4Vec3S1_":                         "operator+(Vec3 const&, Vec3 const&)",
	"_ZN1AnwEm":                              "A::operator new(unsigned long)",
	"_ZTV4Game":                              "vtable for Game",
	"_ZTSN4game6EngineE":                     "typeinfo name for game::Engine",
	"_ZThn16_N1A1fEv":                        "non-virtual thunk to A::f()",
	"_ZTv0_n24_N1A1fEv":                      "virtual thunk to A::f()",
	"_ZGVZ1fvE1x":                            "guard variable for f()::x",
	"_Z1fv.isra.0.cold":                      "f() (.isra.0.cold)",
	"_ZL5countv":                             "count()",
	"_ZNSaIiEC2Ev":                           "std::allocator<int>::allocator()",
	"_Z1fPFvvOE":                             "f(void (*)() &&)",
	"_Z1fI1AEvNT_1BE":                        "void f<A>(A::B)",
	"_Z1fDnDsDiDu":                           "f(std::nullptr_t, char16_t, char32_t, char8_t)",
	"_ZN1AcviEv":                             "A::operator int()",
	"_ZN1ACI21BEi":                           "A::A(int)",
	"_ZZ1fvENUlvE_D2Ev":                      "f()::'lambda'()::~()",
	"_ZN1AlsIiEEvv":                          "void A::operator<<<int>()",
	"_Z1fPDoFvvE":                            "f(void (*)() noexcept)",
	"_Z1fM1AKDoFvvRE":                        "f(void (A::*)() const & noexcept)",
	"_Z1fPVKi":                               "f(int const volatile*)",
	"_Z1fIKiEvRKT_":                          "void f<int const>(int const const&)",
	"_Z1fIXadL_Z1gvEEEvv":                    "void f<&g()>()",
	"_Z1fIXadsoKcL_ZL1gEEEEvv":               "void f<&g.<char const at offset 0>>()",
	"_Z1fIiEDTcl1gfp_EET_":                   "decltype(g(fp)) f<int>(int)",
	"_Z1fIiEDTmicldtfp_1gEfp0_ET_S1_":        "decltype(fp.g() - fp0) f<int>(int, int)",
	"_Z1fIJicEEDTcl1gspfp_EEDpT_":            "decltype(g(fp...)) f<int, char>(int, char)",
	"_Z1fIiEDaT_":                            "auto f<int>(int)",
	"_Z1fIiEDcT_":                            "decltype(auto) f<int>(int)",
	"_Z1fIiEN1AIXaant1BIT_ElestT_Li4EEE1CEv": "A<!B<int> && sizeof (int) <= 4>::C f<int>()",
	"_Z1fIiEN1AIXsr1BIT_EE1CEE1DEv":          "A<B<int>::C>::D f<int>()",
	"_Z1fI1BEN1AIXsrT_1CEE1DEv":              "A<B::C>::D f<B>()",
	"_Z1fIiEN1AIXsrNT_1BE1CEE1DEv":           "A<int::B::C>::D f<int>()",
	"_Z1fI1ATnN1BIT_E1CELi0EEvS2_":           "void f<A, 0>(A)",
	"_Z1fITk1CiEvT_":                         "void f<int>(int)",
	"_Z1fIJLi1ELi2EEEv1AIJXspT_EEE":          "void f<1, 2>(A<1, 2>)",
	"_Z1fIJicEEv1AIXsZT_EE":                  "void f<int, char>(A<sizeof...(int, char)>)",
	"_Z1fIiEDTixfp_mlplLi1ELi2ELi3EET_":      "decltype(fp[(1 + 2) * 3]) f<int>(int)",
	"_Z1fIiEDTsc1Atl1BLi1EEET_":              "decltype(static_cast<A>(B{1})) f<int>(int)",
	"_Z1fIiEDTcv1A_fp_Li1EEET_":              "decltype((A)(fp, 1)) f<int>(int)",
	"_Z1fIiEDTquLb1Engfp_Li2EET_":            "decltype(true ? -fp : 2) f<int>(int)",
	"_ZN1AIiE1fEu7__decayIiE":                "A<int>::f(__decay(int))",
	"_ZZ1fvENKUlT_E_clIiEEDaS_":              "auto f()::'lambda'(auto)::operator()<int>(auto) const",
	"_Z1fIDnLDn0EEvv":                        "void f<std::nullptr_t, nullptr>()",
	"_Z1fILPv0EEvv":                          "void f<(void*)0>()",
	"_Z1fIiEvT_Q1CIT_E":                      "void f<int>(int) requires C<T>",
	"_Z1fIiEvvQaa1CIT_E1DITL0__E":            "void f<int>() requires C<T> && D<TL0_>",
	"_Z1fIiQ1CIT_EEvT_":                      "void f<int>(int)",
	"_Z1fIiEvT_QrqXplfpK_Li1ERN1A1BEE":       "void f<int>(int) requires requires { {fp + 1} -> A::B; }",
	"_Z1fIiEvT_QrQT__Xntfp_E":                "void f<int>(int) requires requires (T) { !fp; }",
	"_Z1fIJicEEv1AIXfraaT_EE":                "void f<int, char>(A<((int, char) && ...)>)",
	"_Z1fIJicEEvDpT_QfraaspT_":               "void f<int, char>(int, char) requires ((T......) && ...)",
	"_Z1fIJicEEvDpT_Qfraa1CIT_E":             "void f<int, char>(int, char) requires ((C<T>...) && ...)",
	"_Z1fIJicEEvDpT_QfLplLi1ET_":             "void f<int, char>(int, char) requires (1 + ... + (T...))",
	"_Z1fIJicEEvDpT_QfRplT_plLi1ELi2E":       "void f<int, char>(int, char) requires ((T...) + ... + (1 + 2))",
	"_Z1fIJicEEvDpT_QflplT_":                 "void f<int, char>(int, char) requires (... + (T...))",
	"_ZZ1fvENKUlT_Q1CIT_EE_clIiEEDaS_":       "auto f()::'lambda'(auto) requires C<T>::operator()<int>(auto) const",
	"_Z1fIiEN1AIXgs1BIT_EEE1DEv":             "A<::B<int>>::D f<int>()",
	"_Z1fIJicEEv1AIXsPiDpT_EEE":              "void f<int, char>(A<sizeof... (int, int, char)>)",
	"_Z1fPU3addi":                            "f(int add*)",
	"_Z1fILi3EEvRAT__Kc":                     "void f<3>(char const (&) [3])",
	"_Z1fILi3EEvRAplT_Li1E_c":                "void f<3>(char (&) [3 + 1])",
	"_Z1fIiEvT_QrqX1CIT_ENR1DIiEE.isra.0":    "void f<int>(int) requires requires { {C<T>} noexcept -> D<int>; } (.isra.0)",
	"_ZZ1fvEN1A1gIiEEDaiPT_":                 "auto f()::A::g<int>(int, int*)",
	"_ZN1A1hIZZ1fvEN1B1gIiEEvPT_EUlvE_EEvT_": "void A::h<void f()::B::g<int>(int*)::'lambda'()>(void f()::B::g<int>(int*)::'lambda'())",
	"_ZN1A9operatorsC1Ev":                    "A::operators::operators()",
	"_Z1fITk1CIT0_EiTk1DIT_ELi3EEvT_":        "void f<int, 3>(int)",
	"_Z1fITk1CIT_EiTpTkS0_IS1_EJcEEvRKS1_":   "void f<int, char>(int const&)",
	"_ZN1AIcE1gITk1CIT0_EilEEvT_T0_S3_":      "void A<char>::g<int, long>(int, long, long)",
	"_ZZ1fvENUlRT_E_C2ERKS1_":                "f()::'lambda'(auto&)::('lambda'(auto&) const&)",
}

func TestName(t *testing.T) {
	d := new(Demangler)
	for name, want := range known {
		got, ok := d.Name(name, maxBytes)
		if !ok || got != want {
			t.Errorf("%s: %q, %v, want %q", name, got, ok, want)
		}
	}
	// Names outside the common part, and texts that are no names.
	for _, name := range []string{"", "_Z", "main", "_ZN", "_ZN1A", "_ZN1AE.", "_Z5f", "_Z01fv", "_ZN1AcvT_IiEEv", "_Z1fIXgtLi1ELi2EEEvv", "_Z1fIiEDTcmfp_fp_ET_",
		"_ZNSsC1Ev", "_Z1fS_", "_Z1fT_", "_Z1fvv", "_Z1fiv", "_ZN1ACIE1BEv", "_Z1fIXfLplT_EEEvv", "_Z1fIiEDTsr1A", "_Z1fIiEvT0_", "_ZZ1fvEs", "_Z1fPDwiEFvvE", "_Z1fIJTniRiEEvDpOT_", "_Z1fv garbage", "_Z1fIiEvT_QrqXfpNT1AQ1CIT_EE", "_Z1fIiEvT_QrqXfpNE", "_Z1fIiEvT_QrQicPT__XlefpL0_Li1EE", "_Z1fIiEN1AIXgssr1BIT_E1CEE1DEv", "_Z1fITk1CIT0_EiS1_EvT_", "_Z1fITk1CIPT_ES2_EvS2_", "_Z1fITk1CIT0_EiEvS1_", "_Z1fI1AITk1CIT_EiEEvS4_", "_Z1fIiEvT_QrqE", "_Z1fIiEvT_Qrq", "_Z1fIJicEEvDpT_QfxplT_", "_Z1fIJicEEvDpT_QfrplT", "_Z1fIJicEEvDpT_QfrcmT_", "_ZN1A1hIZZ1fvEN1B1gIiEEvPT_EUlvE_EEvS3_", "_ZN1A1hIZZ1fvEN1B1gIiEEvPT_EUlvE_EEvS4_", "_Z1fIiEv1AIiQ1CIT_EvE",
		"_Z1fv.", "_RNvC1a1b"} {
		if got, ok := d.Name(name, maxBytes); ok {
			t.Errorf("%q became %q", name, got)
		}
	}
}

// damaged gives names made of the known ones and pieces of others, and what
// becomes of them with a byte changed: the same in every run.
func damaged(n int) []string {
	from := make([]string, 0, len(known))
	for name := range known {
		from = append(from, name)
	}
	slices.Sort(from)
	pieces := strings.Fields("RKT_ DpOT_ JiiE IJiEE ILi1EE Lb1E PFvvE PKc A3_i RA3_Kc M1AFvvE T_ T0_ S_ S0_ Sa Ss SaIcE Dn OT_ St6vectorIiSaIiEE UlvE_ UliE0_ PFPvS_E VKi KPVKc KFvvE XadL_Z1fvEE XplLi1ET_E XsrT_1bE Xsr1AIT_EE1bE XspT_E DTcl1gfp_EE DTptfp0_onplE TnT_ Tni cvT_ cvi CI2S_ CI21A Da DoFvvE u1aIT_E TpTy N1A1BE ZN1A1fEvE1b 1fIiE C1Ev D2Ev B5cxx11 pl ls .isra.0 E_0 E__12_ j z v KA2_i ROi RRi OOi PT_ FT_vE E Q1CIT_E QrqXplfpK_Li1ER1AQ1CIT_EE QrQT__Xntfp_NT1AE Q1fraaT_ fLplLi1ET_ sPiDpT_E gs1B gssr1A1BE U3add RAT__Kc Tk1CIT0_E DaPT_ ENK1A1gIiEEDaT_")
	const letters = "ABCDEFIJKLMNOPRSTUVXZabcdefghijklmnpqrstuvwxyz0123456789_"
	seed := uint64(1)
	random := func(n int) int {
		seed = seed*6364136223846793005 + 1442695040888963407
		return int((seed >> 33) % uint64(n))
	}
	names := make([]string, n)
	for i := range names {
		name := from[random(len(from))]
		for range 1 + random(2) {
			at := 2 + random(len(name)-1)
			switch random(4) {
			case 0:
				name = name[:at] + letters[random(len(letters)):][:1] + name[min(at+1, len(name)):]
			case 1:
				name = name[:at] + from[random(len(from))][2:]
			default:
				name = name[:at] + pieces[random(len(pieces))] + name[at:]
			}
		}
		names[i] = name
	}
	return names
}

// TestLLVM asks LLVM's demangler about the known names and 100,000 damaged ones: where both answer, it says the same. Of a
// local function's template parameters it knows nothing, nor of those behind a constraint; such names are answered here, and
// binutils or the Go library reads nearly all of them.
func TestLLVM(t *testing.T) {
	names := damaged(100_000)
	for name := range known {
		names = append(names, name)
	}
	want := filter(t, formattest.Tool(t, "llvm-cxxfilt-19", "apt-get install llvm-19"), names)
	d := new(Demangler)
	answered, read, differ, silent := 0, 0, 0, 0
	var alone []string
	for i, name := range names {
		if want[i] != name {
			read++
		}
		got, ok := d.Name(name, maxBytes)
		switch {
		case !ok:
			continue
		case want[i] == name:
			alone = append(alone, name)
		case got != want[i]:
			if differ++; differ <= 10 {
				t.Logf("%s\n got %s\nwant %s", name, got, want[i])
			}
		}
		answered++
	}
	for i, got := range filter(t, formattest.Tool(t, "c++filt", "apt-get install binutils"), alone) {
		if got == alone[i] {
			if _, err := demangle.ToString(got); err != nil {
				silent++
			}
		}
	}
	t.Logf("%d names, LLVM reads %d, %d are answered, %d of them not by LLVM, %d by nobody else, %d differ", len(names), read, answered, len(alone), silent, differ)
	if differ > 5 || answered < read/2 || silent > len(alone)/5 {
		t.Errorf("of %d names LLVM reads %d, %d are answered, %d of them not by LLVM, %d by nobody else, %d differ", len(names), read, answered, len(alone), silent, differ)
	}
}

// filter is what a program that demangles lines says of names.
func filter(t *testing.T, program string, names []string) []string {
	cmd := exec.Command(program)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(answers) != len(names) {
		t.Fatalf("%d answers to %d names", len(answers), len(names))
	}
	return answers
}

// TestBounds: names that would cost memory or time are not known, soon.
func TestBounds(t *testing.T) {
	d := new(Demangler)
	double := "_Z1f1aIiE"
	for range 40 {
		double += "S_IS0_S0_E"
	}
	pairs := "_Z1f" + strings.Repeat("St4pairIS_S0_E", 30)
	for i := range 30 {
		pairs += "PFS" + string(rune('A'+i%20)) + "_S" + string(rune('A'+i%20)) + "_E"
	}
	for what, name := range map[string]string{
		"pointers":  "_Z1f" + strings.Repeat("P", 30000) + "i",
		"locals":    "_Z" + strings.Repeat("Z", 8000) + "1fv" + strings.Repeat("E1g", 8000),
		"templates": "_Z1f" + strings.Repeat("1AI", 8000) + "i" + strings.Repeat("E", 8000),
		"packs":     "_Z1fI" + strings.Repeat("J", 8000) + strings.Repeat("E", 8000) + "Evv",
		"expanded":  "_Z1fIJ" + strings.Repeat("i", 2000) + "EEv" + strings.Repeat("DpT_", 2000),
		"empty":     "_Z1fIJEEv" + strings.Repeat("DpT_", 8000),
		"functions": "_Z1f" + strings.Repeat("F", 8000) + "i" + strings.Repeat("vE", 8000),
		"lambdas":   "_ZN" + strings.Repeat("UlN", 8000) + "v",
		"double":    double,
		"pairs":     pairs,
		"nested":    "_ZN" + strings.Repeat("1a", 15000) + "Ev",
		"members":   "_Z1f" + strings.Repeat("M1A", 8000) + "i",
	} {
		start := time.Now()
		got, _ := d.Name(name, maxBytes)
		if took := time.Since(start); len(got) > maxBytes || took > formattest.Patience {
			t.Errorf("%s: %d bytes, %v", what, len(got), took)
		}
	}
}

func FuzzName(f *testing.F) {
	for name := range known {
		f.Add(name)
	}
	d := new(Demangler)
	f.Fuzz(func(t *testing.T, name string) {
		start := time.Now()
		got, ok := d.Name(name, maxBytes)
		if took := time.Since(start); took > formattest.Patience || len(got) > maxBytes {
			t.Fatalf("%q became %d bytes, took %v", name, len(got), took)
		}
		if again, known := new(Demangler).Name(name, maxBytes); again != got || known != ok {
			t.Fatalf("%q became %q, then %q", name, got, again)
		}
	})
}
