package all

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/report"
)

const hotspotLog = "#  SIGSEGV (0xb) at pc=0x00007fcc66899a91, pid=6880, tid=6881\n#\n# Java VM: OpenJDK 64-Bit Server VM (11.0.22+9-LTS, mixed mode, g1 gc, linux-aarch64)\n# Problematic frame:\n# C  [libcart.so+0x4724]  crash+0x4\n#\n\n" +
	"Stack: [0x00007f2ea1c18000,0x00007f2ea1d19000],  sp=0x00007f2ea1d17590,  free space=1021k\nNative frames: (J=compiled Java code, j=interpreted, Vv=VM code)\n" +
	"C  [libcart.so+0x4724]  crash+0x4\nj  com.example.Cart.add(Ljava/lang/String;)V+0\nv  ~StubRoutines::call_stub\nV  [libjvm.so+0x8c4d20]  JavaCalls::call()+0x61  (javaCalls.cpp:12)\nC  0x00007f2fc581c190\nC  [+0x424]  vsyscall+0x10\n"

// The first native frame is where the thread stood, in the summary and in the list.
func TestHotspot(t *testing.T) {
	s := one(t, hotspotLog, report.Options{})
	var got []string
	for _, th := range s.Threads {
		for _, f := range th.Frames {
			got = append(got, fmt.Sprintf("%s %#x %#x", strings.Join(f.Image, ","), f.Raw, f.At.Value))
		}
	}
	want := []string{"libcart.so 0x4724 0x4724", "libcart.so 0x4724 0x4724", "libjvm.so 0x8c4d20 0x8c4d1c"}
	if diff := cmp.Diff(want, got); diff != "" || s.Format() != "hotspot" || s.Threads[0].Frames[0].Arch != "arm64" || len(s.Threads) != 2 {
		t.Error(s.Format(), diff, dump([]*report.Report{s}))
	}
}
