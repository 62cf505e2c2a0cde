package term

import "os"

// Ink is a color or weight of text: the parameter of a terminal's escape sequence.
type Ink string

// Inks of tables, logs and answers. The empty Ink leaves text alone.
const (
	Bold   Ink = "1"
	Dim    Ink = "2"
	Red    Ink = "31"
	Green  Ink = "32"
	Yellow Ink = "33"
	Cyan   Ink = "36"
)

// Values of --color.
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// isDumb reports whether the terminal says that it knows no escape sequences.
func isDumb() bool { return os.Getenv("TERM") == "dumb" }

// wantsColor reports whether a terminal gets color where the user did not say. See no-color.org and bixense.com/clicolors.
func wantsColor() bool {
	force := os.Getenv("CLICOLOR_FORCE")
	switch {
	case os.Getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return !isDumb() && os.Getenv("CLICOLOR") != "0"
}
