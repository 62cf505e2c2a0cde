package s3

import (
	"os"
	"testing"
	"time"
)

// Servers that refuse and cut off answer at once in tests, so nothing is gained by a pause before the next attempt.
func TestMain(m *testing.M) {
	firstPause, longestPause, longestBack = time.Millisecond, 10*time.Millisecond, 10*time.Millisecond
	os.Exit(m.Run())
}
