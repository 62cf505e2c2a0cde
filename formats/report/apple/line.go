package apple

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
)

// parseAddressAlone reads a line that is an address, which is a frame below a list of images.
func parseAddressAlone(b []byte) (f crash.LoadedFrame, ok bool) {
	p, end := scan.SkipSpace(b, 0), len(bytes.TrimRight(b, " \t"))
	if !bytes.HasPrefix(b[p:end], scan.HexMark) || end-p < 10 {
		return f, false
	}
	f = crash.LoadedFrame{Number: -1, Image: -1, Span: [2]int{p, end}, Indent: end - p}
	var stop int
	f.Addr, stop, ok = scan.Hex(b, p+2)
	return f, ok && stop == end
}

// parseAppleImage reads the ways in which images are listed:
//
//	0x104a2c000 - 0x104a3bfff game arm64  <4c4c44d8…> /private/…/game
//	    0x10864e000 -        0x10ee0ffff +com.example.game (1.0 - 1) <UUID> /Applications/…
//	   0x104a2c000 -                ???  game (1.0)  <UUID>  /private/…/game
//	[  0] UUID 0x0000000104a2c000 /private/…/game
func parseAppleImage(b []byte) (img crash.Image, ok bool) {
	p := scan.SkipSpace(b, 0)
	if p < len(b) && b[p] == '[' {
		return parseListedImage(b, p)
	}
	if p < len(b) && b[p] == '*' { // the kernel's
		p++
	}
	end, ok := parseAppleSpan(b, p, &img)
	if !ok || end == len(b) || !scan.IsSpace(b[end]) {
		return img, false
	}
	rest := bytes.TrimLeft(b[end:], " \t+")
	for _, mark := range [...][2]string{{"<", ">"}, {"&lt;", "&gt;"}} { // within a property list, or a page's source
		open := bytes.Index(rest, []byte(mark[0]))
		if open < 0 {
			continue
		}
		uuid, stop, ok := scan.UUID(rest, open+len(mark[0]))
		if path, found := bytes.CutPrefix(rest[stop:], []byte(mark[1])); ok && found {
			img.UUID = uuid
			img.Path = string(bytes.TrimSpace(path))
			rest = rest[:open]
			break
		}
	}
	if slash := bytes.IndexByte(rest, '/'); img.Path == "" && slash >= 0 {
		img.Path, rest = string(bytes.TrimSpace(rest[slash:])), rest[:slash]
	}
	if open := bytes.IndexByte(rest, '('); open >= 0 { // versions, or the architecture
		group, _, _ := bytes.Cut(rest[open+1:], []byte(")"))
		img.Arch = report.AppleArch(string(group))
		rest = rest[:open]
	}
	words := bytes.Fields(rest)
	if n := len(words); n > 1 && report.AppleArch(string(words[n-1])) != "" {
		img.Arch = report.AppleArch(string(words[n-1]))
		words = words[:n-1]
	}
	img.Name = string(bytes.Join(words, []byte(" ")))
	return img, img.Name != "" || img.Path != ""
}

// parseAppleSpan reads "0x104a2c000 - 0x104a3bfff", or "???" for an unknown last address, into img.
func parseAppleSpan(b []byte, p int, img *crash.Image) (end int, ok bool) {
	if !bytes.HasPrefix(b[p:], scan.HexMark) {
		return p, false
	}
	if img.Start, end, ok = scan.Hex(b, p+2); !ok {
		return end, false
	}
	p = scan.SkipSpace(b, end)
	if p >= len(b) || b[p] != '-' {
		return p, false
	}
	p = scan.SkipSpace(b, p+1)
	if bytes.HasPrefix(b[p:], []byte("???")) {
		return p + len("???"), true
	}
	if !bytes.HasPrefix(b[p:], scan.HexMark) {
		return p, false
	}
	last, end, ok := scan.Hex(b, p+2)
	if !ok || last < img.Start {
		return end, false
	}
	if img.End = last + 1; img.End == 0 {
		img.End = last
	}
	return end, true
}

// parseListedImage reads a line of lldb's list.
func parseListedImage(b []byte, p int) (img crash.Image, ok bool) {
	_, end, ok := scan.Digits(b, scan.SkipSpace(b, p+1))
	if !ok || end >= len(b) || b[end] != ']' {
		return img, false
	}
	img.UUID, end, ok = scan.UUID(b, scan.SkipSpace(b, end+1))
	if !ok {
		return img, false
	}
	p = scan.SkipSpace(b, end)
	if !bytes.HasPrefix(b[p:], scan.HexMark) {
		return img, false
	}
	if img.Start, end, ok = scan.Hex(b, p+2); !ok {
		return img, false
	}
	img.Path = string(bytes.TrimSpace(b[end:]))
	if i := bytes.LastIndex([]byte(img.Path), []byte(" (0x")); i > 0 {
		img.Path = img.Path[:i]
	}
	img.Name = string(scan.Base([]byte(img.Path)))
	return img, true
}

// parseAppleThread reads "Thread 3:", "Thread 3 Crashed:: NAME", "Thread 3 name:  NAME".
func parseAppleThread(b []byte) (t crash.LoadedThread, ok bool) {
	rest, ok := bytes.CutPrefix(b, []byte("Thread "))
	if !ok {
		return t, false
	}
	n, end, ok := scan.Digits(rest, 0)
	if !ok {
		return t, false
	}
	t.ID = uint64(n)
	rest = bytes.TrimLeft(rest[end:], " ")
	for _, word := range []string{"Crashed", "Highlighted", "name"} {
		if cut, found := bytes.CutPrefix(rest, []byte(word)); found {
			rest = cut
			t.Crashed = word == "Crashed"
			break
		}
	}
	if len(rest) == 0 || rest[0] != ':' {
		return t, false
	}
	t.Name = strings.TrimSpace(string(bytes.TrimLeft(rest, ":")))
	return t, true
}

var appleHeaders = [][]byte{[]byte("Incident Identifier:"), []byte("CrashReporter Key:"), []byte("Hardware Model:"), []byte("Exception Type:"), lastException, heaviestStack, []byte("Call graph:")}

var lastException = []byte("Last Exception Backtrace:")

var binaryImages = []byte("Binary Images:")
