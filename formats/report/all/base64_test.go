package all

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// someTombstone returns a message of debuggerd with a frame.
func someTombstone() []byte {
	number := func(n protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, n, protowire.VarintType), v)
	}
	part := func(n protowire.Number, parts ...[]byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), slices.Concat(parts...))
	}
	frame := part(4, number(1, 0x47d4), part(6, []byte("/data/app/libcart.so")), part(8, []byte("564bb6c8")))
	return slices.Concat(number(1, 1), part(2, []byte("google/sdk/x:16/BP1A/1:user/release-keys")), number(5, 7), number(6, 7), part(9, []byte("com.shop")),
		part(16, number(1, 7), part(2, number(1, 7), part(2, []byte("main")), frame)))
}

// TestBase64 answers tombstones and texts in base64, beside them.
func TestBase64(t *testing.T) {
	t.Parallel()
	dump := "----- pid 7 at 2026-01-02 03:04:05 -----\nCmd line: com.shop\n\"main\" prio=5 tid=1 Native\n  native: #00 pc 00000000000047d4  /data/app/libcart.so (BuildId: 564bb6c8)\n"
	std, url := base64.StdEncoding.EncodeToString(someTombstone()), base64.RawURLEncoding.EncodeToString(someTombstone())
	slashed, _ := json.Marshal(std)
	for name, c := range map[string]struct {
		text  string
		added string // behind the member; "": nothing
	}{
		"ApplicationExitInfo":    {`{"reason":5,"pid":7,"trace": "` + std + `", "status":11}`, "trace_text"},
		"base64 of URLs":         {`{"trace":"` + url + `"}`, "trace_text"},
		"in lines":               {`{"trace":"` + std[:76] + `\r\n` + std[76:] + `"}`, "trace_text"},
		"slashes":                {`{"a":[{"trace":` + strings.ReplaceAll(string(slashed), "/", `\/`) + `}]}`, "trace_text"},
		"an odd name":            {`{"the \"trace\"":"` + std + `"}`, `the "trace"_text`},
		"an ANR as text":         {`{"reason":6,"trace":` + string(quoteJSON(dump)) + `}`, ""},
		"an ANR in base64":       {`{"reason":6,"trace":"` + base64.StdEncoding.EncodeToString([]byte(dump)) + `"}`, "trace_text"},
		"JSON in a string":       {`{"event":` + string(quoteJSON(`{"trace":"`+std+`"}`)) + `}`, ""},
		"beside frames":          {`{"frames":[{"function":"f","filename":"https://h.example/a.min.js","lineno":1,"colno":2}],"trace":"` + std + `"}`, "trace_text"},
		"an attachment of lines": {"{\"attachments\":[{\"name\":\"tombstone.pb\",\n  \"data\":\"" + std + "\"\n}]}\n", "data_text"},
	} {
		var out bytes.Buffer
		frames := 0
		for _, s := range split(t, c.text, report.Options{}) {
			var answers [][]symbol.Answer
			for i := range s.Threads {
				list := repeat(symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "toy.Named", File: "a.c", Line: 7, Column: 3}}}, len(s.Threads[i].Frames))
				answers, frames = append(answers, list), frames+len(list)
			}
			if err := report.Print(&out, s, answers); err != nil {
				t.Fatal(err)
			}
		}
		if frames == 0 || !json.Valid(out.Bytes()) || !strings.Contains(out.String(), "toy.Named") {
			t.Errorf("%s: %d frames: %s", name, frames, out.String())
		}
		if c.added != "" && !strings.Contains(out.String(), string(quoteJSON(c.added))+`: "`) {
			t.Errorf("%s: no member %s in %s", name, c.added, out.String())
		}
		if c.added != "" && name != "beside frames" {
			before, _, _ := strings.Cut(out.String(), `, `+string(quoteJSON(c.added)))
			if !strings.HasPrefix(c.text, before) {
				t.Errorf("%s: %s became %s", name, c.text, out.String())
			}
		}
	}
}

// TestNoBase64 passes on strings that hold no report, and says which hold one without a place for its text.
func TestNoBase64(t *testing.T) {
	t.Parallel()
	for text, unread := range map[string]int{
		`{"a":"` + strings.Repeat("CAESAAAA", 100) + `"}`:                                               0,
		`{"a":"` + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("some words\n", 20))) + `"}`: 0,
		`["x","` + base64.StdEncoding.EncodeToString(someTombstone()) + `"]`:                            1,
	} {
		got := 0
		for _, s := range split(t, text, report.Options{}) {
			if got += len(s.Unread); s.Frames() > 0 {
				t.Errorf("%s: %d frames", text, s.Frames())
			}
		}
		if got != unread {
			t.Errorf("%s: %d parts that are not read, want %d", text, got, unread)
		}
	}
}

// quoteJSON returns a string of JSON.
func quoteJSON(text string) []byte {
	b, _ := json.Marshal(text) // no string fails
	return b
}
