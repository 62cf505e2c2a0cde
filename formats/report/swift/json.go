package swift

import (
	"bufio"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/internal/crash"
	"github.com/symlake/symlake/formats/symbol"
)

// readSwiftJSON reads the same report as JSON, which newer versions of Swift write where they are asked to
// (swift-backtrace's JSON.swift); nil if it is none.
func readSwiftJSON(text []byte, o report.Options) *report.Report {
	j := &json.Walker{Bytes: text}
	r := &crash.Marked{Form: swiftEvent}
	crash := false
	j.Object(func(key string) {
		switch key {
		case "kind":
			crash = j.Text() == "crashReport"
		case "platform":
			r.Kind = swiftPlatform(j.Text())
		case "architecture":
			r.Arch = report.ProcessorArch(j.Text())
		case "threads":
			j.Array(func(i int) { readSwiftThread(r, j, uint64(i)) })
		case "images":
			j.Array(func(int) { readSwiftImage(r, j) })
		}
	})
	if j.Broken() || !crash {
		return nil
	}
	return r.Report(text, o)
}

func readSwiftImage(r *crash.Marked, j *json.Walker) {
	var img crash.Image
	j.Object(func(key string) {
		switch key {
		case "name":
			img.Name = j.Text()
		case "buildId":
			if id := j.Text(); scan.IsHex([]byte(id)) {
				img.UUID = id
			}
		case "path":
			img.Path = j.Text()
		case "baseAddress":
			img.Start = j.Number()
		case "endOfText":
			img.End = j.Number()
		}
	})
	r.Images = append(r.Images, img)
}

func readSwiftThread(r *crash.Marked, j *json.Walker, number uint64) {
	t := crash.MarkedThread{ID: number}
	j.Object(func(key string) {
		switch key {
		case "name":
			t.Name = j.Text()
		case "crashed":
			t.Crashed = j.IsTrue()
		case "frames":
			j.Array(func(int) {
				if f, ok := readSwiftFrame(j); ok {
					t.Take(f)
				}
			})
		}
	})
	r.Threads = append(r.Threads, t)
}

// readSwiftFrame: frames that were left out have no address.
func readSwiftFrame(j *json.Walker) (f crash.MarkedFrame, ok bool) {
	j.Peek()
	f.Span[0] = j.Pos
	j.Object(func(key string) {
		switch key {
		case "kind":
			if j.Text() == "returnAddress" {
				f.Kind = max(f.Kind, crash.Return)
			}
		case "inlined":
			if j.IsTrue() {
				f.Kind = crash.Inlined
			}
		case "address":
			f.Addr, ok = j.Number(), true
		case "image":
			f.Image = j.Text()
		}
	})
	f.Span[1] = j.Pos
	return f, ok && !j.Failed
}

// swiftGone are the members that an answer replaces.
var swiftGone = []string{"symbol", "offset", "description", "sourceLocation"}

// writeSwiftMembers writes the answer of a frame under the names that Swift uses.
func writeSwiftMembers(out *bufio.Writer, at *symbol.Frame) {
	name := at.Linkage
	if name == "" {
		name = report.FunctionName(at)
	}
	json.WriteMember(out, "symbol", name)
	out.WriteString(", ")
	json.WriteMember(out, "description", report.FunctionName(at))
	if at.File != "" {
		out.WriteString(`, "sourceLocation": {`)
		json.WriteMember(out, "file", at.File)
		out.WriteString(`, "line": ` + strconv.FormatUint(uint64(at.Line), 10) + `, "column": ` + strconv.FormatUint(uint64(at.Column), 10) + "}")
	}
}
