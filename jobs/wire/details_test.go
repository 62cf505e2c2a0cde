package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
)

// detailed returns the records of a text, without answers.
func detailed(t *testing.T, text string, d Details) (out []map[string]any) {
	t.Helper()
	var written bytes.Buffer
	err := report.Split(t.Context(), strings.NewReader(text), all.Dialects, report.Options{}, func(s *report.Report) error {
		answers := make([][]symbol.Answer, len(s.Threads))
		for i := range s.Threads {
			answers[i] = make([]symbol.Answer, len(s.Threads[i].Frames))
			for k := range answers[i] {
				answers[i][k].Status = symbol.NoArtifact
			}
		}
		j := NewJSON(&written)
		WriteStack(j, s, answers, d)
		return j.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	for dec := json.NewDecoder(&written); dec.More(); {
		var one map[string]any
		if err := dec.Decode(&one); err != nil {
			t.Fatal(err)
		}
		out = append(out, one)
	}
	return out
}

// facts lists the details of a record, a line for each thread and frame.
func facts(record map[string]any) (out []string) {
	say := func(what string, from map[string]any, names ...string) {
		line := what
		for _, n := range names {
			if v, ok := from[n]; ok {
				line += fmt.Sprintf(" %s=%v", n, v)
			}
		}
		out = append(out, line)
	}
	say("stack", record, "arch")
	for _, th := range record["threads"].([]any) {
		thread := th.(map[string]any)
		say("thread", thread, "id", "name", "crashed")
		for _, f := range thread["frames"].([]any) {
			say("frame", f.(map[string]any), "before", "image", "asked", "arch", "class")
		}
	}
	return out
}

func TestDetails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"tombstone", "D/x: *** ***\nABI: 'arm64'\npid: 1, tid: 7, name: worker  >>> shop <<<\nsignal 11\nbacktrace:\n  #00 pc 10  /a/lib.so (BuildId: 0a900536e7746c31)\n  #01 pc 20  /a/lib.so\nmemory\n  #02 pc 30  /a/lib.so\n", []string{
			"stack arch=arm64", "thread id=7 name=worker",
			"frame before=D/x: *** ***\nABI: 'arm64'\npid: 1, tid: 7, name: worker  >>> shop <<<\nsignal 11\nbacktrace: image=/a/lib.so asked=[0a900536e7746c31 lib.so]",
			"frame image=/a/lib.so asked=[lib.so]", "frame before=memory image=/a/lib.so asked=[lib.so]"}},
		{"java", "java.lang.Error: no\n\tat a.b.c(Unknown Source:3)\nCaused by: a.d: why\n\tat a.b.d(Unknown Source:4)\n", []string{
			"stack", "thread", "frame class=true", "frame", "frame class=true", "frame"}},
		{"ips", `{"bug_type":"309"}` + "\n" + `{"cpuType":"ARM-64","threads":[{"triggered":true,"id":5,"queue":"main","frames":[{"imageOffset":16,"imageIndex":0}]}],"usedImages":[{"base":4096,"size":4096,"uuid":"4c4c4445-5555-3144-a15a-97db26a4f913","path":"/a/game","name":"game"}]}`, []string{
			"stack arch=arm64", "thread id=5 name=main crashed=true", "frame image=/a/game asked=[4c4c4445-5555-3144-a15a-97db26a4f913 game]"}},
	} {
		records := detailed(t, c.text, Details{On: true})
		if len(records) != 1 {
			t.Errorf("%s: %d records", c.name, len(records))
			continue
		}
		if diff := cmp.Diff(c.want, facts(records[0])); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		for _, line := range facts(detailed(t, c.text, Details{})[0]) {
			if strings.Contains(line, "=") {
				t.Errorf("%s, without details: %s", c.name, line)
			}
		}
	}
}

// Long texts between frames are cut at a line's end: before the first frame behind, and before others in front.
func TestDetailsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a line of the log ü\n", 2000)
	record := detailed(t, "begins here\n"+long+"#00 pc 10  /a/lib.so\n"+long+"ends here\n#01 pc 10  /a/lib.so\n", Details{On: true})
	var before []string
	for _, r := range record {
		for _, th := range r["threads"].([]any) {
			for _, f := range th.(map[string]any)["frames"].([]any) {
				text, _ := f.(map[string]any)["before"].(string)
				before = append(before, text)
			}
		}
	}
	if len(before) != 2 {
		t.Fatalf("%d frames", len(before))
	}
	if len(before[0]) > headBytes || len(before[0]) < headBytes-64 || strings.TrimSuffix(strings.TrimPrefix(before[0], "begins here\n"), "ü") == "" {
		t.Errorf("%d bytes: %.40q", len(before[0]), before[0])
	}
	if len(before[1]) > betweenBytes || len(before[1]) < betweenBytes-64 || !strings.HasSuffix(before[1], "ends here") {
		t.Errorf("%d bytes: …%.40q", len(before[1]), before[1][max(0, len(before[1])-40):])
	}
}
