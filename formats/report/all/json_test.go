package all

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Reports in lists and envelopes are found, each with its own images; reports that are cut are read
// as far as they go, and what follows them is read too.
func TestJSONEnvelopes(t *testing.T) {
	const text = `{"cpuType":"ARM-64","threads":[{"frames":[{"imageOffset":16,"imageIndex":0}]}],"usedImages":[{"base":4096,"size":4096,"uuid":"4c4c44d8-5555-3144-a18c-9d79e6bf39ea","path":"/a/game"}]}`
	const other = `{"threads":[{"frames":[{"imageOffset":32,"imageIndex":0}]}],"usedImages":[{"base":8192,"size":4096,"uuid":"4c4c44d8-5555-3144-a18c-9d79e6bf39eb","path":"/a/shop"}]}`
	const first, second = gameUUID + ",game 0x1010 0x1000+0x10", "4c4c44d8-5555-3144-a18c-9d79e6bf39eb,shop 0x2020 0x2000+0x20"
	const dump = `{"binary_images":[{"image_addr":4096,"image_size":4096,"name":"/a/game","uuid":"4C4C44D8-5555-3144-A18C-9D79E6BF39EA"}],"crash":{"threads":[{"index":0,"backtrace":{"contents":[{"instruction_addr":4112,"object_addr":4096,"object_name":"game"},{"instruction_ad`
	for _, c := range []struct {
		text string
		want []string
	}{
		{"[" + text + "," + other + "]\n", []string{first, second}},
		{"[\n  " + text + ",\n  " + other + "\n]\n", []string{first, second}},
		{`{"id":3,"report":` + text + "}", []string{first}},
		{`{"modules":[1],"threads":[{"x":1}],"inner":[` + other + "]}", []string{second}},
		{dump, []string{first}},
		{dump + "\n" + text + "\n", []string{first, first}},
		{before("> ", strings.ReplaceAll(text, ",", ",\n")), []string{first}},
		{"{ level\n" + text, []string{first}},
		{"{\"log\": [\n\"0   game   0x0000000104a3004c 0x104a2c000 + 16460\",\n\"end\"]}\n" + text, []string{"game 0x104a3004c 0x104a2c000+0x404a", first}},
	} {
		var got []string
		var out bytes.Buffer
		for _, s := range split(t, c.text, report.Options{}) {
			for _, th := range s.Threads {
				for i := range th.Frames {
					got = append(got, place(&th.Frames[i]))
				}
			}
			if err := report.Print(&out, s, [][]symbol.Answer{{{Status: symbol.Found, Frames: []symbol.Frame{{Function: "f"}}}}}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.text, diff)
		}
		if !strings.Contains(out.String(), `"symbol": "f"`) && !strings.Contains(out.String(), `"symbol_name": "f"`) {
			t.Errorf("%s became %s", c.text, out.String())
		}
	}
}

// An addition to a quoted report is quoted too.
func TestQuotedJSON(t *testing.T) {
	text := "> {\"threads\":[{\"frames\":[\n>   {\"imageOffset\":16,\"imageIndex\":0}]}],\n> \"usedImages\":[{\"base\":4096}]}\n"
	var out bytes.Buffer
	if err := report.Print(&out, one(t, text, report.Options{}), [][]symbol.Answer{{{Status: symbol.Found, Frames: []symbol.Frame{{Function: "f"}, {Function: "g"}}}}}); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(text, `"imageIndex":0}`, "\"imageIndex\":0, \"symbol\": \"f\", \"inline\": true},\n>   {\"imageOffset\":16, \"imageIndex\":0, \"symbol\": \"g\"}", 1)
	want = strings.Replace(want, `{"imageOffset":16,"imageIndex"`, `{"imageOffset":16, "imageIndex"`, 1)
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// Lines of source that stand around a frame in an event are no stack.
func TestSourceLists(t *testing.T) {
	t.Parallel()
	const text = `{"pre_context":["at a.b(C.java:3)","x.y(z)"],"lines":["self.queue.put(None)","a.b.release()"]}` + "\n"
	for _, s := range split(t, text, report.Options{}) {
		if s.Frames() > 1 { // the line that is a frame by itself
			t.Error(dump([]*report.Report{s}))
		}
	}
}
