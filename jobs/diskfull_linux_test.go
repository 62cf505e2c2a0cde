package jobs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/exit"
)

// On a full disk, at any write, an ingest ends with one sentence and exit code 1. With room, the next run
// completes the work.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	objects := formattest.Testdata(t, "elf")
	mount := t.TempDir()
	whole := filepath.Join(t.TempDir(), "whole")
	mustRun(t, []int{exit.Done}, "--store", whole, "ingest", objects)
	want, _ := mustRun(t, []int{exit.Done}, "--store", whole, "verify", "--digest")
	failed := 0
	for kib := 16; kib < 8<<10; kib += max(kib/3, 40) {
		resize := func(flags uintptr, kib int) error {
			return unix.Mount("tmpfs", mount, "tmpfs", flags, fmt.Sprintf("size=%dk", kib))
		}
		err := resize(0, kib)
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
			t.Skip("this user may not mount a small file system")
		} else if err != nil {
			t.Fatal(err)
		}
		func() {
			defer unix.Unmount(mount, unix.MNT_DETACH)
			store, report := filepath.Join(mount, "store"), filepath.Join(t.TempDir(), "report.json")
			args := []string{"--store", store, "--log-level", "error", "ingest", objects, "--report", report}
			cmd := symlake(t, args...)
			var said strings.Builder
			cmd.Stderr = &said
			cmd.Run()
			text := said.String()
			switch code := cmd.ProcessState.ExitCode(); {
			case code == exit.Failed && strings.Contains(text, "symlake: ") && !strings.Contains(text, "panic") && !strings.Contains(text, "goroutine"):
				failed++
			case code != exit.Done:
				t.Errorf("%d KiB: exit code %d: %s", kib, code, text)
			}
			if _, err := os.Stat(report); err != nil {
				t.Errorf("%d KiB: %v", kib, err)
			}
			if err := resize(unix.MS_REMOUNT, 64<<10); err != nil {
				t.Fatal(err)
			}
			mustRun(t, []int{exit.Done}, args...)
			mustRun(t, []int{exit.Done}, "--store", store, "verify")
			if got, _ := mustRun(t, []int{exit.Done}, "--store", store, "verify", "--digest"); got != want {
				t.Errorf("%d KiB: what the next run completed is not what a whole one gives", kib)
			}
		}()
	}
	if failed < 5 {
		t.Errorf("%d runs met a full disk: the test wants some", failed)
	}
}
