//go:build unix

package host

import "golang.org/x/sys/unix"

// Writable returns an error if this process may not write to a file or folder. It changes nothing.
func Writable(path string) error { return unix.Access(path, unix.W_OK) }
