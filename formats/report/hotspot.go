package report

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// parseHotspot reads a native frame of the log that a Java virtual machine writes when it crashes
// (hs_err_pid….log; print_C_frame of HotSpot's os and VMError), or of its summary:
//
//	C  [libcart.so+0x1f3a]  cart_add+0x1a
//	V  [libjvm.so+0x8c4d21]  JavaThread::run()+0x37d  (thread.cpp:1234)
//	# C  [libcart.so+0x1f3a]
//
// The offset counts from the image's beginning. The first of its native frames is where
// the thread stood.
func parseHotspot(b []byte) (line, bool) {
	p := scan.SkipSpace(b, 0)
	if bytes.HasPrefix(b[p:], []byte("# ")) {
		p = scan.SkipSpace(b, p+1)
	}
	if len(b) < p+6 || b[p] != 'C' && b[p] != 'V' || !bytes.HasPrefix(b[p+1:], []byte("  [")) {
		return line{}, false
	}
	l := line{family: hotspot, start: p, number: -1, space: symbol.Position}
	name, _, closed := bytes.Cut(b[p+4:], []byte{']'})
	plus := bytes.LastIndex(name, []byte("+0x"))
	if !closed || plus <= 0 {
		return line{}, false
	}
	v, end, ok := scan.Hex(name, plus+3)
	if !ok || end != len(name) {
		return line{}, false
	}
	l.pc, l.tail = v, p+len("C  ")
	setFile(&l, name[:plus])
	return l, true
}

// hotspotHeader reads what its log says above the frames.
func hotspotHeader(s string) (h header, ok bool) {
	for _, c := range hotspotArchs {
		if strings.Contains(s, c.system) {
			return header{fresh: true, arch: c.arch}, true
		}
	}
	return header{}, false
}

// hotspotArchs are the processors by what stands in the line of the virtual machine's version,
// behind the system's name.
var hotspotArchs = [...]struct{ system, arch string }{
	{"-amd64", "x86_64"}, {"-aarch64", "arm64"}, {"-x86", "x86"}, {"-arm", "arm"}, {"-riscv64", "riscv64"},
}
