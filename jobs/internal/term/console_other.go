//go:build !windows

package term

import "os"

// allowEscapes reports whether a terminal obeys escape sequences: TERM tells.
func allowEscapes(*os.File) bool { return true }
