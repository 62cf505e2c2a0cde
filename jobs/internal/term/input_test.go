package term

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// An input gives exactly what its reader gives, and the error that ends it.
func TestInput(t *testing.T) {
	text := strings.Repeat("0123456789", 30_000)
	for name, from := range map[string]io.Reader{"whole": strings.NewReader(text), "by halves": iotest.HalfReader(strings.NewReader(text)), "end with bytes": iotest.DataErrReader(strings.NewReader(text))} {
		got, err := io.ReadAll(NewInput(t.Context(), from))
		if err != nil || string(got) != text {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	in, out := io.Pipe()
	defer out.Close()
	i := NewInput(ctx, in)
	ended := make(chan error)
	go func() {
		_, err := i.Read(make([]byte, 1))
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, errSignal) {
		t.Errorf("a canceled read ended with %v", err)
	}
	if _, err := i.Read(make([]byte, 1)); !errors.Is(err, errSignal) {
		t.Errorf("the read after it ended with %v", err)
	}
}
