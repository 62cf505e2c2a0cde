package lookup

import (
	"context"
	"testing"
	"testing/synctest"
)

// A caller that waits for a read reads by itself when the leader's context ends.
func TestFlightLeaderGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var fs flights[int, string]
		cold := func() (string, bool) { return "", false }
		ctx, cancel := context.WithCancel(t.Context())
		gaveUp := make(chan error)
		go func() {
			_, err := fs.do(ctx, 1, cold, func() (string, error) { <-ctx.Done(); return "", ctx.Err() })
			gaveUp <- err
		}()
		synctest.Wait() // until the leader reads
		answered := make(chan string)
		go func() {
			v, err := fs.do(t.Context(), 1, cold, func() (string, error) { return "own", nil })
			if err != nil {
				t.Error(err)
			}
			answered <- v
		}()
		synctest.Wait() // until the second caller waits for the first one's read
		cancel()
		if err := <-gaveUp; err != context.Canceled {
			t.Errorf("the leader's error is %v", err)
		}
		if v := <-answered; v != "own" {
			t.Errorf("the second caller has %q", v)
		}
	})
}
