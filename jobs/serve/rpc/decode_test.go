package rpc

import (
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/symlake/symlake/jobs/serve/protocol"
	"github.com/symlake/symlake/jobs/serve/symlakev1"
)

// A message is decoded from both encodings, and refused before that if it has too many parts.
func TestDecode(t *testing.T) {
	want := &symlakev1.LookupRequest{App: "shop", Queries: []*symlakev1.Query{{Artifact: "a,{[\"", Position: "0x1"}, {}}}
	for _, c := range []codec{"proto", "json"} {
		text, err := c.Marshal(&message{send: want})
		if err != nil {
			t.Fatal(err)
		}
		decode := func(text []byte, most int) (*symlakev1.LookupRequest, error) {
			var m message
			if err := c.Unmarshal(text, &m); err != nil {
				t.Fatal(err)
			}
			clear(text) // the bytes are the caller's again
			var got symlakev1.LookupRequest
			return &got, m.decode(&got, most)
		}
		if got, err := decode(append([]byte(nil), text...), 3); err != nil || !proto.Equal(got, want) {
			t.Errorf("%s: %v, %v", c, got, err)
		}
		if _, err := decode([]byte{0xff}, 3); err == nil || errors.Is(err, protocol.ErrParts) {
			t.Errorf("%s: damage: %v", c, err)
		}
		many := map[codec]string{"proto": strings.Repeat("\n\x00", 50), "json": `{"queries":[` + strings.Repeat("{},", 50) + `{}]}`}[c]
		if _, err := decode([]byte(many), 3); !errors.Is(err, protocol.ErrParts) {
			t.Errorf("%s: many parts: %v", c, err)
		}
		if got, err := decode(nil, 3); err != nil || !proto.Equal(got, &symlakev1.LookupRequest{}) {
			t.Errorf("%s: an empty message: %v, %v", c, got, err)
		}
	}
	if got := Text("a\xff\xfe\xe2\x82b€"); got != "a\ufffd\ufffd\ufffd\ufffdb€" {
		t.Errorf("%q", got)
	}
}

// Any message is decoded or refused, in both encodings.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("\n\x02\n\x00"), false)
	f.Add([]byte(`{"queries":[{"artifact":"a","position":"0x1"}],"context":"5","text":"\ud800"}`), true)
	f.Fuzz(func(t *testing.T, text []byte, json bool) {
		m := &message{text: text, json: json}
		if asked, err := m.Lookup(100); err == nil && (len(asked.Artifacts) != len(asked.Positions) || len(asked.Artifacts) > 500) {
			t.Fatalf("%d artifacts, %d positions", len(asked.Artifacts), len(asked.Positions))
		}
		if stack, err := m.Stack(); err == nil && stack == nil {
			t.Fatal("neither a stack nor an error")
		}
	})
}
