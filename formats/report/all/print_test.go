package all

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

func TestPrint(t *testing.T) {
	found := func(frames ...symbol.Frame) symbol.Answer { return symbol.Answer{Status: symbol.Found, Frames: frames} }
	known := symbol.Frame{Function: "f(int)", Linkage: "_Z1fi", File: "/src/a.cpp", Line: 42, Column: 7}
	const input = "2\t#00 pc 0010  a.so (x)\n2\t#01 pc 0011  a.so"
	for _, c := range []struct {
		name    string
		answers [][]symbol.Answer
		want    string
	}{
		{"nothing asked", nil, input},
		{"fewer answers than frames", [][]symbol.Answer{{found(known)}},
			"2\t#00 pc 0010  a.so (x)\n \t             f(int)\n \t             /src/a.cpp:42:7\n2\t#01 pc 0011  a.so"},
		{"no line end at the end", [][]symbol.Answer{{{}, found(known)}}, input + "\n \t             f(int)\n \t             /src/a.cpp:42:7"},
		{"what is not known", [][]symbol.Answer{{found(symbol.Frame{Linkage: "_Zx"}), found(symbol.Frame{File: "a.c", Line: 1})}},
			"2\t#00 pc 0010  a.so (x)\n \t             _Zx\n \t             ??:0:0\n2\t#01 pc 0011  a.so\n \t             ??\n \t             a.c:1:0"},
		{"no answer, whatever the reason", [][]symbol.Answer{{{Status: symbol.Hole, Frames: []symbol.Frame{known}}, found()}}, input},
		{"more answers than frames", [][]symbol.Answer{{{}, {}, found(known)}, {found(known)}}, input},
		{"names cannot forge lines", [][]symbol.Answer{{found(symbol.Frame{Function: "f\n#09 pc 0 b.so\x1b[2J", File: "é\r.c"})}},
			"2\t#00 pc 0010  a.so (x)\n \t             f\ufffd#09 pc 0 b.so\ufffd[2J\n \t             é\ufffd.c:0:0\n2\t#01 pc 0011  a.so"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			for _, s := range split(t, input, report.Options{}) {
				if err := report.Print(&out, s, c.answers); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
	colored := split(t, "\x1b[31mF/DEBUG   ( 43): #00 pc 0010 a.so\x1b[0m\n", report.Options{})[0]
	var out bytes.Buffer
	if err := report.Print(&out, colored, [][]symbol.Answer{{found(known)}}); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[31mF/DEBUG   ( 43): #00 pc 0010 a.so\x1b[0m\nF/DEBUG   ( 43):             f(int)\nF/DEBUG   ( 43):             /src/a.cpp:42:7\n"; out.String() != want {
		t.Errorf("behind a color: %q, want %q", out.String(), want)
	}
	full := errors.New("disk full")
	if err := report.Print(writer(func([]byte) (int, error) { return 0, full }), split(t, input, report.Options{})[0], nil); err != full {
		t.Errorf("a writer's error: %v", err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// With a mapping for all of a text, a line above frames of another form names a class, too.
func TestPrintNamesAboveFrames(t *testing.T) {
	for _, frame := range []string{
		"#0 0x55a4bce in f (/lib/libcart.so+0x1f3a)\n",
		"#00 abs 0000007baa845767 virt 0000000000165767 _kDartIsolateSnapshotInstructions+0x9ed27\n",
	} {
		var out bytes.Buffer
		for _, s := range split(t, "a.b: x\n"+frame, report.Options{Managed: report.ManagedOptions{All: true}}) {
			var answers [][]symbol.Answer
			for _, th := range s.Threads {
				answers = append(answers, repeat(symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{{Function: "f", File: "f.c", Line: 1}}}, len(th.Frames)))
			}
			if err := report.Print(&out, s, answers); err != nil {
				t.Fatal(err)
			}
		}
		if got := out.String(); !bytes.Contains(out.Bytes(), []byte("f.c:1")) || got[:7] != "a.b: x\n" {
			t.Errorf("%q", got)
		}
	}
}

// Original names of Dart's classes above a script's frames leave those in their place.
func TestPrintRenamesAboveScripts(t *testing.T) {
	const input = "type 'aa' is not a subtype of type 'b'\n    at f (http://h/a.js:1:35)\n"
	var out bytes.Buffer
	for _, s := range split(t, input, report.Options{}) {
		if len(s.Words) == 0 {
			t.Fatal("no words")
		}
		s.Words[0].Original = "ShoppingCart"
		if err := report.Print(&out, s, [][]symbol.Answer{{{Status: symbol.Found, Frames: []symbol.Frame{{Function: "add", File: "cart.ts", Line: 3, Column: 4}}}}}); err != nil {
			t.Fatal(err)
		}
	}
	const want = "type 'ShoppingCart' is not a subtype of type 'b'\n    at add (cart.ts:3:5)\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
