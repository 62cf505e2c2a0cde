package swift

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
	"github.com/symlake/symlake/formats/symbol"
)

// swiftText reads what Swift's own runtime prints of a crash, from 5.9 on, on Linux and macOS
// (BacktraceFormatter.swift of its standard library): threads, then the images that they mention.
var swiftText = report.Document{Begins: swiftBegins, Follow: followSwift, Read: readSwift}

var programCrashed = []byte("Program crashed: ")

func swiftBegins(b []byte) bool {
	if i := bytes.Index(b, programCrashed); i >= 0 {
		return i < 16 // "*** ", a bomb, colors
	}
	_, crashed, ok := parseSwiftThread(scan.TrimEnd(b))
	return ok && crashed
}

// parseSwiftThread reads "Thread 0 crashed:", `Thread 1 "worker" crashed:` and `Thread 2 "pool":`.
func parseSwiftThread(b []byte) (t crash.MarkedThread, crashed, ok bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(b, " \t"), []byte("Thread "))
	if !ok {
		return t, false, false
	}
	n, end, ok := scan.Digits(rest, 0)
	rest, colon := bytes.CutSuffix(bytes.TrimRight(rest[end:], " \t"), []byte{':'})
	if !ok || !colon {
		return t, false, false
	}
	t.ID = uint64(n)
	rest, crashed = bytes.CutSuffix(rest, []byte(" crashed"))
	t.Crashed = crashed
	rest = bytes.TrimLeft(rest, " ")
	if len(rest) == 0 {
		return t, crashed, true
	}
	if len(rest) < 2 || rest[0] != '"' || rest[len(rest)-1] != '"' {
		return t, false, false
	}
	t.Name = string(rest[1 : len(rest)-1])
	return t, crashed, true
}

// parseSwiftFrame reads
//
//	 0               0x000055e8f46101ab f(_:) + 12 in shop at /src/main.swift:12:11
//	 3 [ra] [inlined] 0x000055e8f4561e85 g() in shop at //<compiler-generated>
//	19 [ra]          0x00007fc183a2a1ca <unknown> in libc.so.6
//	 4 [async]       0x000055e8f45c0100
func parseSwiftFrame(b []byte) (f crash.MarkedFrame, ok bool) {
	start := scan.SkipSpace(b, 0)
	_, p, ok := scan.Digits(b, start)
	if !ok {
		return f, false
	}
	for p = scan.SkipSpace(b, p); p < len(b) && b[p] == '['; p = scan.SkipSpace(b, p) {
		mark, _, closed := bytes.Cut(b[p+1:], []byte{']'})
		if !closed {
			return f, false
		}
		switch string(mark) {
		case "ra":
			f.Kind = max(f.Kind, crash.Return)
		case "inlined":
			f.Kind = crash.Inlined
		}
		p += len(mark) + 2
	}
	if !bytes.HasPrefix(b[p:], scan.HexMark) {
		return f, false
	}
	addr, end, ok := scan.Hex(b, p+2)
	if !ok || end-p < 10 || end < len(b) && !scan.IsSpace(b[end]) {
		return f, false
	}
	f.Addr, f.Span = addr, [2]int{start, len(bytes.TrimRight(b, " \t"))}
	f.Indent = min(scan.SkipSpace(b, end), f.Span[1]) - start
	rest := b[start+f.Indent : f.Span[1]]
	if at := bytes.LastIndex(rest, []byte(" at ")); at >= 0 {
		rest = rest[:at]
	}
	if in := bytes.LastIndex(rest, []byte(" in ")); in >= 0 {
		f.Image = string(rest[in+len(" in "):])
	}
	return f, true
}

// parseSwiftImage reads "0x000055e8f43ce000–0x000055e8f46f16d8 8619e777… shop /home/u/shop". The end is the text's.
func parseSwiftImage(b []byte) (img crash.Image, ok bool) {
	p := scan.SkipSpace(b, 0)
	if !bytes.HasPrefix(b[p:], scan.HexMark) {
		return img, false
	}
	img.Start, p, ok = scan.Hex(b, p+2)
	rest, dash := bytes.CutPrefix(b[p:], []byte("\u2013"))
	if !ok || !dash || !bytes.HasPrefix(rest, scan.HexMark) {
		return img, false
	}
	img.End, p, ok = scan.Hex(rest, 2)
	if !ok || img.End < img.Start || p == len(rest) || !scan.IsSpace(rest[p]) {
		return img, false
	}
	rest = bytes.TrimSpace(rest[p:])
	if none, found := bytes.CutPrefix(rest, []byte("<no build ID>")); found {
		rest = bytes.TrimSpace(none)
	} else if id, name, found := bytes.Cut(rest, []byte{' '}); found && scan.IsHex(id) {
		img.UUID, rest = string(bytes.ToLower(id)), bytes.TrimSpace(name)
	}
	if slash := bytes.Index(rest, []byte(" /")); slash >= 0 {
		img.Path, rest = string(rest[slash+1:]), rest[:slash]
	}
	img.Name = string(bytes.TrimSpace(rest))
	return img, img.Name != ""
}

func followSwift() report.Follower {
	frames, images, idle, first := false, false, 0, true
	return func(b []byte) report.Extent {
		b = scan.TrimEnd(b)
		head := first
		first = false
		trimmed := bytes.TrimLeft(b, " \t")
		if _, ok := parseSwiftImage(b); ok {
			images = true
			return report.GoesOn
		}
		_, _, thread := parseSwiftThread(b)
		_, frame := parseSwiftFrame(b)
		switch {
		case head || len(trimmed) == 0:
			return report.GoesOn
		case bytes.HasPrefix(trimmed, []byte("Backtrace took ")):
			return report.EndsHere
		case images, frames && swiftBegins(b) && bytes.Contains(b, programCrashed):
			return report.EndedBefore
		case thread || frame:
			frames, idle = frames || frame, 0
			return report.GoesOn
		}
		if idle++; idle > report.MaxIdleLines {
			return report.EndedBefore
		}
		return report.GoesOn
	}
}

func readSwift(text []byte, o report.Options) *report.Report {
	r := &crash.Marked{Form: swiftCrash}
	scan.EachLine(text, func(at int, line []byte) {
		if img, ok := parseSwiftImage(line); ok {
			r.Images = append(r.Images, img)
			return
		}
		if t, _, ok := parseSwiftThread(line); ok {
			r.Threads = append(r.Threads, t)
			return
		}
		if platform, ok := bytes.CutPrefix(bytes.TrimLeft(line, " \t"), []byte("Platform: ")); ok && len(r.Threads) == 0 {
			word, rest, _ := strings.Cut(string(platform), " ")
			r.Arch, r.Kind = report.ProcessorArch(word), swiftPlatform(rest)
			return
		}
		f, ok := parseSwiftFrame(line)
		if ok && len(r.Threads) == 0 {
			r.Threads = append(r.Threads, crash.MarkedThread{})
		}
		if len(r.Threads) == 0 {
			return
		}
		t := &r.Threads[len(r.Threads)-1]
		if !ok {
			t.Inlined = 0 // inlined functions stand right above
			return
		}
		f.Span[0] += at
		f.Span[1] += at
		t.Take(f)
	})
	return r.Report(text, o)
}

// swiftPlatform is the kind of image of what a report calls its platform.
func swiftPlatform(word string) symbol.Kind {
	switch {
	case strings.Contains(word, "Linux"), strings.Contains(word, "FreeBSD"):
		return symbol.ELF
	case strings.Contains(word, "OS"):
		return symbol.MachO
	}
	return ""
}

// printSwift writes answers behind frames' addresses.
func printSwift(out *bufio.Writer, s *report.Report, answers [][]symbol.Answer) {
	crash.PrintBehind(out, s, answers, writeSwift)
}

// writeSwift writes a function with its place, as Swift does.
func writeSwift(out *bufio.Writer, f *report.Frame, at *symbol.Frame) {
	out.WriteString(scan.OneLine(report.FunctionName(at)))
	if image := scan.Base([]byte(f.File)); len(image) > 0 {
		out.WriteString(" in ")
		out.WriteString(scan.OneLine(string(image)))
	}
	if at.File != "" {
		out.WriteString(" at ")
		out.WriteString(scan.OneLine(at.File))
		out.WriteString(":" + strconv.FormatUint(uint64(at.Line), 10) + ":" + strconv.FormatUint(uint64(at.Column), 10))
	}
}
