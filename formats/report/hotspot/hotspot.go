// Package hotspot reads the log of a Java virtual machine's own crash.
package hotspot

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Dialect reads the native frames of a Java virtual machine's log of its own crash.
var Dialect = report.Dialect{
	Name:  "hotspot",
	Forms: []*report.Form{hotspot},
	Lines: func(*report.Builder) report.Lines {
		return report.Lines{
			Find:   func(l *report.Line, f *report.Found) bool { return l.HasAddress() && findHotspot(l.Text, f) },
			Header: hotspotHeader,
		}
	},
}

var hotspot = &report.Form{Name: "hotspot", Frame0: report.Exact,
	Lines: "C  [libcart.so+0x1f3a]  cart_add+0x1a below Native frames: of a Java virtual machine's hs_err log"}

// findHotspot reads a native frame of the log that a Java virtual machine writes when it crashes
// (hs_err_pid….log; print_C_frame of HotSpot's os and VMError), or of its summary:
//
//	C  [libcart.so+0x1f3a]  cart_add+0x1a
//	V  [libjvm.so+0x8c4d21]  JavaThread::run()+0x37d  (thread.cpp:1234)
//	# C  [libcart.so+0x1f3a]
//
// The offset counts from the image's beginning. The first of its native frames is where
// the thread stood.
func findHotspot(b []byte, f *report.Found) bool {
	p := scan.SkipSpace(b, 0)
	if bytes.HasPrefix(b[p:], []byte("# ")) {
		p = scan.SkipSpace(b, p+1)
	}
	if len(b) < p+6 || b[p] != 'C' && b[p] != 'V' || !bytes.HasPrefix(b[p+1:], []byte("  [")) {
		return false
	}
	l := report.Place{Start: p, Space: symbol.Position}
	name, _, closed := bytes.Cut(b[p+4:], []byte{']'})
	plus := bytes.LastIndex(name, []byte("+0x"))
	if !closed || plus <= 0 {
		return false
	}
	v, end, ok := scan.Hex(name, plus+3)
	if !ok || end != len(name) {
		return false
	}
	l.PC, l.Tail = v, p+len("C  ")
	l.SetFile(name[:plus])
	*f = report.Found{Form: hotspot, Number: -1, Room: report.FrameRoom, Place: l}
	return true
}

var (
	machineLine = []byte("# Java VM: ")
	framesBelow = []byte("Native frames: ")
)

// hotspotHeader reads the lines of the log above the frames.
func hotspotHeader(l *report.Line, h *report.Header) bool {
	machine := bytes.Contains(l.Text, machineLine)
	if !machine && !bytes.Contains(l.Text, framesBelow) {
		return false
	}
	text := l.Text[l.Prefix():]
	if bytes.HasPrefix(text, framesBelow) {
		*h = report.Header{Thread: true}
		return true
	}
	if !bytes.HasPrefix(text, machineLine) {
		return false
	}
	for _, c := range hotspotArchs {
		if strings.Contains(string(text), c.system) {
			*h = report.Header{Begins: report.BeginsLate, Arch: c.arch}
			return true
		}
	}
	return false
}

// hotspotArchs are the processors by what stands in the line of the virtual machine's version,
// behind the system's name.
var hotspotArchs = [...]struct{ system, arch string }{
	{"-amd64", "x86_64"}, {"-aarch64", "arm64"}, {"-x86", "x86"}, {"-arm", "arm"}, {"-riscv64", "riscv64"},
}
