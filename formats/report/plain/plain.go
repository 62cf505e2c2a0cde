// Package plain reads lists of addresses.
package plain

import (
	"bytes"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Dialect reads lists of addresses.
var Dialect = report.Dialect{
	Name:  "plain",
	Forms: []*report.Form{plain},
	Vague: true,
	Lines: func(b *report.Builder) report.Lines {
		bare := len(b.Options().Artifacts) > 0
		return report.Lines{Find: func(l *report.Line, f *report.Found) bool {
			return l.HasAddress() && l.Prefix() == 0 && findPlain(l.Text, bare, f) // logs say "NAME 0x…" of anything
		}}
	},
}

var plain = &report.Form{Name: "plain", Frame0: report.Return, Gap: report.GapEndsReport,
	Lines: "ARTIFACT ADDRESS, nothing else in the line; or ADDRESS alone where Options names artifacts"}

// findPlain reads "ARTIFACT ADDRESS", and "ADDRESS" where bare allows it.
func findPlain(b []byte, bare bool, f *report.Found) bool {
	l := report.Place{Start: scan.SkipSpace(b, 0)}
	l.Tail = l.Start + 4
	rest := bytes.TrimRight(b[l.Start:], " \t")
	if i := bytes.LastIndexAny(rest, " \t"); i >= 0 {
		name := bytes.TrimRight(rest[:i], " \t")
		if bytes.ContainsAny(name, " \t") || scan.IsLabel(name) || string(name) == "C" || string(name) == "V" { // of a virtual machine's log
			return false
		}
		l.Named, l.File = true, name
		rest = rest[i+1:]
	} else if !bare {
		return false
	}
	l.Space = symbol.Unslid
	if len(rest) > 0 && rest[0] == '+' {
		if colon := bytes.LastIndex(l.File, []byte(".go:")); colon >= 0 {
			return false // a line of a Go traceback
		}
		l.Space = symbol.Position
		rest = rest[1:]
	}
	if !bytes.HasPrefix(rest, scan.HexMark) {
		return false
	}
	pc, end, ok := scan.Hex(rest, 2)
	if !ok || end != len(rest) {
		return false
	}
	l.PC = pc
	*f = report.Found{Form: plain, Number: -1, Room: report.FrameRoom, Place: l}
	return true
}
