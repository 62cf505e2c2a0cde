//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// inForeground reports whether this process may draw on a terminal: a shell has not put it into the background.
func inForeground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == 0 || group == unix.Getpgrp()
}
