//go:build unix

package formattest

import (
	"syscall"
	"testing"
	"time"
)

// Spent returns the processor time of this process so far. Other load on the machine does not count.
func Spent(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
