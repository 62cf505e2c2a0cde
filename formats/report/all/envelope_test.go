package all

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	envelopeEvent = `{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc","exception":{"values":[{"type":"Error","stacktrace":{"frames":[{"filename":"https://h.example/app.min.js","abs_path":"https://h.example/app.min.js","function":"f","lineno":1,"colno":44,"in_app":true}]}}]}}`
	envelopeLog   = "#00 pc 00000000000047d4  /data/app/libcart.so (BuildId: 564bb6c8)\n#01 pc 0000000000005000  /apex/lib64/libc.so"
)

// envelope returns an envelope of items, "TYPE PAYLOAD" each.
func envelope(items ...string) string {
	var b strings.Builder
	b.WriteString(`{"event_id":"9ec79c33ec9942ab8353589fcb2e04dc","sent_at":"2026-01-02T03:04:05Z"}` + "\n")
	for _, i := range items {
		kind, payload, _ := strings.Cut(i, " ")
		fmt.Fprintf(&b, `{"type":"%s","length":%d,"content_type":"x"}`+"\n%s\n", kind, len(payload), payload)
	}
	return b.String()
}

// itemsOf takes an envelope apart.
func itemsOf(t *testing.T, text string) (items []string) {
	t.Helper()
	_, rest, _ := strings.Cut(text, "\n")
	for len(rest) > 0 {
		header, behind, ok := strings.Cut(rest, "\n")
		var h struct {
			Type   string
			Length int
		}
		if err := json.Unmarshal([]byte(header), &h); err != nil || !ok || h.Length >= len(behind) || behind[h.Length] != '\n' {
			t.Fatalf("the item %q is none, before %q", header, behind)
		}
		items = append(items, h.Type+" "+behind[:h.Length])
		rest = behind[h.Length+1:]
	}
	return items
}

// TestEnvelope answers the items of an envelope, and writes their new lengths.
func TestEnvelope(t *testing.T) {
	t.Parallel()
	binary := "MDMP\x93\xa7\x00\x00\n#00 pc 00000000000047d4  /data/app/libcart.so\n\xff\xfe{\"a\":\n\x00"
	pretty := strings.ReplaceAll(envelopeEvent, ",", ",\n")
	in := []string{"event " + envelopeEvent, "attachment " + binary, "event " + pretty, "attachment " + envelopeLog, "session {}", "attachment ", "event " + envelopeEvent}
	text := envelope(in...)
	var out bytes.Buffer
	frames := 0
	for _, s := range split(t, text, report.Options{}) {
		var answers [][]symbol.Answer
		for i := range s.Threads {
			list := repeat(symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "toy.Named", File: "a.c", Line: 7, Column: 3}}}, len(s.Threads[i].Frames))
			answers, frames = append(answers, list), frames+len(list)
		}
		if err := report.Print(&out, s, answers); err != nil {
			t.Fatal(err)
		}
	}
	if frames != 5 {
		t.Errorf("%d frames, want 5", frames)
	}
	got := itemsOf(t, out.String())
	if len(got) != len(in) {
		t.Fatalf("%d items, want %d:\n%s", len(got), len(in), out.String())
	}
	for i := range in {
		kind, payload, _ := strings.Cut(got[i], " ")
		wanted := strings.HasPrefix(in[i], "event") || strings.Contains(in[i], envelopeLog)
		if has := strings.Contains(payload, "toy.Named"); has != wanted || !wanted && got[i] != in[i] {
			t.Errorf("%q became %q", in[i], got[i])
		}
		if kind == "event" && !json.Valid([]byte(payload)) {
			t.Errorf("%s is no JSON", payload)
		}
	}
}

// TestNoEnvelope reads lines of JSON that look like headers of items, and are none.
func TestNoEnvelope(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a length of another thing": `{"type":"log","length":12}` + "\n" + envelopeEvent + "\n",
		"a length of too much":      `{"type":"event","length":100000}` + "\n" + envelopeEvent + "\n",
		"no length":                 `{"type":"event"}` + "\n" + envelopeEvent + "\n",
		"a length in words":         `{"type":"event","length":"12"}` + "\n" + envelopeEvent,
	} {
		frames := 0
		for _, s := range split(t, text, report.Options{}) {
			frames += s.Frames()
		}
		if frames != 1 {
			t.Errorf("%s: %d frames, want 1", name, frames)
		}
	}
	text := envelope("attachment "+strings.Repeat("\x00binary\n", 4<<10), "event "+envelopeEvent)
	frames, long := 0, 0
	for _, s := range split(t, text, report.Options{DocumentBytes: 4 << 10}) {
		frames, long = frames+s.Frames(), long+len(s.Unread)
	}
	if frames != 1 || long != 1 {
		t.Errorf("behind a long item: %d frames, %d parts that are not read", frames, long)
	}
}
