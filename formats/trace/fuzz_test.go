package trace_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/formats/trace"
)

// fuzzTime is how long one input may take. It takes milliseconds, or hangs.
const fuzzTime = formattest.Patience

// fuzz reads data as a trace, with the files beside it: events keep the
// package's invariants, and an error is the input's.
func fuzz(t *testing.T, format string, data, beside []byte) {
	t.Helper()
	start := time.Now()
	s := newSeen(t)
	o := trace.Options{SortBytes: 4096, Scratch: func() (trace.Scratch, error) { return &scratch{}, nil }}
	if beside != nil {
		o.Beside = func(string, bool) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(beside)), nil }
	}
	report, err := trace.Read(context.Background(), bytes.NewReader(data), o, s.event)
	if err != nil && !formats.Rejects(err) {
		t.Fatalf("not the input's error: %v", err)
	}
	s.done()
	if report.Format != format && report.Format != "" && !(report.Format == "ring" && beside != nil) {
		t.Skip()
	}
	if (report.Bad == 0) != (report.FirstBad == nil) {
		t.Fatalf("%+v", report)
	}
	if spent := time.Since(start); spent > fuzzTime {
		t.Fatalf("%v for %d bytes", spent, len(data))
	}
}

// scratch is a file in memory.
type scratch struct{ bytes.Buffer }

func (s *scratch) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(s.Bytes()).ReadAt(p, off)
}

func (s *scratch) Close() error { return nil }

func testdata(f *testing.F, name string) []byte {
	f.Helper()
	b, err := os.ReadFile(formattest.Testdata(f, "trace/"+name))
	if err != nil {
		f.Fatal(err)
	}
	return b
}

func FuzzNanoscope(f *testing.F) {
	f.Add(testdata(f, "small.txt"), testdata(f, "small.txt.state"))
	f.Add(testdata(f, "small.txt"), testdata(f, "small.txt.timer"))
	f.Add([]byte("1:a.B.c(int)#inl\n2:+x#y\n3:POP\nx\n4:POP\n5:POP\r\n"), []byte("1, 66, 90\n0, 0, 1"))
	f.Fuzz(func(t *testing.T, data, beside []byte) {
		fuzz(t, "nanoscope", append([]byte("1:a.B.c()\n2:POP\n3:POP\n"), data...), beside)
	})
}

func FuzzART(f *testing.F) {
	for _, a := range versions {
		a.threads, a.methods = map[uint16]string{1: "main", 2: "x"}, map[uint32]string{4: "a.B\tc\t([[ILa/B;)V\tB.java\t3", 8: "a.B.d\tD.java\t4"}
		a.actions = []action{{1, 4, 0, 1, 1}, {2, 8, 0, 2, 2}, {1, 8, 1, 3, 3}, {1, 4, 2, 4, 4}}
		f.Add(a.bytes())
	}
	for _, version := range []uint16{4, 0xf5} {
		f.Add(smallPacked(version).summary(version == 4))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !strings.HasPrefix(string(data), "SLOW") {
			data = append([]byte("*version\n"), data...)
		}
		fuzz(t, "art", data, nil)
	})
}

func FuzzChrome(f *testing.F) {
	f.Add([]byte(`{"name":"a","ph":"X","ts":1.5,"dur":2e0,"pid":1,"tid":"x"},{"ph":"B","name":"\u00e9","ts":3},{"ph":"E","ts":4},{"ph":"C","name":"c","ts":1,"args":{"a":1,"b":"2"}}`))
	f.Add([]byte(`{"ph":"M","name":"thread_name","args":{"name":"t"}},{"ph":"i","ts":5,"name":"m"},{"ph":"E","ts":1}],"x":[1,"]",{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzz(t, "chrome", append([]byte(`[{"ph":"B","ts":1}, `), data...), nil)
		fuzz(t, "chrome", append([]byte(`{"traceEvents":[`), data...), nil)
	})
}

func FuzzRing(f *testing.F) {
	c := newContainer(1).thread(1, "main").names(0x10, "a.B.c()", 0x30, "lock").chunk(3, words(1, 5, 0x10, 6, 0)).chunk(4, words(1, 5, 67, 6, 70)).chunk(5, words(1, 5, 6, 0x30, 2))
	f.Add(c.b[16:])
	f.Fuzz(func(t *testing.T, data []byte) { fuzz(t, "ring", append(bytes.Clone(c.b[:16]), data...), nil) })
}

func FuzzBareRing(f *testing.F) {
	f.Add(testdata(f, "ring.bin"), testdata(f, "ring.symbols.json"))
	f.Add(words(5, 0x10, 6, 0, 4, 0x20), []byte(`{"0x10":"a.B.c()","x":"y"}`))
	f.Fuzz(func(t *testing.T, data, beside []byte) {
		if trace.Sniff(data) != "" {
			t.Skip()
		}
		fuzz(t, "ring", data, beside)
	})
}
