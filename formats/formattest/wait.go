package formattest

import (
	"testing"
	"time"
)

// Patience is how long a test waits for something that always comes. A busy host needs a small part
// of it; only a test that hangs, or work that grows without a bound, exceeds it.
const Patience = 2 * time.Minute

// Soon is how long a test waits for what needs no waiting. It is below the patience of clients, which try again for minutes.
const Soon = Patience / 2

// Await returns as soon as met does, and fails the test after Patience. It asks in short intervals
// at first.
func Await(t testing.TB, what string, met func() bool) {
	t.Helper()
	pause := time.Millisecond
	for end := time.Now().Add(Patience); !met(); {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", Patience, what)
		}
		time.Sleep(pause)
		pause = min(2*pause, 50*time.Millisecond)
	}
}
