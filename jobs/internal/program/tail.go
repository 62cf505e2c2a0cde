package program

import (
	"bytes"
	"strings"
)

// ErrorTail keeps the end of a text, and its fatal line.
type ErrorTail struct {
	text  []byte
	fatal string
}

func (t *ErrorTail) Write(b []byte) (int, error) {
	t.text = append(t.text, b...)
	for line := range bytes.Lines(t.text) {
		if text := string(bytes.TrimSpace(line)); t.fatal == "" && (strings.HasPrefix(text, "fatal error: ") || strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "SIGQUIT: ") || strings.HasPrefix(text, "runtime: out of memory")) {
			t.fatal = text
		}
	}
	if over := len(t.text) - tailBytes; over > 0 {
		t.text = append([]byte(nil), t.text[over:]...)
	}
	return len(b), nil
}

// Cause is the line that tells why the process ended.
func (t *ErrorTail) Cause() string {
	if t.fatal != "" {
		return t.fatal
	}
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return lines[len(lines)-1]
}

// tailBytes are kept of the text that a process writes on standard error, to tell why it died.
const tailBytes = 64 << 10
