package report

import (
	"bytes"
	"strconv"
	"strings"
)

// header is what a line that is no frame says about the frames that follow.
type header struct {
	dump   bool   // a dump begins
	fresh  bool   // a dump begins unless frames of this one are still to come
	thread bool   // a thread begins
	dart   bool   // it is of a trace of Dart, which begins unless frames are still to come
	arch   string // the dump's architecture
	id     uint64
	name   string
}

// parseHeader reads debuggerd's, ART's and their logs' header lines.
func parseHeader(b []byte) (h header, ok bool) {
	s := string(b)
	switch {
	case strings.Contains(s, "*** *** *** *** ***"):
		return header{dump: true}, true
	case strings.Contains(s, "--- --- --- --- ---"):
		return header{thread: true}, true
	case strings.HasPrefix(s, "----- pid "):
		return header{dump: true}, true
	case strings.Contains(s, "Build fingerprint: '"):
		return header{fresh: true}, true
	}
	if strings.HasPrefix(s, "# Java VM: ") {
		return hotspotHeader(s)
	}
	if strings.HasPrefix(s, "Native frames: ") {
		return header{thread: true}, true
	}
	if _, abi, found := strings.Cut(s, "ABI: '"); found {
		abi, _, _ = strings.Cut(abi, "'")
		return header{fresh: true, arch: Arch(abi)}, true
	}
	if _, rest, found := strings.Cut(s, "pid: "); found {
		if _, rest, found = strings.Cut(rest, ", tid: "); found {
			h := header{thread: true, id: leadingNumber(rest)}
			if _, name, found := strings.Cut(rest, ", name: "); found {
				h.name, _, _ = strings.Cut(name, "  >>>")
				h.name = strings.TrimSpace(h.name)
			}
			return h, true
		}
	}
	if _, rest, found := strings.Cut(s, "sysTid="); found {
		h := header{id: leadingNumber(rest)}
		if strings.HasPrefix(s, `"`) {
			h.thread = true
			h.name, _, _ = strings.Cut(s[1:], `"`)
		}
		return h, true
	}
	if _, rest, found := strings.Cut(s, "Stack trace of thread "); found { // systemd-coredump
		id := leadingNumber(rest)
		return header{thread: id != 0, id: id}, id != 0
	}
	if strings.HasPrefix(s, `"`) && strings.Contains(s, `" `) && (strings.Contains(s, "tid=") || strings.Contains(s, "(not attached)")) {
		h := header{thread: true}
		h.name, _, _ = strings.Cut(s[1:], `"`)
		return h, true
	}
	return header{}, false
}

// mayBeHeader rules most lines out before anything is copied.
func mayBeHeader(b []byte) bool {
	for _, word := range headerWords {
		if bytes.Contains(b, word) {
			return true
		}
	}
	for _, word := range dartHeaderWords {
		if bytes.Contains(b, word) {
			return true
		}
	}
	return false
}

var headerWords = [][]byte{[]byte("*** ***"), []byte("--- ---"), []byte("----- pid "), []byte("Build fingerprint: '"),
	[]byte("ABI: '"), []byte("pid: "), []byte("tid="), []byte("sysTid="),
	[]byte("(not attached)"), []byte("Stack trace of thread "), []byte("Java VM: "), []byte("Native frames: ")}

func leadingNumber(s string) uint64 {
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(s)
	}
	n, err := strconv.ParseUint(s[:end], 10, 64)
	if err != nil {
		return 0 // not said: a thread without id
	}
	return n
}
