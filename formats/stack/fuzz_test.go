package stack

import (
	"bytes"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
)

// FuzzSplit: whatever the text, nothing is lost without answers; with answers,
// taking their lines out gives the text back, and no bound is passed.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "\r\n", "x", "#00 pc 0010 a.so", "pc 0x22074 libc.so [arm64-v8a::77e6]\r\n", "a.so 0x10\n\n\na.so +0x10",
		"*** *** *** *** ***\nABI: 'arm64'\npid: 1, tid: 2, name: x  >>> y <<<\n  #00 pc 0010 /d/b.apk!l.so (offset 0x1) (BuildId: ab)\n--- --- --- --- ---\n",
		"02-03 10:11:12.313  4300  4300 F DEBUG   :       #00 pc 0010  /a/b.so (f+1)\n", "I/DEBUG   (  145):  #01\tpc 0x1 a\n",
		"\"main\" sysTid=7\n native: #00 pc 0011 a.so\n", "#0 0x1 in f(int) (a.so+0x2)\n", "0x10\n", "#00 pc 1 [", "#00 pc 1 <", "#00 pc 1 (", "#00 pc 1 !x!",
	} {
		f.Add([]byte(seed), uint8(0))
		f.Add([]byte(seed), uint8(Exact)|4)
	}
	const mark = "\x01answer"
	f.Fuzz(func(t *testing.T, input []byte, options uint8) {
		o := Options{Frame0: Frame0(options & 3)}
		if options&4 != 0 {
			o.Artifacts = []string{"a"}
		}
		if bytes.Contains(input, []byte("\ufffdanswer")) {
			return
		}
		var same, answered bytes.Buffer
		lines := 0
		err := Split(t.Context(), bytes.NewReader(input), o, func(s *Stack) error {
			end := 0
			var answers [][]symbol.Answer
			for _, th := range s.Threads {
				if len(th.Frames) == 0 || len(th.Frames) > MaxFrames {
					t.Fatalf("a thread of %d frames", len(th.Frames))
				}
				for _, fr := range th.Frames {
					if fr.Span[0] < end || fr.Span[1] < fr.Span[0] || fr.Span[1] > len(s.Text) {
						t.Fatalf("span %v after %d of %d", fr.Span, end, len(s.Text))
					}
					end = fr.Span[1]
					if fr.indent < 0 || fr.indent > max(len(s.FrameText(&fr)), 4) {
						t.Fatalf("indent %d of %q", fr.indent, s.FrameText(&fr))
					}
					lines += 2
				}
				answer := symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: mark, File: mark}}}
				answers = append(answers, repeat(answer, len(th.Frames)))
			}
			if (len(s.Threads) > 0) != (s.Format != "") {
				t.Fatalf("%d threads of %q", len(s.Threads), s.Format)
			}
			if err := Print(&answered, s, answers); err != nil {
				return err
			}
			return Print(&same, s, nil)
		})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(same.Bytes(), input) {
			t.Fatalf("%q became %q", input, same.Bytes())
		}
		var kept []string
		for l := range strings.SplitSeq(answered.String(), "\n") {
			if strings.Contains(l, "\ufffdanswer") {
				lines--
				continue
			}
			kept = append(kept, strings.ReplaceAll(l, "\r", ""))
		}
		if got, want := strings.Join(kept, "\n"), strings.ReplaceAll(string(input), "\r", ""); lines != 0 || got != want {
			t.Fatalf("%d answer lines off; the others:\n%q\n%q", lines, got, want)
		}
	})
}

func repeat(a symbol.Answer, n int) []symbol.Answer {
	all := make([]symbol.Answer, n)
	for i := range all {
		all[i] = a
	}
	return all
}
