package perfscript

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/symlake/symlake/formats/internal/scan"
)

// header is the line above a sample's frames.
type header struct {
	comm     string
	pid, tid int64
	time     int64 // nanoseconds; -1: not said
	period   int64 // 1 if it is not said
	event    string
	frame    []byte // a sample without a chain has its frame in the line; nil: it has not
}

// The parts of a header behind the name of the program, which may have spaces. perf leaves out what -F does not ask for.
var headerLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(\S.*?)\s+(-?\d+)(?:/\s*(-?\d+))?(?:\s+\[(\d+)\])?(?:\s+[.a-zA-Z]{4,8})?(?:\s+(\d+)\.(\d+):)?(?:\s+(\d+))?(?:\s+([A-Za-z_][^\s:]*(?::[^\s:]+)*):)?(?:\s+(.*))?$`)
})

// parseHeader reads a header. It has a time or an event, else any text would be one.
func parseHeader(line []byte) (h header, ok bool) {
	if len(line) > maxLine || !bytes.ContainsRune(line, ':') {
		return h, false
	}
	m := headerLine().FindSubmatch(line)
	if m == nil || m[5] == nil && m[8] == nil {
		return h, false
	}
	h = header{comm: string(m[1]), time: -1, period: 1, event: string(m[8])}
	h.pid, _ = strconv.ParseInt(string(m[2]), 10, 64)
	if h.tid = h.pid; m[3] != nil {
		h.tid, _ = strconv.ParseInt(string(m[3]), 10, 64)
	}
	if m[5] != nil {
		seconds, err := strconv.ParseInt(string(m[5]), 10, 33)
		part := (string(m[6]) + "000000000")[:9]
		nanos, _ := strconv.ParseInt(part, 10, 64)
		if err == nil {
			h.time = seconds*1e9 + nanos
		}
	}
	if period, err := strconv.ParseInt(string(m[7]), 10, 64); err == nil {
		h.period = period
	}
	if rest := bytes.TrimSpace(m[9]); len(rest) > 0 { // else the fields of a tracepoint
		line := append([]byte("\t"), rest...)
		if _, ok := parseFrame(line); ok {
			h.frame = line
		}
	}
	return h, true
}

// maxLine bounds a line. Longer ones are text.
const maxLine = 64 << 10

// frame is a line of a sample.
type frame struct {
	address  uint64
	name     string // without its offset; "": unknown
	file     string
	offset   uint64 // behind the file's name
	isOffset bool   // it is said
	counted  bool   // an offset stands behind the name
	inlined  bool
}

// deleted stands behind the path of a file that is gone.
const deleted = " (deleted)"

// parseFrame reads a frame:
//
//	55d0c1a2b13d main+0x1d (/home/u/shop)
//	        129a [unknown] (/usr/lib/libcart.so+0x1f3a)
//	        129a price (inlined)
func parseFrame(line []byte) (f frame, ok bool) {
	at := scan.SkipSpace(line, 0)
	if at == 0 || len(line) > maxLine {
		return f, false
	}
	address, end, ok := scan.Hex(line, at)
	if !ok || end-at > 16 || end == len(line) || !scan.IsSpace(line[end]) {
		return f, false
	}
	f.address = address
	rest := string(bytes.TrimSpace(line[end:]))
	if strings.HasSuffix(rest, deleted+")") {
		rest = strings.TrimSuffix(rest, deleted+")") + ")"
	}
	switch open := strings.LastIndex(rest, " ("); {
	case strings.HasSuffix(rest, " (inlined)"):
		f.inlined, f.name = true, strings.TrimSuffix(rest, " (inlined)")
		return f, true
	case open > 0 && strings.HasSuffix(rest, ")"):
		f.name, f.file = rest[:open], rest[open+2:len(rest)-1]
	case strings.HasPrefix(rest, "(") && strings.HasSuffix(rest, ")"):
		f.file = rest[1 : len(rest)-1]
	default:
		f.name = rest
	}
	if i := strings.LastIndex(f.file, "+0x"); i > 0 {
		if v, err := strconv.ParseUint(f.file[i+3:], 16, 64); err == nil {
			f.file, f.offset, f.isOffset = f.file[:i], v, true
		}
	}
	if i := strings.LastIndex(f.name, "+0x"); i > 0 {
		if _, err := strconv.ParseUint(f.name[i+3:], 16, 64); err == nil {
			f.name, f.counted = f.name[:i], true
		}
	}
	if f.name == "[unknown]" {
		f.name = ""
	}
	return f, true
}

// isKernel reports whether a frame is the kernel's.
func (f *frame) isKernel() bool {
	return f.address>>63 == 1 || strings.HasPrefix(f.file, "[kernel") || strings.HasPrefix(f.file, "[guest.kernel")
}

// canAsk reports whether any artifact can have the frame's file.
func (f *frame) canAsk() bool {
	return f.file != "" && f.file[0] != '[' && !strings.HasPrefix(f.file, "//anon") && !strings.HasSuffix(f.file, ".map") && f.file != "inlined" && !f.isKernel()
}

// sourceLine is a place in the source, below a frame.
var sourceLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s+([^\s(][^(]*):(\d+)$`) })

// parseSource reads a place in the source.
func parseSource(line []byte) (file string, at uint32, ok bool) {
	if len(line) > maxLine {
		return "", 0, false
	}
	m := sourceLine().FindSubmatch(line)
	if m == nil {
		return "", 0, false
	}
	v, err := strconv.ParseUint(string(m[2]), 10, 32)
	if string(m[1]) == "??" || err != nil {
		return "", 0, true
	}
	return string(m[1]), uint32(v), true
}

// isSkipped reports whether a line is none of a sample's.
func isSkipped(line []byte) bool {
	return len(bytes.TrimSpace(line)) == 0 || line[0] == '#' || bytes.Contains(line, []byte("PERF_RECORD_"))
}

// mapping is a part of a file in a process.
type mapping struct {
	pid         int64
	start, size uint64
	offset      uint64
	file, id    string
}

var mapLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+)(?: (?:[0-9a-f]{2,}:[0-9a-f]{2,} \d+ \d+|<([0-9a-f]+)>))?\]: \S+ (.+)$`)
})

// parseMapping reads a line of a mapping (--show-mmap-events).
func parseMapping(line []byte) (m mapping, ok bool) {
	if !bytes.Contains(line, []byte("PERF_RECORD_MMAP")) || len(line) > maxLine {
		return m, false
	}
	part := mapLine().FindSubmatch(line)
	if part == nil {
		return m, false
	}
	m.pid, _ = strconv.ParseInt(string(part[1]), 10, 64)
	m.start, _ = strconv.ParseUint(string(part[2]), 16, 64)
	m.size, _ = strconv.ParseUint(string(part[3]), 16, 64)
	m.offset, _ = strconv.ParseUint(string(part[4]), 16, 64)
	m.id, m.file = string(part[5]), string(part[6])
	return m, true
}
