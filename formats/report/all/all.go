// Package all is the list of dialects of reports. It is the only package that names them; to add one,
// write its folder and one line here.
package all

import (
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/android"
	"github.com/symlake/symlake/formats/report/apple"
	"github.com/symlake/symlake/formats/report/clr"
	"github.com/symlake/symlake/formats/report/core"
	"github.com/symlake/symlake/formats/report/csv"
	"github.com/symlake/symlake/formats/report/dart"
	"github.com/symlake/symlake/formats/report/event"
	"github.com/symlake/symlake/formats/report/goruntime"
	"github.com/symlake/symlake/formats/report/hotspot"
	"github.com/symlake/symlake/formats/report/js"
	"github.com/symlake/symlake/formats/report/jvm"
	"github.com/symlake/symlake/formats/report/linux"
	"github.com/symlake/symlake/formats/report/minidump"
	"github.com/symlake/symlake/formats/report/otlp"
	"github.com/symlake/symlake/formats/report/plain"
	"github.com/symlake/symlake/formats/report/swift"
	"github.com/symlake/symlake/formats/report/wasm"
)

// Dialects are all dialects. The first that knows a line reads it, so the order matters where two
// dialects may know the same line:
//
//   - otlp reads no lines, and its files may begin with the byte of a tombstone;
//   - csv reads no lines: only a table's first line begins one;
//   - dart stands before android and linux: its lines begin as theirs do, "#00" or "pc 0x", and say more;
//   - wasm stands before linux and plain: its lines begin as a backtrace's of Rust, "0: 0x1a2b - ";
//   - hotspot stands before plain, which takes any NAME ADDRESS, and linux before it for the same reason;
//   - goruntime, clr, js and jvm read lines without addresses of native code. jvm is last: its grammar takes
//     most lines.
//
// Documents are tried in the same order: swift's and minidump's begin with lines that say more than
// apple's. JSON is given to event before js, which finds frames in almost any object.
var Dialects = []report.Dialect{
	otlp.Dialect,
	csv.Dialect,
	dart.Dialect,
	android.Dialect,
	wasm.Dialect,
	hotspot.Dialect,
	linux.Dialect,
	plain.Dialect,
	swift.Dialect,
	minidump.Dialect,
	core.Dialect,
	apple.Dialect,
	event.Dialect,
	goruntime.Dialect,
	clr.Dialect,
	js.Dialect,
	jvm.Dialect,
}
