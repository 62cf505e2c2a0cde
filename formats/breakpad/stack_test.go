package breakpad

import (
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/symbol"
)

// unwound returns the call frame information of a file, a line a range, and how many records are damaged.
func unwound(t *testing.T, text string) (rows string, broken uint32) {
	t.Helper()
	obj := formattest.Open(t, &Format, formattest.InputOf("x.sym", []byte(text), formats.Limits{}))
	a := &obj.Artifacts[0]
	q, err := a.Unwind(t.Context(), func(*symbol.Unwind) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	return formattest.UnwindOf(t, &Format, a).String(), q.UnitsBroken
}

// Rules of a function change from record to record, and damage costs the rest of one function.
func TestStackCFI(t *testing.T) {
	got, broken := unwound(t, `MODULE Linux x86_64 000102030405060708090A0B0C0D0E0F0 x
FUNC 1000 1000 0 f
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 16 + $rbp: .cfa -16 + ^
STACK CFI 1004 $xmm6: .cfa -40 + ^ .cfa: $rbp 16 +
STACK CFI INIT 1030 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1031 .cfa: $nix 16 +
STACK CFI 1034 .cfa: $rbp 16 +
STACK CFI INIT 1040 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 103f .cfa: $rbp 16 +
STACK CFI INIT zz
STACK CFI INIT 1050 10 .cfa: $rsp 8 + .ra: .undef
STACK CFI
STACK NIX
`)
	const want = `1000-1001 .cfa: $rsp 8 + .ra: .cfa -8 + ^
1001-1004 .cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^
1004-1020 .cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^
1030-1031 .cfa: $rsp 8 + .ra: .cfa -8 + ^
1050-1060 .cfa: $rsp 8 + .ra: .undef
`
	if got != want || broken != 5 {
		t.Errorf("%d broken\n%swant\n%s", broken, got, want)
	}
}

// The inner of two records counts, and frame data before FPO.
func TestStackWIN(t *testing.T) {
	got, broken := unwound(t, `MODULE windows x86 000102030405060708090A0B0C0D0E0F1 x.pdb
FUNC 1000 1000 0 f
STACK WIN 4 1000 50 5 0 8 c 10 0 1 $T0 .raSearch =
STACK WIN 4 1003 4d 2 0 8 c 10 0 1 $T0 $ebp 4 + =
STACK WIN 4 1005 10 0 0 8 c 10 0 1 $T0 $ebp 8 + =
STACK WIN 0 1000 60 5 0 8 4 10 0 0 1
STACK WIN 0 1060 10 5 0 8 4 10 0 0 0
STACK WIN 3 1070 10 5 0 8 4 10 0 0 0
STACK WIN 4 1080 10 5 0 8
`)
	const want = `1000-1003 params 8 saved 12 locals 16 $T0 .raSearch =
1003-1005 params 8 saved 12 locals 16 $T0 $ebp 4 + =
1005-1015 params 8 saved 12 locals 16 $T0 $ebp 8 + =
1015-1050 params 8 saved 12 locals 16 $T0 $ebp 4 + =
1050-1060 params 8 saved 4 locals 16 ` + `
1060-1070 params 8 saved 4 locals 16 ` + `
`
	if got != want || broken != 2 {
		t.Errorf("%d broken\n%swant\n%s", broken, got, want)
	}
}

// Deep nesting takes time by the number of records.
func TestStackNests(t *testing.T) {
	var b strings.Builder
	b.WriteString("MODULE windows x86 000102030405060708090A0B0C0D0E0F1 x.pdb\nFUNC 1000 100000 0 f\n")
	for i := range 49999 {
		b.WriteString("STACK WIN 0 " + strconv.FormatInt(int64(0x1000+i), 16) + " " + strconv.FormatInt(int64(100000-2*i), 16) + " 0 0 8 4 " + strconv.Itoa(i%9) + " 0 0 0\n")
	}
	if got, broken := unwound(t, b.String()); got == "" || broken != 0 {
		t.Errorf("%d broken", broken)
	}
}
