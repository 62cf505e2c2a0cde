package apple

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
)

// appleLines reads backtraces and lists of images that stand in no report.
var appleLines = report.Document{Begins: appleLinesBegin, Follow: followAppleLines, Read: readAppleLines}

func appleLinesBegin(b []byte) bool {
	if !bytes.Contains(b, scan.HexMark) || len(b) > report.MaxLineBytes {
		return false
	}
	b = scan.TrimEnd(b)
	if _, sure, ok := crash.ParseFrame(b); ok && sure {
		return true
	}
	_, ok := parseAppleImage(b)
	return ok
}

func followAppleLines() report.Follower {
	listed := false
	return func(b []byte) report.Extent {
		if len(b) > report.MaxLineBytes {
			return report.EndedBefore
		}
		b = scan.TrimEnd(b)
		trimmed := bytes.TrimLeft(b, " \t")
		if len(trimmed) == 0 || bytes.HasPrefix(trimmed, binaryImages) {
			return report.GoesOn
		}
		if _, _, ok := crash.ParseFrame(b); ok {
			return report.GoesOn
		}
		if _, ok := parseAppleThread(trimmed); ok {
			return report.GoesOn
		}
		if _, ok := parseAppleImage(b); ok || len(trimmed) < len(b) && trimmed[0] == '/' {
			listed = true
			return report.GoesOn
		}
		if _, ok := parseAddressAlone(b); ok && listed {
			return report.GoesOn
		}
		if _, _, ok := ownImageLine(trimmed); ok || bytes.Equal(trimmed, []byte{')'}) { // of the list above it
			return report.GoesOn
		}
		if _, ok := parseStoppedThread(trimmed); ok || isRegisters(trimmed) || bytes.HasPrefix(trimmed, []byte("(lldb)")) {
			return report.GoesOn
		}
		return report.EndedBefore
	}
}

// parseStoppedThread reads "* thread #1, queue = 'com.apple.main-thread', stop reason = signal SIGABRT" of lldb.
func parseStoppedThread(b []byte) (t crash.LoadedThread, ok bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(b, "* "), []byte("thread #"))
	if !ok {
		return t, false
	}
	n, _, ok := scan.Digits(rest, 0)
	return crash.LoadedThread{ID: uint64(n)}, ok
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
	crash.Image
	from int // the first thread of the image
}

// ownLine reads such a line; the last of them makes frames of the image known by its id.
func ownLine(r *crash.Loaded, line []byte, own *ownImage) {
	key, value, _ := ownImageLine(line)
	switch key {
	case "dSYM UUID":
		own.Image = crash.Image{}
		own.UUID, _, _ = scan.UUID([]byte(value), 0)
	case "CPU Type":
		own.Arch = report.AppleArch(value)
	case "Binary Image":
		own.Name = value
	case "Base Address":
		var found bool
		if own.Start, _, found = scan.Hex([]byte(strings.TrimPrefix(value, "0x")), 0); !found || own.Name == "" {
			return
		}
		if r.Arch == "" {
			r.Arch = own.Arch
		}
		for ; own.from < len(r.Threads); own.from++ {
			t := &r.Threads[own.from]
			for i := range t.Frames {
				f := &t.Frames[i]
				if string(f.Name) == own.Name && f.UUID == "" && f.Addr >= own.Start && (!f.Based || f.Load == own.Start) {
					f.UUID, f.Based, f.Load, f.Offset = own.UUID, true, own.Start, f.Addr-own.Start
				}
			}
		}
	}
}

func readAppleLines(text []byte, o report.Options) *report.Report {
	r := &crash.Loaded{Form: appleList}
	fresh := true
	var header crash.LoadedThread
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
		f, _, ok := crash.ParseFrame(line)
		if !ok && len(r.Images) > 0 {
			f, ok = parseAddressAlone(line)
		}
		if !ok {
			ownLine(r, trimmed, &own)
			return
		}
		if fresh || f.Number == 0 {
			r.Threads = append(r.Threads, header)
			header, fresh = crash.LoadedThread{}, false
		}
		f.Span[0] += at
		f.Span[1] += at
		t := &r.Threads[len(r.Threads)-1]
		t.Frames = append(t.Frames, f)
	})
	for _, img := range r.Images {
		if r.Arch == "" {
			r.Arch = img.Arch
		}
	}
	return r.Report(text, o)
}
