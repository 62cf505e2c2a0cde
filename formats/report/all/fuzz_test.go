package all

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/symlake/symlake/formats/internal/scan"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// FuzzSplit: for any text, nothing is lost without answers; with answers,
// taking their lines out gives the text back, and no bound is passed.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "\r\n", "x", "at A.A()", "#00 pc 0010 a.so", "pc 0x22074 libc.so [arm64-v8a::77e6]\r\n", "a.so 0x10\n\n\na.so +0x10",
		"*** *** *** *** ***\nABI: 'arm64'\npid: 1, tid: 2, name: x  >>> y <<<\n  #00 pc 0010 /d/b.apk!l.so (offset 0x1) (BuildId: ab)\n--- --- --- --- ---\n",
		"02-03 10:11:12.313  4300  4300 F DEBUG   :       #00 pc 0010  /a/b.so (f+1)\n", "I/DEBUG   (  145):  #01\tpc 0x1 a\n",
		"\"main\" sysTid=7\n native: #00 pc 0011 a.so\n", "#0 0x1 in f(int) (a.so+0x2)\n", "0x10\n", "#00 pc 1 [", "#00 pc 1 <", "#00 pc 1 (", "#00 pc 1 !x!",
		"Error: a\n    at f (http://h/a.js?b:1:35)\n    at async g (address at index.android.bundle:1:9)\n    at eval (eval at c (u.js:1:92), <anonymous>:1:39)\n",
		"Unhandled exception:\naa: type 'b' is not a subtype of type 'c<d>'\n*** *** *** *** ***\npid: 1, tid: 2, name x\nos: android arch: arm64 comp: yes sim: no\nbuild_id: 'abcdef0123456789'\nloading_unit: 2, build_id: 'ab', dso_base: 5000, instructions: 6000\nisolate_dso_base: 10, vm_dso_base: 10\nisolate_instructions: 20, vm_instructions: 10\n    #00 abs 6010 unit 2 virt 1010 <unknown>\n<asynchronous suspension>\n    #01 abs 30 virt 20 _kDartIsolateSnapshotInstructions+0x10\n",
		"at . #00 abs 0 virt 31ba6f _kDartVmSnapshotInstructions+0x14\n  pc 0x10 fp 0x20 sp 0x30 _kDartSnapshotText+0x10\n_kDartIsolateSnapshotInstructions+10\n",
		"/a/b.so(+0x1f3a) [0x7f5c]\n./shop(f+0x1d) [0x401136]\n\t    55d0c1a2b13d main+0x1d (/home/u/shop)\n\nmain.f(0x1)\n\t/src/a.go:20 +0x1d\n",
		"\x1b[31mF/a: #00 pc 0010 /a/b.so\x1b[0m\r\n  #1 f <null> (a.so:arm64+0x2) (BuildId: ab)\n #2 0x0000ffffaf905e0c f (a.so (deleted)+0x2)\nStack trace of thread 2:\n#0  0x00007f55c48256e6 f (a.so + 0x2)\n(EE) 1: /a/b (0x4000+0x10) [0x401136]\n",
		"async*f@http://h/a.js:1:2\n@a.js:1:2\nhttp://h/a.js:1:2\nx@33.js:1:531\n",
		`{"stack":"E\\n    at f (http:\\/\\/h\\/a.js:1:35)","frames":[{"filename":"a.js","lineno":1,"colno":"2","function":"f"}]}`,
		"0   game   0x0000000104a3004c 0x104a2c000 + 16460 (f + 1)\n1   lib   0x00007fff349f505e f(int) + 250\n", "0x104a3004c game 0x104a2c000+16460 [4C4C44D8-5555-3144-A18C-9D79E6BF39EA]\r\n",
		"[  0] 4C4C44D8-5555-3144-A18C-9D79E6BF39EA 0x0000000104a2c000 /g\n0 0x104ccc074\n",
		"Incident Identifier: 1\nCode Type: ARM-64\nLast Exception Backtrace:\n0 g 0x104a3004c 0x104a2c000 + 16460\nThread 0 name: x\nThread 0 Crashed:\n0 g 0x104a3004c f + 1\nBinary Images:\n0x104a2c000 - 0x104a3bfff +g arm64 (1) <4c4c44d855553144a18c9d79e6bf39ea> /g\n",
		"Incident Identifier: 1\nLast Exception Backtrace:\n(0x104a3004c 0x10)\n\nBinary Images:\n0x104a2c000 - 0x104a3bfff g arm64 /g\n", resourceReport, sampleReport, metricReport,
		"0   game   0x0000000104a3004c game + 16460\n)\ndSYM UUID: 4C4C44D8-5555-3144-A18C-9D79E6BF39EA\nBinary Image: game\nBase Address: 0x0000000104a2c000\n",
		`{"cpuType":"ARM-64","threads":[{"frames":[{"imageOffset":16,"imageIndex":0}]}],"lastExceptionBacktrace":[{"imageOffset":32,"imageIndex":0,"symbol":"a\"b"}],"usedImages":[{"base":4096,"size":4096,"uuid":"4c4c44d8-5555-3144-a18c-9d79e6bf39ea","path":"/a/g"}]}`,
		before("> ", quotedReport), swiftReportText, swiftReportJSON, walkReport, walkLines, kernelTrace, hotspotLog, bugsnagReport, sentryReport, datadogReport, "[\n{\"threads\":[{\"frames\":[{\"imageOffset\":16,\"imageIndex\":0}]}],\n\"usedImages\":[{\"base\":4096,\"size\":4096}]},\n{\"cut", "{ x\n> \"0   game   0x0000000104a3004c 0x104a2c000 + 16460\",\n",
		"[  0] 4C4C44D8-5555-3144-A18C-9D79E6BF39EA 0x0000000104a2c000 /g\n(lldb) bt\n* thread #1\n  * frame #0: 0x0000000104a3004c g`f + 4\n0x104a30050\n\u00a00\u00a00x104a30050\n",
		`{"binary_images":[{"image_addr":1,"name":"g","uuid":"x"}],"crash":{"error":{"type":"nsexception"},"threads":[{"crashed":true,"backtrace":{"contents":[{"instruction_addr":"0x10","object_addr":1}]}}]}}`,
		`java.lang.IllegalStateException: x\n\tat a.b.c(SourceFile:12)\n\tat d.e(Unknown Source)`, `"stack": "{\\n #00 pc 0000000000000010  /data/libcart.so\\n"`,
		"\xff\xfe0\x00x\x001\x00 \x00g\x00", "\ufeff#00 pc 0000000000000010  /data/libcart.so\r#01 pc 0000000000000020  /data/libcart.so\r", "at a.b(Gr\xf6\xdfe.java:3)\n",
	} {
		f.Add([]byte(seed), uint8(0))
		f.Add([]byte(seed), uint8(report.Exact)|4)
	}
	const mark = "\x01answer"
	f.Fuzz(func(t *testing.T, input []byte, options uint8) {
		o := report.Options{Frame0: report.Frame0(options & 3)}
		if options&8 != 0 {
			o.IsolateStart, o.VMStart, o.Units = 0x1000, 0x10, map[int]string{3: "part.so"}
		}
		if options&4 != 0 {
			o.Artifacts = []string{"a"}
		}
		if bytes.Contains(input, []byte("\ufffdanswer")) || isFile(input) {
			return
		}
		var same, answered bytes.Buffer
		lines := 0
		own := false // a stack was printed in a manner of its own
		err := report.Split(t.Context(), bytes.NewReader(input), Dialects, o, func(s *report.Report) error {
			var spans [][2]int
			var answers [][]symbol.Answer
			for _, th := range s.Threads {
				if len(th.Frames) == 0 || len(th.Frames) > report.MaxFrames {
					t.Fatalf("a thread of %d frames", len(th.Frames))
				}
				for _, fr := range th.Frames {
					if spans = append(spans, fr.Span); fr.Span[0] < 0 || fr.Span[1] < fr.Span[0] || fr.Span[1] > len(s.Text) {
						t.Fatalf("span %v of %d", fr.Span, len(s.Text))
					}
					if fr.Layout.Indent < 0 || fr.Layout.Indent > max(len(s.FrameText(&fr)), 4) {
						t.Fatalf("indent %d of %q", fr.Layout.Indent, s.FrameText(&fr))
					}
					lines += 2
					own = own || fr.Managed != nil // replaced in its line
				}
				answer := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: mark, File: mark}}}
				answers = append(answers, repeat(answer, len(th.Frames)))
			}
			slices.SortFunc(spans, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) }) // in trees, callers stand above
			for i := range len(spans) - 1 {
				if spans[i+1][0] < spans[i][1] {
					t.Fatalf("span %v within %v", spans[i+1], spans[i])
				}
			}
			if (len(s.Threads) > 0) != (s.Format() != "") {
				t.Fatalf("%d threads of %q", len(s.Threads), s.Format())
			}
			from := answered.Len()
			if err := report.Print(&answered, s, answers); err != nil {
				return err
			}
			composite := bytes.IndexAny(bytes.TrimSpace(s.Text), "{[") == 0 // answers stand within its strings; a string alone is a quoted line
			own = own || composite || s.Form != nil && s.Form.Print != nil
			if composite && json.Valid(s.Text) && len(s.Threads) > 0 && !json.Valid(answered.Bytes()[from:]) {
				t.Fatalf("%q became %q, which is no JSON", s.Text, answered.Bytes()[from:])
			}
			return report.Print(&same, s, nil)
		})
		if err != nil {
			t.Fatal(err)
		}
		decoded := isDecoded(input)
		if !decoded && !bytes.Equal(scan.Plain(same.Bytes()), scan.Plain(input)) {
			t.Fatalf("%q became %q", input, same.Bytes())
		}
		if own || decoded {
			return
		}
		var kept []string
		for l := range strings.SplitSeq(string(scan.Plain(answered.Bytes())), "\n") {
			if strings.Contains(l, "\ufffdanswer") {
				lines--
				continue
			}
			kept = append(kept, strings.ReplaceAll(l, "\r", ""))
		}
		if got, want := strings.Join(kept, "\n"), strings.ReplaceAll(string(scan.Plain(input)), "\r", ""); lines != 0 || got != want {
			t.Fatalf("%d answer lines off; the others:\n%q\n%q", lines, got, want)
		}
	})
}

// isDecoded reports whether Split may decode a text's letters or escapes.
func isDecoded(text []byte) bool {
	return !utf8.Valid(text) || bytes.HasPrefix(text, []byte("\ufeff")) || bytes.IndexByte(text, 0) >= 0 || bytes.Contains(text, []byte(`\n`))
}

func repeat(a symbol.Answer, n int) []symbol.Answer {
	all := make([]symbol.Answer, n)
	for i := range all {
		all[i] = a
	}
	return all
}
