package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// allowEscapes makes the console obey escape sequences, and reports whether it does. Consoles before Windows 10 do not.
func allowEscapes(f *os.File) bool {
	var mode uint32
	h := windows.Handle(f.Fd())
	if windows.GetConsoleMode(h, &mode) != nil {
		return false
	}
	return mode&windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 || windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
