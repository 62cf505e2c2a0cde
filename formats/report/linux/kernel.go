package linux

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

var kernel = &report.Form{Name: "kernel", Frame0: report.Return, Kind: symbol.ELF,
	Lines: "nvme_scan_work+0x2c0/0x340 [nvme_core] of Linux's kernel; where the processor stood (RIP, pc) is exact"}

// findKernel reads a line of a trace that Linux's kernel prints: an oops, a warning, what KASAN
// found. The prefix of a log may stand before it:
//
//	[   16.338551]  nvme_scan_work+0x2c0/0x340 [nvme_core]
//	[   16.338551]  ? worker_thread+0x1f9/0x3d0
//	[   16.338551] RIP: 0010:nvme_validate_ns+0xc9/0x7e0 [nvme_core 9c0e…]
//	pc : do_work+0x10/0x90
//
// Its addresses are not printed: a place is the function's with an offset, which is a return
// address's (printk's %pB looks the function up one byte before, and prints the offset as it was)
// but for where the processor stood. bare: Options names the kernel's image.
func findKernel(b []byte, bare bool, f *report.Found) bool {
	plus, offset, end, ok := kernelOffset(b)
	if !ok {
		return false
	}
	start := plus
	for start > 0 && isKernelName(b[start-1]) {
		start--
	}
	if start == plus {
		return false
	}
	l := report.Place{Start: start, Tail: start, PC: offset, Space: symbol.Unslid, Function: b[start:plus]}
	for _, word := range kernelStood {
		if bytes.Contains(b[:start], word) {
			l.Values = report.Stepped
		}
	}
	if p := scan.SkipSpace(b, end); p > end && p < len(b) && b[p] == '[' {
		module, id, _ := bytes.Cut(b[p+1:], []byte{' '})
		if name, _, closed := bytes.Cut(module, []byte{']'}); closed {
			module, id = name, nil
		}
		if id, _, closed := bytes.Cut(id, []byte{']'}); closed && scan.IsHex(id) && len(id) >= 16 {
			l.BuildID = id
		}
		if len(module) == 0 || bytes.ContainsFunc(module, func(r rune) bool { return r > 0x7f || !isKernelName(byte(r)) && r != '-' }) {
			return false
		}
		l.Named, l.File = true, append(bytes.Clone(module), ".ko"...)
		*f = report.Found{Form: kernel, Number: -1, Room: report.FrameRoom, Place: l}
		return true
	}
	if !bare {
		l.Named, l.File = true, []byte("vmlinux")
	}
	*f = report.Found{Form: kernel, Number: -1, Room: report.FrameRoom, Place: l}
	return true
}

// kernelOffset finds "+0x2c0/0x340": where it begins, the offset, and where it ends.
func kernelOffset(b []byte) (plus int, offset uint64, end int, ok bool) {
	for {
		i := bytes.Index(b[plus:], []byte("+0x"))
		if i <= 0 {
			return 0, 0, 0, false
		}
		plus += i
		v, stop, ok := scan.Hex(b, plus+3)
		if ok && bytes.HasPrefix(b[stop:], []byte("/0x")) {
			if size, last, ok := scan.Hex(b, stop+3); ok && v <= size && (last == len(b) || scan.IsSpace(b[last])) {
				return plus, v, last, true
			}
		}
		plus += len("+0x")
	}
}

// kernelStood are the words before a function in which the processor stood, by its name for the counter.
var kernelStood = [...][]byte{[]byte("RIP: "), []byte("EIP: "), []byte("RIP  ["), []byte("EIP is at "), []byte("PC is at "), []byte("pc : "), []byte("epc : "), []byte("NIP ["), []byte("WARNING: ")}

func isKernelName(c byte) bool {
	return c == '_' || c == '.' || c == '$' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
