package query

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/lookup"
)

const flowDump = "*** *** *** *** *** *** *** *** *** *** *** *** *** *** *** ***\nABI: 'arm64'\n      #00 pc 0000000000000010  <unknown>\n"

// newFlow prints to w; it needs no store, because its frames name nothing.
func newFlow(w *bufio.Writer) *stackFlow {
	return &stackFlow{client: answer.New(lookup.New(&sinks.Store{}, nil, lookup.Options{})), print: func(s *report.Report, a [][]symbol.Answer) error { return report.Print(w, s, a) }}
}

// TestStackFlowFollows: what can be answered of a log is printed while its writer waits.
func TestStackFlowFollows(t *testing.T) {
	in, log := io.Pipe()
	printed, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		w := bufio.NewWriter(out)
		done <- newFlow(w).run(t.Context(), in, w)
		out.Close()
	}()
	text := strings.Repeat(flowDump, 4)
	for i := range 3 { // a dump is known to end where the next one begins
		from := len(flowDump) * i
		if i == 0 {
			write(t, log, text[:len(flowDump)+70])
		} else {
			write(t, log, text[from+70:from+len(flowDump)+70])
		}
		got := make([]byte, len(flowDump))
		if _, err := io.ReadFull(printed, got); err != nil || string(got) != flowDump {
			t.Fatalf("dump %d: %v, printed %q", i, err, got)
		}
	}
	log.Close()
	if _, err := io.Copy(io.Discard, printed); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, to io.Writer, text string) {
	t.Helper()
	if _, err := io.WriteString(to, text); err != nil {
		t.Fatal(err)
	}
}

// TestStackFlowFails: an error of the printer ends the reading of a text without end, and comes back.
func TestStackFlowFails(t *testing.T) {
	full := errors.New("no space left")
	f := newFlow(nil)
	n := 0
	f.print = func(*report.Report, [][]symbol.Answer) error {
		if n++; n == 1000 {
			return full
		}
		return nil
	}
	if err := f.run(t.Context(), endless{}, bufio.NewWriter(io.Discard)); !errors.Is(err, full) || n != 1000 {
		t.Errorf("%v after %d stacks, want %v after 1000", err, n, full)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.print = func(*report.Report, [][]symbol.Answer) error { cancel(); return nil }
	if err := f.run(ctx, endless{}, bufio.NewWriter(io.Discard)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// endless is a log that never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) {
	n := 0
	for n+len(flowDump) <= len(b) {
		n += copy(b[n:], flowDump)
	}
	return n, nil
}

// TestStackFlowBounded: without answers, no more is read than a pile may hold.
func TestStackFlowBounded(t *testing.T) { synctest.Test(t, stackFlowBounded) }

func stackFlowBounded(t *testing.T) {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	f := newFlow(w)
	print, wait := f.print, make(chan struct{})
	f.print = func(s *report.Report, a [][]symbol.Answer) error { <-wait; return print(s, a) }
	text := strings.Repeat(flowDump, 20_000)
	in := &counting{r: strings.NewReader(text)}
	done := make(chan error, 1)
	go func() { done <- f.run(t.Context(), struct{ io.Reader }{in}, w) }()
	synctest.Wait() // until the flow stands still
	last := in.n.Load()
	// Three piles: one waits, one is answered, one is printed; of each stack as much counts as the least.
	if most := int64(4*flowBytes*len(flowDump)/leastStackBytes + 2*report.MaxLineBytes); last > most {
		t.Errorf("%d bytes were read, want at most %d", last, most)
	}
	close(wait)
	if err := <-done; err != nil || out.String() != text {
		t.Errorf("%v, %d bytes came back of %d", err, out.Len(), len(text))
	}
}

type counting struct {
	r io.Reader
	n atomic.Int64
}

func (c *counting) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}
