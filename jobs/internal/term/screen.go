package term

import (
	"fmt"
	"os"
	"sync"
)

// Screen writes to a terminal. Its last line may be a bar. Each write takes the bar away first, and the bar comes back
// behind a whole line. Any goroutine may write.
type Screen struct {
	to *os.File

	mu     sync.Mutex
	shown  int  // columns of the bar that stands in the last line; 0: none does
	within bool // the last write ended within a line, which no bar may follow
}

// NewScreen returns the screen of a terminal; nil: the stream is none.
func NewScreen(stream any) *Screen {
	f := terminalOf(stream)
	if f == nil {
		return nil
	}
	return &Screen{to: f}
}

func (s *Screen) inner() any { return s.to }

// Write implements io.Writer.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	if len(b) > 0 {
		s.within = b[len(b)-1] != '\n'
	}
	return s.to.Write(b)
}

// draw shows a line as the bar. An error is left alone: a terminal that is gone shows no bar.
func (s *Screen) draw(line string, columns int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.within || !inForeground(s.to) {
		return
	}
	s.erase()
	_, _ = s.to.WriteString(line)
	s.shown = columns
}

// clear takes the bar away.
func (s *Screen) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
}

// erase takes the bar away. A terminal that became narrower since has broken the bar into several lines.
func (s *Screen) erase() {
	if s.shown == 0 {
		return
	}
	text := "\r"
	if up := (s.shown - 1) / max(widthOf(s.to), 1); up > 0 {
		text += fmt.Sprintf("\x1b[%dA", up)
	}
	_, _ = s.to.WriteString(text + "\x1b[J")
	s.shown = 0
}

// EraseBar takes away the bar that a process left on a terminal when it died.
func EraseBar(stream any) {
	if v := Look(stream, ColorAuto); v.Moves() {
		_, _ = v.terminal.WriteString("\r\x1b[J")
	}
}
