package all_test

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/jobs/internal/term/termtest"
)

func init() { runOnTerminal = onTerminal }

// onTerminal runs a command on a terminal of 100 columns, and compares the words that stay there.
func onTerminal(t *testing.T, w *workplace, c command) {
	t.Helper()
	const columns = 100
	terminal := termtest.Open(t, columns)
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "bash", "-c", c.text)
	cmd.Dir, cmd.Env = w.dir, append(w.env, "TERM=xterm", "NO_COLOR=1", "COLUMNS=")
	cmd.Stdout, cmd.Stderr = terminal.End, terminal.End
	err := cmd.Run()
	text := strings.Join(termtest.Show(terminal.Text(), columns), "\n")
	at := fmt.Sprintf("%s:%d: %s", w.document, c.line, c.text)
	if got := cmd.ProcessState.ExitCode(); got != c.code {
		t.Fatalf("%s: exit code %d (%v), want %d\n%s", at, got, err, c.code, text)
	}
	// Where lines part and how wide columns are depends on times.
	words := strings.Join(strings.Fields(text), " ")
	if want := strings.Join(strings.Fields(c.want), " "); !pattern(want).MatchString(words) {
		t.Errorf("%s prints\n%s\nthe document says\n%s", at, text, c.want)
	}
}
