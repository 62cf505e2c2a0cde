package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

func marshal(t testing.TB, v any) string {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// atMost takes whole pieces as long as they fit.
type atMost struct {
	left int
	got  bytes.Buffer
}

func (w *atMost) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errors.New("full")
	}
	return w.got.Write(p)
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c", "\x00\x1f\x7f\n\r\t\b\f", "ünïcode 世界 \U0001f600", "\xff\xfe\xc3", "\u2028\u2029", "<&>", "\xe4\xb8"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want := marshal(t, s)
		if got := string(AppendString(nil, s)); got != want {
			t.Fatalf("%q: got %s, want %s", s, got, want)
		}
		if got := string(AppendString([]byte("x"), []byte(s))); got != "x"+want {
			t.Fatalf("%q as bytes: got %s, want x%s", s, got, want)
		}
	})
}

// The bytes equal encoding/json's for the same record. Where the writer below refuses a part,
// the rest is JSON with the reason.
func TestWriteStack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	frame := func() symbol.Frame {
		words := []string{"", "cart::add(int)", "_ZN4cart3addEi", "src/a\"b.cpp", "f\xffg", "n"}
		pick := func() string { return words[r.IntN(len(words))] }
		return symbol.Frame{Function: pick(), Linkage: pick(), File: pick(), Line: r.Uint32N(3), Column: r.Uint32N(3), Name: pick(), Ignored: r.IntN(4) == 0}
	}
	statuses := []symbol.Status{symbol.Found, symbol.Hole, symbol.Outside, symbol.NoArtifact, symbol.Unavailable, symbol.Loading}
	for range 2000 {
		s := &report.Report{Form: &report.Form{Name: "tombstone"}, Text: []byte("#00 pc \"1\"\n#01 pc 2\n")}
		var answers [][]symbol.Answer
		for range r.IntN(3) {
			var th report.Thread
			var as []symbol.Answer
			for range r.IntN(3) {
				f := report.Frame{Span: [2]int{0, r.IntN(10)}}
				if r.IntN(4) == 0 {
					f.Managed = &report.Managed{Method: []string{"", "m"}[r.IntN(2)]}
				}
				th.Frames = append(th.Frames, f)
				a := symbol.Answer{Status: statuses[r.IntN(len(statuses))]}
				for range r.IntN(3) {
					a.Frames = append(a.Frames, frame())
				}
				for range r.IntN(2) {
					a.Or = append(a.Or, []symbol.Frame{frame()})
				}
				if r.IntN(2) == 0 && a.Status != symbol.Found {
					a.Err = errors.New("why \"not\"")
				}
				as = append(as, a)
			}
			s.Threads, answers = append(s.Threads, th), append(answers, as)
		}
		var out bytes.Buffer
		WriteStack(NewJSON(&out), s, answers, Details{})
		record := NewStack(s, answers)
		want := ""
		if record != nil {
			want = marshal(t, record)
		}
		if got := out.String(); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
		cut := &atMost{left: r.IntN(len(want) + 40)}
		j := NewJSON(cut)
		j.Begin("", '{')
		j.Begin("stacks", '[')
		WriteStack(j, s, answers, Details{})
		j.End()
		text := j.Text("text")
		text.Write([]byte("a\"b\xe4\xb8"))
		text.Write([]byte("\x96\xff"))
		text.End()
		j.End()
		whole := cut.got.String()
		if j.Err() != nil {
			whole += string(j.Closing(errors.New("cut \"off\"")))
		} else if !strings.HasSuffix(whole, `,"text":"a\"b世\ufffd"}`) {
			t.Fatalf("the text: %s", whole)
		}
		var back struct{ Error string }
		if j.Err() == nil || cut.got.Len() > 0 {
			if err := json.Unmarshal([]byte(whole), &back); err != nil || (j.Err() != nil) != (back.Error == `cut "off"`) {
				t.Fatalf("%v: %s", err, whole)
			}
		}
	}
}
