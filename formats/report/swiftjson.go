package report

import (
	"bufio"
	"strconv"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/symbol"
)

// readSwiftJSON reads the same report as JSON, which newer versions of Swift write where they are asked to
// (swift-backtrace's JSON.swift); nil if it is none.
func readSwiftJSON(text []byte, o Options) *Report {
	j := &jsonText{b: text}
	r := &swiftReport{form: swiftEvent}
	crash := false
	j.object(func(key string) {
		switch key {
		case "kind":
			crash = j.text() == "crashReport"
		case "platform":
			r.kind = swiftPlatform(j.text())
		case "architecture":
			r.arch = walkArch(j.text())
		case "threads":
			j.array(func(i int) { readSwiftThread(r, j, uint64(i)) })
		case "images":
			j.array(func(int) { readSwiftImage(r, j) })
		}
	})
	if j.broken() || !crash {
		return nil
	}
	return r.stack(text, o)
}

func readSwiftImage(r *swiftReport, j *jsonText) {
	var img appleImage
	j.object(func(key string) {
		switch key {
		case "name":
			img.name = j.text()
		case "buildId":
			if id := j.text(); scan.IsHex([]byte(id)) {
				img.uuid = id
			}
		case "path":
			img.path = j.text()
		case "baseAddress":
			img.start = j.number()
		case "endOfText":
			img.end = j.number()
		}
	})
	r.images = append(r.images, img)
}

func readSwiftThread(r *swiftReport, j *jsonText, number uint64) {
	t := swiftThread{id: number}
	j.object(func(key string) {
		switch key {
		case "name":
			t.name = j.text()
		case "frames":
			j.array(func(int) {
				if f, ok := readSwiftFrame(j); ok {
					t.take(f)
				}
			})
		}
	})
	r.threads = append(r.threads, t)
}

// readSwiftFrame: frames that were left out have no address.
func readSwiftFrame(j *jsonText) (f swiftFrame, ok bool) {
	j.peek()
	f.span[0] = j.p
	j.object(func(key string) {
		switch key {
		case "kind":
			if j.text() == "returnAddress" {
				f.kind = max(f.kind, swiftReturn)
			}
		case "inlined":
			if j.isTrue() {
				f.kind = swiftInlined
			}
		case "address":
			f.addr, ok = j.number(), true
		case "image":
			f.image = j.text()
		}
	})
	f.span[1] = j.p
	return f, ok && !j.bad
}

// swiftGone are the members that what was found replaces.
var swiftGone = []string{"symbol", "offset", "description", "sourceLocation"}

// writeSwiftMembers writes what is known of a frame under the names that Swift uses.
func writeSwiftMembers(out *bufio.Writer, at *symbol.Frame) {
	name := at.Linkage
	if name == "" {
		name = function(at)
	}
	writeMember(out, "symbol", name)
	out.WriteString(", ")
	writeMember(out, "description", function(at))
	if at.File != "" {
		out.WriteString(`, "sourceLocation": {`)
		writeMember(out, "file", at.File)
		out.WriteString(`, "line": ` + strconv.FormatUint(uint64(at.Line), 10) + `, "column": ` + strconv.FormatUint(uint64(at.Column), 10) + "}")
	}
}
