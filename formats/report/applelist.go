package report

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
)

// appleLines reads backtraces and lists of images that stand in no report.
var appleLines = Document{Begins: appleLinesBegin, Follow: followAppleLines, Read: readAppleLines}

func appleLinesBegin(b []byte) bool {
	if !bytes.Contains(b, scan.HexMark) || len(b) > MaxLineBytes {
		return false
	}
	b = scan.Spaced(b)
	if _, sure, ok := parseAppleFrame(b); ok && sure {
		return true
	}
	_, ok := parseAppleImage(b)
	return ok
}

func followAppleLines() Follower {
	listed := false
	return func(b []byte) Extent {
		if len(b) > MaxLineBytes {
			return EndedBefore
		}
		b = scan.Spaced(b)
		trimmed := bytes.TrimLeft(b, " \t")
		if len(trimmed) == 0 || bytes.HasPrefix(trimmed, binaryImages) {
			return GoesOn
		}
		if _, _, ok := parseAppleFrame(b); ok {
			return GoesOn
		}
		if _, ok := parseAppleThread(trimmed); ok {
			return GoesOn
		}
		if _, ok := parseAppleImage(b); ok || len(trimmed) < len(b) && trimmed[0] == '/' {
			listed = true
			return GoesOn
		}
		if _, ok := parseAddressAlone(b); ok && listed {
			return GoesOn
		}
		if _, _, ok := ownImageLine(trimmed); ok || bytes.Equal(trimmed, []byte{')'}) { // of the list above it
			return GoesOn
		}
		if _, ok := parseStoppedThread(trimmed); ok || isRegisters(trimmed) || bytes.HasPrefix(trimmed, []byte("(lldb)")) {
			return GoesOn
		}
		return EndedBefore
	}
}

// parseStoppedThread reads "* thread #1, queue = 'com.apple.main-thread', stop reason = signal SIGABRT" of lldb.
func parseStoppedThread(b []byte) (t appleThread, ok bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(b, "* "), []byte("thread #"))
	if !ok {
		return t, false
	}
	n, _, ok := scan.Digits(rest, 0)
	return appleThread{id: uint64(n)}, ok
}

// isRegisters: what stands between a report's frames and its images.
func isRegisters(b []byte) bool {
	if bytes.HasPrefix(b, []byte("Thread ")) {
		return bytes.Contains(b, []byte(" State"))
	}
	name, value, found := bytes.Cut(b, []byte(": "))
	return found && len(name) < 8 && bytes.HasPrefix(bytes.TrimLeft(value, " "), scan.HexMark)
}

// ownImageLine reads the lines in which Umeng's reports say, below a backtrace, what the program's
// own image is.
func ownImageLine(b []byte) (key, value string, ok bool) {
	key, value, _ = strings.Cut(string(b), ":")
	switch key {
	case "dSYM UUID", "CPU Type", "Slide Address", "Binary Image", "Base Address":
		return key, strings.TrimSpace(value), true
	}
	return "", "", false
}

// ownImage is what such lines have said.
type ownImage struct {
	appleImage
	from int // the first thread that it is of
}

// ownLine reads such a line; the last of them makes frames of the image known by its id.
func ownLine(r *appleReport, line []byte, own *ownImage) {
	key, value, _ := ownImageLine(line)
	switch key {
	case "dSYM UUID":
		own.appleImage = appleImage{}
		own.uuid, _, _ = scan.UUID([]byte(value), 0)
	case "CPU Type":
		own.arch = AppleArch(value)
	case "Binary Image":
		own.name = value
	case "Base Address":
		var found bool
		if own.start, _, found = scan.Hex([]byte(strings.TrimPrefix(value, "0x")), 0); !found || own.name == "" {
			return
		}
		if r.arch == "" {
			r.arch = own.arch
		}
		for ; own.from < len(r.threads); own.from++ {
			t := &r.threads[own.from]
			for i := range t.frames {
				f := &t.frames[i]
				if string(f.name) == own.name && f.uuid == "" && f.addr >= own.start && (!f.based || f.load == own.start) {
					f.uuid, f.based, f.load, f.offset = own.uuid, true, own.start, f.addr-own.start
				}
			}
		}
	}
}

func readAppleLines(text []byte, o Options) *Report {
	r := &appleReport{form: appleList}
	fresh := true
	var header appleThread
	var own ownImage
	scan.EachLine(text, func(at int, line []byte) {
		trimmed := bytes.TrimLeft(line, " \t")
		if len(trimmed) == 0 {
			fresh = true
			return
		}
		if t, ok := parseAppleThread(trimmed); ok {
			header, fresh = t, true
			return
		}
		if t, ok := parseStoppedThread(trimmed); ok {
			header, fresh = t, true
			return
		}
		if addImage(r, line) {
			return
		}
		f, _, ok := parseAppleFrame(line)
		if !ok && len(r.images) > 0 {
			f, ok = parseAddressAlone(line)
		}
		if !ok {
			ownLine(r, trimmed, &own)
			return
		}
		if fresh || f.number == 0 {
			r.threads = append(r.threads, header)
			header, fresh = appleThread{}, false
		}
		f.span[0] += at
		f.span[1] += at
		t := &r.threads[len(r.threads)-1]
		t.frames = append(t.frames, f)
	})
	for _, img := range r.images {
		if r.arch == "" {
			r.arch = img.arch
		}
	}
	return r.stack(text, o)
}
