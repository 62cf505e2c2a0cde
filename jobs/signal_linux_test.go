package jobs

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/exit"
)

// What waits for its input ends when it is told to, with exit code 1.
func TestSignals(t *testing.T) {
	object := filepath.Join(formattest.Testdata(t, "elf"), "libgame-arm64-dw5.so")
	store := filepath.Join(t.TempDir(), "store")
	mustRun(t, []int{0}, "--store", store, "ingest", object)
	fifo := func(t *testing.T, name string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		name string
		args []string
		pipe string // what it reads, if that is not standard input
	}{
		{"symbolicate", []string{"--store", store, "symbolicate"}, ""},
		{"symbols", []string{"symbolicate", "--symbols", object}, ""},
		{"lookup", []string{"--store", store, "lookup", "--stdin"}, ""},
		{"demangle", []string{"demangle"}, ""},
		{"named pipe", []string{"--store", store, "symbolicate"}, "pipe"},
	} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(c.name+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				args, pipe := c.args, ""
				if c.pipe != "" {
					pipe = fifo(t, c.pipe)
					args = append(slices.Clone(args), pipe)
				}
				cmd := symlake(t, args...)
				from, in, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				defer in.Close()
				cmd.Stdin = from
				var said strings.Builder
				cmd.Stderr = &said
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				from.Close()
				defer cmd.Process.Kill()
				if pipe != "" {
					in.Close()
					in = awaitReader(t, pipe)
					defer in.Close()
				}
				awaitRead(t, in)
				if err := cmd.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				kill := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
				defer kill.Stop()
				cmd.Wait()
				if code := cmd.ProcessState.ExitCode(); code != exit.Failed || !strings.Contains(said.String(), "signal") {
					t.Errorf("exit code %d (%s), said %q", code, cmd.ProcessState, said.String())
				}
			})
		}
	}
}

// awaitReader opens a named pipe as soon as somebody opens it to read.
func awaitReader(t *testing.T, path string) *os.File {
	t.Helper()
	var in *os.File
	formattest.Await(t, "a process opens the named pipe", func() (ok bool) {
		var err error
		in, err = os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		return err == nil
	})
	return in
}

// awaitRead writes a line into a pipe and waits until its reader has it.
func awaitRead(t *testing.T, in *os.File) {
	t.Helper()
	if _, err := io.WriteString(in, "\n"); err != nil {
		t.Fatal(err)
	}
	formattest.Await(t, "a process reads the pipe", func() bool {
		n, err := unix.IoctlGetInt(int(in.Fd()), unix.TIOCINQ)
		if err != nil {
			t.Fatal(err)
		}
		return n == 0
	})
}
