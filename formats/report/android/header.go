package android

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
)

// parseHeader reads the header lines of debuggerd, of ART, and of their logs.
func parseHeader(l *report.Line, out *report.Header) bool {
	if !mayBeHeader(l.Text) {
		return false
	}
	h, ok := headerOf(string(l.Text[l.Prefix():]))
	if ok {
		*out = h
	}
	return ok
}

func headerOf(s string) (h report.Header, ok bool) {
	switch {
	case strings.Contains(s, "*** *** *** *** ***"):
		return report.Header{Begins: report.BeginsDump}, true
	case strings.Contains(s, "--- --- --- --- ---"):
		return report.Header{Thread: true}, true
	case strings.HasPrefix(s, "----- pid "):
		return report.Header{Begins: report.BeginsDump}, true
	case strings.Contains(s, "Build fingerprint: '"):
		return report.Header{Begins: report.BeginsLate}, true
	}
	if _, abi, found := strings.Cut(s, "ABI: '"); found {
		abi, _, _ = strings.Cut(abi, "'")
		return report.Header{Begins: report.BeginsLate, Arch: report.Arch(abi)}, true
	}
	if _, rest, found := strings.Cut(s, "pid: "); found {
		if _, rest, found = strings.Cut(rest, ", tid: "); found {
			h := report.Header{Thread: true, ID: scan.LeadingNumber(rest)}
			if _, name, found := strings.Cut(rest, ", name: "); found {
				h.Name, _, _ = strings.Cut(name, "  >>>")
				h.Name = strings.TrimSpace(h.Name)
			}
			return h, true
		}
	}
	if _, rest, found := strings.Cut(s, "sysTid="); found {
		h := report.Header{ID: scan.LeadingNumber(rest)}
		if strings.HasPrefix(s, `"`) {
			h.Thread = true
			h.Name, _, _ = strings.Cut(s[1:], `"`)
		}
		return h, true
	}
	if strings.HasPrefix(s, `"`) && strings.Contains(s, `" `) && (strings.Contains(s, "tid=") || strings.Contains(s, "(not attached)")) {
		h := report.Header{Thread: true}
		h.Name, _, _ = strings.Cut(s[1:], `"`)
		return h, true
	}
	return report.Header{}, false
}

// mayBeHeader rules most lines out before anything is copied.
func mayBeHeader(b []byte) bool {
	for _, word := range headerWords {
		if bytes.Contains(b, word) {
			return true
		}
	}
	return false
}

var headerWords = [][]byte{[]byte("*** ***"), []byte("--- ---"), []byte("----- pid "), []byte("Build fingerprint: '"),
	[]byte("ABI: '"), []byte("pid: "), []byte("tid="), []byte("sysTid="),
	[]byte("(not attached)"),
}
