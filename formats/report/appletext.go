package report

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
)

// appleText reads crash reports as text: those of Apple's ReportCrash, and of
// PLCrashReporter and KSCrash, which print the same.
var appleText = Document{Begins: appleTextBegins, Follow: followAppleText, Read: readAppleText}

func appleTextBegins(b []byte) bool {
	b = bytes.TrimLeft(scan.Spaced(b), " \t")
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
		return ok && AppleArch(string(arch)) != ""
	case 'P': // "Process:         game [4242]"; Android's logs say "Process: com.example.game, PID: 4242"
		return bytes.HasPrefix(b, []byte("Powerstats for:")) || bytes.HasPrefix(b, []byte("Process:")) && b[len(b)-1] == ']' && bytes.IndexByte(b, '[') > 0
	case 'T':
		_, ok := parseAppleThread(b)
		return ok
	}
	return false
}

func followAppleText() Follower {
	frames, images, idle, first := false, false, 0, true
	return func(b []byte) Extent {
		b = bytes.TrimLeft(scan.Spaced(b), " \t")
		head := first
		first = false
		switch {
		case len(b) == 0 || head:
			return GoesOn
		case images:
			if _, ok := parseAppleImage(b); ok || bytes.HasPrefix(b, []byte("/")) {
				return GoesOn
			}
			return EndedBefore
		case bytes.HasPrefix(b, binaryImages):
			images = true
			return GoesOn
		case frames && bytes.HasPrefix(b, appleHeaders[0]):
			return EndedBefore
		}
		if _, _, ok := parseAppleFrame(b); ok {
			frames, idle = true, 0
			return GoesOn
		}
		if _, _, ok := parseSampledFrame(b); ok {
			frames, idle = true, 0
			return GoesOn
		}
		if _, ok := parseAppleThread(b); ok {
			idle = 0
			return GoesOn
		}
		if idle++; idle > MaxIdleLines {
			return EndedBefore
		}
		return GoesOn
	}
}

func readAppleText(text []byte, o Options) *Report {
	r := &appleReport{form: appleCrash}
	var next appleThread // as its header says
	inThread, backtrace, images := false, false, false
	tree := sampled{column: -1}
	open := func(t appleThread) {
		r.threads = append(r.threads, t)
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
			open(appleThread{name: string(bytes.TrimRight(b, ":")), returns: true})
			backtrace = true
			return
		}
		if f, column, ok := parseSampledFrame(line); ok {
			f.span[0] += at
			f.span[1] += at
			tree.add(r, f, column)
			inThread = false
			return
		}
		tree.header(b)
		if backtrace && addAddresses(&r.threads[len(r.threads)-1], at, line) {
			return
		}
		if t, ok := parseAppleThread(b); ok {
			// "Thread 0 name:" stands before "Thread 0 Crashed:".
			if t.id != next.id || t.name != "" {
				next = t
			}
			if bytes.Contains(b[:bytes.IndexByte(b, ':')], []byte("name")) {
				inThread = false
				return
			}
			open(appleThread{id: next.id, name: next.name})
			next = appleThread{}
			return
		}
		if bytes.HasPrefix(b, []byte("Thread ")) {
			inThread = false // its registers
			return
		}
		f, _, ok := parseAppleFrame(line)
		if ok && (f.number >= 0 || f.based) {
			if !inThread {
				open(appleThread{})
			}
			t := &r.threads[len(r.threads)-1]
			if f.number == 0 && len(t.frames) > 0 && !backtrace {
				open(appleThread{})
				t = &r.threads[len(r.threads)-1]
			}
			f.span[0] += at
			f.span[1] += at
			t.frames = append(t.frames, f)
			return
		}
		if len(r.threads) == 0 {
			readHeaderLine(r, b)
		}
	})
	innermostFirst(r)
	return r.stack(text, o)
}

// addAddresses takes a line that lists nothing but addresses, as a device prints the backtrace of
// an exception: "(0x18f74c114 0x1a2f72cb4 0x1024f62a8)", on one line or on several.
func addAddresses(t *appleThread, at int, line []byte) bool {
	p, end := scan.SkipSpace(line, 0), len(bytes.TrimRight(line, " \t"))
	if p < end && line[p] == '(' {
		p++
	}
	if p < end && line[end-1] == ')' {
		end--
	}
	had := len(t.frames)
	for p = scan.SkipSpace(line[:end], p); p < end; p = scan.SkipSpace(line[:end], p) {
		addr, stop, ok := uint64(0), p, false
		if bytes.HasPrefix(line[p:end], scan.HexMark) {
			addr, stop, ok = scan.Hex(line[:end], p+2)
		}
		if !ok || stop < end && !scan.IsSpace(line[stop]) {
			t.frames = t.frames[:had]
			return false
		}
		t.frames = append(t.frames, appleFrame{span: [2]int{at + p, at + stop}, indent: stop - p, among: true, number: -1, addr: addr, image: -1})
		p = stop
	}
	return len(t.frames) > had
}

// headerLine reads what stands above the threads.
func readHeaderLine(r *appleReport, b []byte) {
	key, value, found := strings.Cut(string(b), ":")
	if !found {
		return
	}
	value = strings.TrimSpace(value)
	switch key {
	case "Code Type", "Architecture":
		r.arch = AppleArch(value)
	case "OS Version":
		r.system = value
	case "Exception Codes":
		if strings.HasPrefix(value, "#0 at") || strings.HasPrefix(value, "SEGV_") || strings.HasPrefix(value, "BUS_") {
			r.form = plcrash
		}
	case "CrashReporter Key":
		if value == "TODO" || value == "[TODO]" {
			r.form = plcrash
		}
	}
}

// addImage takes a line of the list of images.
func addImage(r *appleReport, line []byte) bool {
	img, ok := parseAppleImage(line)
	if !ok {
		return false
	}
	if img.name != "???" || img.uuid != "" { // else all that lies in no image, from 0 to the end
		r.images = append(r.images, img)
	}
	return true
}
