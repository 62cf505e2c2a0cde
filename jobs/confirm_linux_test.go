package jobs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/exit"
)

// terminal gives both ends of a new terminal: what a person holds, and what the program sees.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		formattest.Missing(t, "/dev/ptmx", err.Error())
	}
	t.Cleanup(func() { person.Close() })
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		formattest.Missing(t, "/dev/pts", err.Error())
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// What destroys asks the person at the terminal, and does nothing without a yes.
func TestConfirm(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "ingest", filepath.Join(formattest.Testdata(t, "elf"), "libgame-arm64-dw5.so"))
	for _, c := range []struct {
		answer, command string
		code            int
	}{{"\n", "forget", exit.Failed}, {"no\n", "shred", exit.Failed}, {"y\n", "shred", exit.Done}, {"yes\n", "forget", exit.Done}} {
		args := map[string][]string{"forget": {"forget"}, "shred": {"keys", "shred"}}[c.command]
		person, program := terminal(t)
		if _, err := io.WriteString(person, c.answer); err != nil {
			t.Fatal(err)
		}
		cmd := symlake(t, append(append([]string{"--store", store}, args...), "libgame-arm64-dw5.so")...)
		cmd.Stdin, cmd.Stderr = program, program
		out, _ := cmd.Output()
		if code := cmd.ProcessState.ExitCode(); code != c.code || (len(out) > 0) != (code == exit.Done) {
			t.Errorf("%s, answered %q: exit code %d, printed %q", c.command, c.answer, code, out)
		}
	}
}
