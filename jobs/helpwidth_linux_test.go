package jobs

import (
	"bufio"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Help is as wide as the terminal, and no wider: commands, a command and a topic.
func TestHelpWidth(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{60, 100, 180} {
		for _, words := range []string{"help", "help ingest", "help --all symbolicate", "help glossary"} {
			person, program := terminal(t)
			if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: uint16(columns)}); err != nil {
				t.Fatal(err)
			}
			cmd := symlake(t, append(strings.Fields(words), "--color=never")...)
			cmd.Stdout = program
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			program.Close()
			widest, lines := 0, 0
			for in := bufio.NewScanner(person); in.Scan(); lines++ { // until the last writer closed it
				line := strings.TrimRight(in.Text(), "\r")
				n := utf8.RuneCountInString(line)
				widest = max(widest, n)
				if n > columns && !strings.HasPrefix(line, "  symlake ") && !strings.HasPrefix(line, "    ") {
					t.Errorf("symlake %s at %d columns: %s", words, columns, line)
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
			if lines < 10 || widest < min(columns, 100)/2 {
				t.Errorf("symlake %s at %d columns: %d lines, the widest of %d", words, columns, lines, widest)
			}
		}
	}
}
