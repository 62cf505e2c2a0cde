package build

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/ingest/failure"
)

func TestPatience(t *testing.T) {
	for objectTime, want := range map[time.Duration]time.Duration{time.Hour: AbandonTime, time.Second: time.Second} {
		if got := patience(objectTime); got != want {
			t.Errorf("%v is left after %v, want %v", objectTime, got, want)
		}
	}
}

// A sweep that gives no run ends with its object's time.
func TestSweepEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(failure.ErrTime)
	n := 0
	next := patient(ctx, func(*symbol.Run) (uint64, bool, error) { n++; return 0, true, nil })
	for range 1 << 20 {
		if _, _, err := next(nil); err != nil {
			if !errors.Is(err, failure.ErrTime) {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("%d runs were read", n)
}
