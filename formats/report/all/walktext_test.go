package all

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

const walkID = "3605900A74E7316CAE5BD3D3916D09000"

const walkReport = "Operating system: Linux\n                  6.8.0 #1 SMP x86_64\nCPU: amd64\n     4 CPUs\n\nCrash reason:  SIGSEGV /SEGV_MAPERR\nCrash address: 0x0\n\nThread 0 (crashed)\n" +
	" 0  libcart.so + 0x4724\n    rax = 0x0000000000000000   rdx = 0x0000000000000000\n    rip = 0x00007f55c4824724\n    Found by: given as instruction pointer in context\n" +
	" 1  libcart.so!old||(A) [old.cpp : 35 + 0x5]\n    rip = 0x00007f55c4824785\n    Found by: call frame info\n" +
	" 2  libcart.so + 0x4785\n    rip = 0x00007f55c4824785\n    Found by: stack scanning\n 3  libcart.so!gone + 0x3\n 4  0x7ffff\n\nThread 1\n 0  libraft.so + 0x724\n\n" +
	"Loaded modules:\n0x7f55c4820000 - 0x7f55c4825fff  libcart.so  ???  (main)  (WARNING: No symbols, libcart.so, " + walkID + ")\n0x7f3735efd000 - 0x7f3735ffffff  libraft.so  ???\n"

const walkLines = "OS|Linux|6.8.0 #1 SMP x86_64\nCPU|amd64|family 6|4\nGPU|||\nCrash|SIGSEGV|0x0|0\nModule|libcart.so||libcart.so|" + walkID + "|0x7f55c4820000|0x7f55c4825fff|1\n\n" +
	"0|0|libcart.so||||0x4724\n0|1|libcart.so|old|old.cpp|35|0x5\n0|2|libcart.so||||0x4785\n0|3|||||0x7ffff\n1|0|libcart.so||||0x724\n"

// Breakpad prints return addresses, its successor has stepped; the registers below say which it was.
func TestStackwalkText(t *testing.T) {
	const cart = walkID + ",libcart.so "
	rust := strings.NewReplacer("Thread 0 (crashed)", "Thread 0 cart (crashed) - tid: 77", "+ 0x4785", "+ 0x4784",
		" 1  libcart.so!old||(A) [old.cpp : 35 + 0x5]\n", " 1  libcart.so!in [a.h : 3]\n    Found by: inlining\n 2  libcart.so!old||(A) [old.cpp : 35 + 0x5]\n").Replace(walkReport)
	for _, c := range []struct {
		text, format string
		want         []string
	}{
		{walkReport, "stackwalk-text", []string{"0", cart + "0x7f55c4824724 0x4724 0", cart + "0x7f55c4824785 0x4784 0", cart + "0x7f55c4824785 0x4784 0", "1", "libraft.so 0x0 0x724 0"}},
		{"> " + strings.ReplaceAll(rust, "\n", "\n> "), "stackwalk-text", []string{"77", cart + "0x7f55c4824724 0x4724 0", cart + "0x7f55c4824785 0x4784 1", cart + "0x7f55c4824785 0x4784 0", "1", "libraft.so 0x0 0x724 0"}},
		{walkLines, "stackwalk-machine", []string{"0", cart + "0x0 0x4724 0", cart + "0x0 0x4784 0", "1", cart + "0x0 0x724 0"}},
	} {
		s := one(t, c.text, report.Options{})
		var got []string
		for _, th := range s.Threads {
			got = append(got, fmt.Sprint(th.ID))
			for _, f := range th.Frames {
				got = append(got, fmt.Sprintf("%s %#x %#x %d", strings.Join(f.Image, ","), f.Raw, f.At.Value, f.Layout.Above))
				if f.At.Space != symbol.Position || f.Kind != symbol.ELF || f.Arch != "x86_64" {
					t.Errorf("%+v", f)
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || s.Format() != c.format {
			t.Error(s.Format(), diff)
		}
	}
	found := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "in|ner", File: "/src/a.h", Line: 3}, {Function: "outer"}}}
	for text, want := range map[string]string{
		walkReport: strings.Replace(walkReport, "libcart.so + 0x4724\n", "libcart.so!in|ner [a.h : 3]\n    libcart.so!outer\n", 1),
		walkLines:  strings.Replace(walkLines, "0|0|libcart.so||||0x4724\n", "0|0|libcart.so|in/ner|/src/a.h|3|0x4724\n0|0|libcart.so|outer|||0x4724\n", 1),
	} {
		var out bytes.Buffer
		if err := report.Print(&out, one(t, text, report.Options{}), [][]symbol.Answer{{found}}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, out.String()); diff != "" {
			t.Error(diff)
		}
	}
}

// The crashed thread stands in its JSON twice.
func TestStackwalkCrashed(t *testing.T) {
	s := one(t, `{"modules":[{"filename":"libcart.so","debug_id":"`+walkID+`"}],"crashing_thread":{"threads_index":0,"frames":[{"module":"libcart.so","module_offset":"0x10","offset":"0x1010"}]},"threads":[{"frames":[{"module":"libcart.so","module_offset":"0x10","offset":"0x1010"}]}]}`, report.Options{})
	if len(s.Threads) != 2 || s.Threads[0].Frames[0].At.Value != 0x10 {
		t.Errorf("%s", dump([]*report.Report{s}))
	}
}
