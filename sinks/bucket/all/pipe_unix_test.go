//go:build unix

package all_test

import (
	"syscall"
	"testing"
)

// makePipe makes a pipe without a writer.
func makePipe(t *testing.T, name string) string {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}
