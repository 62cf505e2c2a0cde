package apple

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
)

// appleText reads crash reports as text: of Apple's ReportCrash, and of
// PLCrashReporter and KSCrash, which print the same.
var appleText = report.Document{Begins: appleTextBegins, Follow: followAppleText, Read: readAppleText}

func appleTextBegins(b []byte) bool {
	b = bytes.TrimLeft(scan.TrimEnd(b), " \t")
	if len(b) < 9 {
		return false
	}
	switch b[0] {
	case 'I', 'C', 'H', 'E', 'L':
		for _, h := range appleHeaders {
			if bytes.HasPrefix(b, h) {
				return true
			}
		}
	case 'A': // of a spindump: its list of images may not say it
		arch, ok := bytes.CutPrefix(b, []byte("Architecture:"))
		return ok && report.AppleArch(string(arch)) != ""
	case 'P': // "Process:         game [4242]"; Android's logs say "Process: com.example.game, PID: 4242"
		return bytes.HasPrefix(b, []byte("Powerstats for:")) || bytes.HasPrefix(b, []byte("Process:")) && b[len(b)-1] == ']' && bytes.IndexByte(b, '[') > 0
	case 'T':
		_, ok := parseAppleThread(b)
		return ok
	}
	return false
}

func followAppleText() report.Follower {
	frames, images, idle, first := false, false, 0, true
	return func(b []byte) report.Extent {
		b = bytes.TrimLeft(scan.TrimEnd(b), " \t")
		head := first
		first = false
		switch {
		case len(b) == 0 || head:
			return report.GoesOn
		case images:
			if _, ok := parseAppleImage(b); ok || bytes.HasPrefix(b, []byte("/")) {
				return report.GoesOn
			}
			return report.EndedBefore
		case bytes.HasPrefix(b, binaryImages):
			images = true
			return report.GoesOn
		case frames && bytes.HasPrefix(b, appleHeaders[0]):
			return report.EndedBefore
		}
		if _, _, ok := crash.ParseFrame(b); ok {
			frames, idle = true, 0
			return report.GoesOn
		}
		if _, _, ok := parseSampledFrame(b); ok {
			frames, idle = true, 0
			return report.GoesOn
		}
		if _, ok := parseAppleThread(b); ok {
			idle = 0
			return report.GoesOn
		}
		if idle++; idle > report.MaxIdleLines {
			return report.EndedBefore
		}
		return report.GoesOn
	}
}

func readAppleText(text []byte, o report.Options) *report.Report {
	r := &crash.Loaded{Form: appleCrash}
	var next crash.LoadedThread // as its header says
	inThread, backtrace, images := false, false, false
	tree := sampled{column: -1}
	open := func(t crash.LoadedThread) {
		r.Threads = append(r.Threads, t)
		inThread = true
	}
	scan.EachLine(text, func(at int, line []byte) {
		b := bytes.TrimLeft(line, " \t")
		switch {
		case len(b) == 0:
			backtrace = false
			tree.header(b)
			return
		case bytes.HasPrefix(b, binaryImages):
			images = true
			return
		case images:
			addImage(r, line)
			return
		case bytes.HasPrefix(b, lastException), bytes.HasPrefix(b, []byte("Application Specific Backtrace")):
			open(crash.LoadedThread{Name: string(bytes.TrimRight(b, ":")), Returns: true})
			backtrace = true
			return
		}
		if f, column, ok := parseSampledFrame(line); ok {
			f.Span[0] += at
			f.Span[1] += at
			tree.add(r, f, column)
			inThread = false
			return
		}
		tree.header(b)
		if backtrace && addAddresses(&r.Threads[len(r.Threads)-1], at, line) {
			return
		}
		if t, ok := parseAppleThread(b); ok {
			// "Thread 0 name:" stands before "Thread 0 Crashed:".
			if t.ID != next.ID || t.Name != "" {
				next = t
			}
			if bytes.Contains(b[:bytes.IndexByte(b, ':')], []byte("name")) {
				inThread = false
				return
			}
			open(crash.LoadedThread{ID: next.ID, Name: next.Name, Crashed: t.Crashed})
			next = crash.LoadedThread{}
			return
		}
		if bytes.HasPrefix(b, []byte("Thread ")) {
			inThread = false // its registers
			return
		}
		f, _, ok := crash.ParseFrame(line)
		if ok && (f.Number >= 0 || f.Based) {
			if !inThread {
				open(crash.LoadedThread{})
			}
			t := &r.Threads[len(r.Threads)-1]
			if f.Number == 0 && len(t.Frames) > 0 && !backtrace {
				open(crash.LoadedThread{})
				t = &r.Threads[len(r.Threads)-1]
			}
			f.Span[0] += at
			f.Span[1] += at
			t.Frames = append(t.Frames, f)
			return
		}
		if len(r.Threads) == 0 {
			readHeaderLine(r, b)
		}
	})
	innermostFirst(r)
	return r.Report(text, o)
}

// addAddresses takes a line that lists nothing but addresses, as a device prints the backtrace of
// an exception: "(0x18f74c114 0x1a2f72cb4 0x1024f62a8)", on one line or on several.
func addAddresses(t *crash.LoadedThread, at int, line []byte) bool {
	p, end := scan.SkipSpace(line, 0), len(bytes.TrimRight(line, " \t"))
	if p < end && line[p] == '(' {
		p++
	}
	if p < end && line[end-1] == ')' {
		end--
	}
	had := len(t.Frames)
	for p = scan.SkipSpace(line[:end], p); p < end; p = scan.SkipSpace(line[:end], p) {
		addr, stop, ok := uint64(0), p, false
		if bytes.HasPrefix(line[p:end], scan.HexMark) {
			addr, stop, ok = scan.Hex(line[:end], p+2)
		}
		if !ok || stop < end && !scan.IsSpace(line[stop]) {
			t.Frames = t.Frames[:had]
			return false
		}
		t.Frames = append(t.Frames, crash.LoadedFrame{Span: [2]int{at + p, at + stop}, Indent: stop - p, Among: true, Number: -1, Addr: addr, Image: -1})
		p = stop
	}
	return len(t.Frames) > had
}

// headerLine reads what stands above the threads.
func readHeaderLine(r *crash.Loaded, b []byte) {
	key, value, found := strings.Cut(string(b), ":")
	if !found {
		return
	}
	value = strings.TrimSpace(value)
	switch key {
	case "Code Type", "Architecture":
		r.Arch = report.AppleArch(value)
	case "OS Version":
		r.OS = value
	case "Exception Codes":
		if strings.HasPrefix(value, "#0 at") || strings.HasPrefix(value, "SEGV_") || strings.HasPrefix(value, "BUS_") {
			r.Form = plcrash
		}
	case "CrashReporter Key":
		if value == "TODO" || value == "[TODO]" {
			r.Form = plcrash
		}
	}
}

// addImage takes a line of the list of images.
func addImage(r *crash.Loaded, line []byte) bool {
	img, ok := parseAppleImage(line)
	if !ok {
		return false
	}
	if img.Name != "???" || img.UUID != "" { // else all that lies in no image, from 0 to the end
		r.Images = append(r.Images, img)
	}
	return true
}
