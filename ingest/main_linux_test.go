package ingest

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain keeps the folders of tests in memory, if that has room: a disk takes most of their time to sync.
func TestMain(m *testing.M) {
	const memory, room = "/dev/shm", 1 << 30
	var fs unix.Statfs_t
	if err := unix.Statfs(memory, &fs); err == nil && fs.Bavail*uint64(fs.Bsize) > room {
		os.Setenv("TMPDIR", memory)
	}
	os.Exit(m.Run())
}
