package jobs

import (
	"bytes"
	"strings"
	"time"
)

// errorTail keeps the end of what is written, and its fatal line.
type errorTail struct {
	text  []byte
	fatal string
}

func (t *errorTail) Write(b []byte) (int, error) {
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

// cause is the line that tells why the process ended.
func (t *errorTail) cause() string {
	if t.fatal != "" {
		return t.fatal
	}
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return lines[len(lines)-1]
}

const (
	// isolatedExtra is what an isolated ingest may take beside its memory budget: what parsers hold of a unit, and garbage.
	isolatedExtra = 2 << 30
	// isolatedGrace is what it gets beyond the time of one object, to open the store and to publish.
	isolatedGrace = time.Minute
	// tailBytes of what it says on standard error are kept, to tell why it died.
	tailBytes = 64 << 10
)
