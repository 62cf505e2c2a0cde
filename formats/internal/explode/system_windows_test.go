package explode

import (
	"io"
	"os"
	"syscall"
	"time"
)

// userTime is what this process has used of its processors.
func userTime() time.Duration {
	self, _ := syscall.GetCurrentProcess()
	var start, end, kernel, user syscall.Filetime
	_ = syscall.GetProcessTimes(self, &start, &end, &kernel, &user)
	return time.Duration(uint64(user.HighDateTime)<<32|uint64(user.LowDateTime)) * 100
}

// mapped returns what a file holds.
func mapped(f *os.File) ([]byte, error) { return io.ReadAll(f) }
