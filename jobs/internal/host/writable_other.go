//go:build !unix

package host

import "os"

// Writable returns an error if a file or folder is missing. Only a write tells whether this process may write.
func Writable(path string) error {
	_, err := os.Stat(path)
	return err
}
