// Package dart reads stack traces of Dart programs.
package dart

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
)

// Dialect reads stack traces of Dart programs that were compiled ahead of time.
var Dialect = report.Dialect{
	Name:  "dart",
	Forms: []*report.Form{dartTrace, dartCrash, dartList},
	Lines: func(b *report.Builder) report.Lines {
		o := b.Options()
		r := &lines{b: b, alone: len(o.Artifacts) > 0 && (o.IsolateStart != 0 || o.VMStart != 0)}
		r.forget()
		return report.Lines{Find: r.find, Add: r.add, Header: r.readHeader, Kept: r.kept, Forget: r.forget}
	},
}

// Dart steps back before it prints; its crash handler does not.
var (
	dartTrace = &report.Form{Name: "dart", Frame0: report.Stepped, Print: printDart,
		Lines: "#00 abs 0000007baa845767 virt 0000000000165767 _kDartIsolateSnapshotInstructions+0x9ed27, also with unit 2, behind a log's prefix, below a header with build_id"}
	dartCrash = &report.Form{Name: "dart-crash", Frame0: report.Exact,
		Lines: "pc 0x0000007baa845768 fp 0x0000007fd0 sp 0x0000007fc0 _kDartIsolateSnapshotInstructions+0x9ed28 of the virtual machine's own crash"}
	dartList = &report.Form{Name: "dart-list", Frame0: report.Return, Gap: report.GapEndsReport, Print: printDart,
		Lines: "[ARTIFACT] _kDartIsolateSnapshotInstructions+0x9ed27, nothing else in the line; or ADDRESS alone where Options says where the instructions begin"}
)

// lines reads single lines.
type lines struct {
	b      *report.Builder
	alone  bool // an address alone is a frame
	header header
	line   line // that find found
	native bool // the line is a frame of native code

	announced []byte // a line of a header that is not kept yet
	thrown    bool   // the line before says that an exception follows
}

// forget begins with the header that Options stands for where the text has none.
func (r *lines) forget() {
	o := r.b.Options()
	r.header = header{isolate: o.IsolateStart, vm: o.VMStart}
}

func (r *lines) find(l *report.Line, f *report.Found) bool {
	b := l.Text
	if bytes.Contains(b, absWord) && r.findNumbered(b, f) {
		return true
	}
	counter := bytes.Contains(b, pcPrefix)
	if counter && bytes.Contains(b, fpWord) && r.findCrash(l, f) {
		return true
	}
	r.native = false
	if !l.HasAddress() {
		return !counter && bytes.IndexByte(b, '+') > 0 && r.findPlace(b, f) // a decimal offset
	}
	if bytes.Contains(b, kDartWord) && l.Prefix() == 0 && r.findPlace(b, f) {
		return true
	}
	return r.alone && l.Prefix() == 0 && r.findAlone(b, f)
}

// findNumbered reads "#00 abs …".
func (r *lines) findNumbered(b []byte, f *report.Found) bool {
	for from := 0; ; {
		start, number, p, ok := scan.Numbered(b, from)
		if !ok {
			return false
		}
		from = start + 1
		if !bytes.HasPrefix(b[p:], absWord) {
			continue
		}
		r.line = line{}
		if tail, ok := r.line.parse(b, p); ok {
			r.native = false
			*f = report.Found{Form: dartTrace, Number: number, Room: report.FrameRoom, Place: report.Place{Start: start, Tail: tail, PC: r.line.abs}}
			return true
		}
	}
}

// readHeader reads a line above the frames.
func (r *lines) readHeader(l *report.Line, h *report.Header) bool {
	if !mayBeDartHeader(l.Text) {
		return false
	}
	content := l.Text[l.Prefix():]
	var header header
	arch, ok := header.parse(content)
	if ok {
		*h = report.Header{Begins: report.BeginsTrace, Arch: arch}
		r.announced = content
	}
	return ok
}

// mayBeDartHeader rules most lines out before anything is copied.
func mayBeDartHeader(b []byte) bool {
	for _, word := range dartHeaderWords {
		if bytes.Contains(b, word) {
			return true
		}
	}
	return false
}
