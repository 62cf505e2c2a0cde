package linux

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

var (
	// Sanitizers step before they print.
	sanitizer = &report.Form{Name: "sanitizer", Frame0: report.Stepped, Kind: symbol.ELF,
		Lines: "#0 0x55a4bce  (/system/lib64/libcart.so+0x25bce), #1 f(int) cart.cc:8 (libcart.so+0x25bce)"}
	llvm = &report.Form{Name: "llvm", Frame0: report.Return,
		Lines: "#0 0x00007f5c5d5f5f3a f(int) (/usr/lib/libcart.so+0x1f3a) of LLVM's own handler, addresses of 16 digits"}
	coredump = &report.Form{Name: "coredump", Frame0: report.Exact, Kind: symbol.ELF,
		Lines: "#0  0x00007f5c5d5f5f3a f (libcart.so + 0x1f3a) of systemd-coredump, below Stack trace of thread 12"}
)

// findNumbered reads the numbered lines of [parseSanitizer] and [parseThreadSanitizer].
func findNumbered(b []byte, f *report.Found) bool {
	last, number, behind := report.Place{}, 0, -1 // of the last number before no address: logs of builds number their steps too
	barren := false                               // no group of the line names a place
	for from := 0; ; {
		start, n, p, ok := scan.Numbered(b, from)
		if !ok {
			break
		}
		from = start + 1
		l := report.Place{Start: start}
		if !bytes.HasPrefix(b[p:], scan.HexMark) {
			last, number, behind = l, n, p
			continue
		}
		if barren {
			continue
		}
		if form, ok := parseSanitizer(&l, b, p); ok {
			*f = report.Found{Form: form, Number: n, Room: report.FrameRoom, Place: l}
			return true
		}
		barren = true
	}
	if behind < 0 || !parseThreadSanitizer(&last, b, behind) {
		return false
	}
	*f = report.Found{Form: sanitizer, Number: number, Room: report.FrameRoom, Place: last}
	return true
}

// parseSanitizer reads what stands behind a number, and at p begins with an address:
//
//	0x7b24d90a08 [in FUNCTION …] (IMAGE+0xOFF) [(BuildId: …)]   sanitizers
//	0x00007f5c5d5f5f3a FUNCTION (IMAGE+0xOFF)                   LLVM's own handler
//	0x00007f5c5d5f5f3a FUNCTION (IMAGE + 0xOFF)                 systemd-coredump
//
// The offset counts from the load bias, so it is an address of the file; in
// the last form from the image's beginning.
func parseSanitizer(l *report.Place, b []byte, p int) (*report.Form, bool) {
	_, end, ok := scan.Hex(b, p+2)
	if !ok {
		return nil, false
	}
	if _, ok = parsePlaced(l, b, end); !ok {
		return nil, false
	}
	switch {
	case l.Space == symbol.Position:
		return coredump, true
	case end-(p+2) == 16: // LLVM pads addresses to their full width, sanitizers to 12 digits at most
		return llvm, true
	}
	return sanitizer, true
}

// parseThreadSanitizer reads what ThreadSanitizer prints behind the number, which is no
// address: "FUNCTION FILE:LINE:COLUMN (IMAGE+0xOFF) [(BuildId: …)]". Nothing may follow.
func parseThreadSanitizer(l *report.Place, b []byte, p int) bool {
	if !bytes.Contains(b[p:], []byte("+0x")) {
		return false
	}
	end, ok := parsePlaced(l, b, p)
	if !ok || l.Space == symbol.Position {
		return false
	}
	rest := bytes.TrimSpace(b[end:])
	return len(rest) == 0 || bytes.HasPrefix(rest, []byte("(BuildId: ")) && bytes.IndexByte(rest, ')') == len(rest)-1
}

// parsePlaced finds " (IMAGE+0xOFF)" or " (IMAGE + 0xOFF)" from p on, and reads it and the
// groups behind it; end is where the first group ends.
func parsePlaced(l *report.Place, b []byte, p int) (end int, ok bool) {
	for {
		i := bytes.IndexByte(b[p:], ')')
		if i < 0 {
			return 0, false
		}
		end = p + i
		before := end // where the group's own path may begin at the latest
		if bytes.HasSuffix(b[p:end+1], report.Deleted) {
			before -= len(report.Deleted) - 1
			if i = bytes.IndexByte(b[end+1:], ')'); i >= 0 {
				end += 1 + i
			}
		}
		open := bytes.LastIndex(b[p:before], []byte(" ("))
		if open < 0 {
			p = end + 1
			continue
		}
		open += p + 2
		group := b[open:end]
		end++
		p = end
		plus := bytes.LastIndexByte(group, '+')
		if plus <= 0 {
			continue
		}
		space, path, at := symbol.Unslid, group[:plus], plus+1
		if path[plus-1] == ' ' {
			space, path, at = symbol.Position, path[:plus-1], scan.SkipSpace(group, at)
		}
		if len(path) == 0 || !bytes.HasPrefix(group[at:], scan.HexMark) {
			continue
		}
		pc, stop, ok := scan.Hex(group, at+2)
		if !ok || stop != len(group) {
			continue
		}
		l.PC, l.Space, l.Tail = pc, space, open-1
		l.SetFile(path)
		l.Groups(b[end:])
		nameApple(l)
		return end, true
	}
}

// nameApple reads what sanitizers print on Apple's systems: "libcart.dylib:arm64e" as the image, and
// as its build-id the UUID with 16 bytes of the next load command.
func nameApple(l *report.Place) {
	colon := bytes.LastIndexByte(l.File, ':')
	if colon <= 0 {
		return
	}
	arch := report.AppleArch(string(l.File[colon+1:]))
	if arch == "" {
		return
	}
	l.File, l.Arch, l.Kind = l.File[:colon], arch, symbol.MachO
	if len(l.BuildID) == 64 {
		l.BuildID = l.BuildID[:32]
	}
}
