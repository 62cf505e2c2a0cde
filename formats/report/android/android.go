// Package android reads reports of Android.
package android

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Dialect reads the reports of Android: debuggerd's tombstones as text and as protobuf, logs,
// traces of ART, and libraries that print frames as debuggerd does.
//
// Android's unwinder prints addresses that it has stepped back already, in every place that prints
// "#NN pc".
var Dialect = report.Dialect{
	Name:  "android",
	Forms: []*report.Form{tombstone, logcat, backtrace, monitor},
	Files: []report.File{{Begins: tombstoneBegins, Text: tombstoneText}},
	Lines: func(b *report.Builder) report.Lines {
		r := &lines{b}
		return report.Lines{Find: r.find, Header: parseHeader}
	},
}

var (
	tombstone = &report.Form{Name: "tombstone", Frame0: report.Stepped, Kind: symbol.ELF, Mix: report.MixHost,
		Lines: "#04 pc 0001f3a8  /data/app/…/libcart.so (BuildId: …) below a header of debuggerd"}
	logcat = &report.Form{Name: "logcat", Frame0: report.Stepped, Kind: symbol.ELF, Mix: report.MixHost,
		Lines: "the same behind a log's prefix"}
	backtrace = &report.Form{Name: "backtrace", Frame0: report.Stepped, Kind: symbol.ELF, Mix: report.MixHost,
		Lines: "the same without a header: consoles, crash services, ANR traces"}
	monitor = &report.Form{Name: "monitor", Frame0: report.Return, Kind: symbol.ELF, Gap: report.GapEndsReport,
		Lines: "pc 0x0000000000022074 libc.so [arm64-v8a::77e6…], without numbers"}
)

// lines reads single lines.
type lines struct{ b *report.Builder }

func (r *lines) find(l *report.Line, f *report.Found) bool {
	b := l.Text
	for from := 0; ; {
		start, number, p, ok := scan.Numbered(b, from)
		if !ok {
			break
		}
		from = start + 1
		place := report.Place{Start: start}
		if !place.Counter(b, p) {
			continue
		}
		parseImage(&place, b)
		form := backtrace
		switch {
		case scan.LogPrefix(b[:start]) > 0:
			form = logcat
		case r.b.InDump():
			form = tombstone
		}
		*f = report.Found{Form: form, Number: number, Room: report.FrameRoom, Place: place}
		return true
	}
	if !bytes.Contains(b, pcWord) {
		return false
	}
	return findMonitor(b, l.Prefix(), f) || r.findRecord(b, f)
}

var (
	pcWord     = []byte("pc")
	recordWord = []byte("stack_record fp:")
	recordPC   = []byte(" pc:")
)

// findRecord reads "stack_record fp:0x7f…10 tag:0xa1 pc:/data/app/libcart.so+0x1f3a (BuildId: 77e6…)", an entry of the
// history that a device with memory tags keeps.
func (r *lines) findRecord(b []byte, f *report.Found) bool {
	start := bytes.Index(b, recordWord)
	if start < 0 {
		return false
	}
	at := bytes.Index(b[start:], recordPC)
	if at < 0 {
		return false
	}
	p := report.Place{Start: start, Tail: start + at + len(recordPC), Space: symbol.Unslid}
	tail := b[p.Tail:]
	end := pathEnd(tail)
	if end < 0 {
		end = len(tail)
	}
	plus := bytes.LastIndex(tail[:end], []byte("+0x"))
	if plus <= 0 {
		return false
	}
	pc, after, ok := scan.Hex(tail, plus+len("+0x"))
	if !ok || after != end {
		return false
	}
	p.PC = pc
	p.SetFile(tail[:plus])
	p.Groups(tail[end:])
	form := backtrace
	if r.b.InDump() {
		form = tombstone
	}
	*f = report.Found{Form: form, Number: -1, Room: report.FrameRoom, Place: p}
	return true
}

// findMonitor reads "pc 0x0000000000022074 libc.so [arm64-v8a::77e6…]". A dump of registers may begin
// with "pc" too, so the image must look like a file.
func findMonitor(b []byte, at int, f *report.Found) bool {
	p := report.Place{Start: scan.SkipSpace(b, at)}
	if !p.Counter(b, p.Start) {
		return false
	}
	parseImage(&p, b)
	if bytes.IndexByte(p.File, '.') < 0 && bytes.IndexByte(p.File, '/') < 0 && p.BuildID == nil {
		return false
	}
	*f = report.Found{Form: monitor, Number: -1, Room: report.FrameRoom, Place: p}
	return true
}

// parseImage reads what stands behind the address: a path, "archive!path", a
// kernel's name for a mapping, and groups.
func parseImage(l *report.Place, b []byte) {
	tail := b[l.Tail:]
	if len(tail) == 0 {
		return
	}
	end := pathEnd(tail)
	switch tail[0] {
	case '[': // "[anon:dalvik-main space]", or at once the group "[arm64-v8a::77e6…]"
		if l.Groups(tail); l.BuildID != nil {
			return
		}
		end = bytes.IndexByte(tail, ']') + 1
	case '<': // "<anonymous:7f60>", "<unknown>"
		end = bytes.IndexByte(tail, '>') + 1
	}
	if end < 0 || end == 0 && tail[0] != '(' {
		end = len(tail)
	}
	if end > 0 {
		l.SetFile(tail[:end])
	}
	l.Groups(tail[end:])
}

// pathEnd is where a path or a group's path ends; -1: at the end of b.
func pathEnd(b []byte) int {
	for i, c := range b {
		if scan.IsSpace(c) || c == '(' {
			return i
		}
	}
	return -1
}
