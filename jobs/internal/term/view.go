package term

import "os"

// View says how a stream is read: by a person, with color or without, or by a script.
type View struct {
	// People: a person reads. They get tables with headers, units and sentences; scripts get plain lines.
	People bool
	// Color: text may have color.
	Color bool

	terminal *os.File // nil: there is none
	plain    bool     // the terminal knows no escape sequences
}

// Look returns the view of a stream. color is a value of --color: always makes a view for people of any stream, auto and
// never one of terminals.
func Look(stream any, color string) View {
	v := View{terminal: terminalOf(stream)}
	v.People = v.terminal != nil || color == ColorAlways
	v.plain = v.terminal != nil && (isDumb() || !allowEscapes(v.terminal))
	v.Color = color == ColorAlways || v.terminal != nil && color != ColorNever && wantsColor() && (!v.plain || isDumb())
	return v
}

// Script returns the view of a script.
func (v View) Script() View { return View{terminal: v.terminal} }

// Terminal reports whether the stream is a terminal.
func (v View) Terminal() bool { return v.terminal != nil }

// Moves reports whether the stream is a terminal on which a line can be written again.
func (v View) Moves() bool { return v.terminal != nil && !v.plain }

// Width returns the columns of the terminal as they are now. Another stream has COLUMNS, or 80.
func (v View) Width() int { return widthOf(v.terminal) }

// Paint returns a text in a color, if the view has color.
func (v View) Paint(i Ink, s string) string {
	if !v.Color || i == "" || s == "" {
		return s
	}
	return "\x1b[" + string(i) + "m" + s + "\x1b[0m"
}
