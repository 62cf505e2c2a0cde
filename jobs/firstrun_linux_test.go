package jobs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/sinktest/disk"
)

// The first run makes keyset, store and lake. After any kill or loss of power, the next run goes on:
// nothing is sealed under a key that the disk has lost.
func TestFirstRunLosesPower(t *testing.T) {
	t.Parallel()
	strace := formattest.Tool(t, "strace", "apt-get install strace")
	object := formattest.Testdata(t, "elf/libgame-arm64-linetables.so")
	clean := filepath.Join(inMemory(t), "clean")
	mustRun(t, []int{0}, "--store", clean, "ingest", object)
	want, _ := state(t, clean)

	dir := inMemory(t)
	folder, record := filepath.Join(dir, "disk"), filepath.Join(dir, "record")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	d, err := disk.New(folder)
	if err != nil {
		t.Fatal(err)
	}
	run := symlake(t, "--store", filepath.Join(folder, "store"), "ingest", object)
	cmd := exec.Command(strace, append([]string{"-f", "-y", "-xx", "-s", "100000000", "-e", "trace=" + disk.Calls, "-o", record, run.Path}, run.Args[1:]...)...)
	cmd.Env = run.Env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := os.Open(record)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stride, differ, images := 5, 0, 0
	if os.Getenv("SYMLAKE_POWER_LOSSES") != "" {
		stride = 1
	}
	err = d.EachImage(f, func(how string) error {
		if differ++; differ%stride != 0 {
			return nil
		}
		images++
		image := filepath.Join(dir, "image")
		if err := d.Image(how, image); err != nil {
			return err
		}
		store := filepath.Join(image, "store")
		mustRun(t, []int{0}, "--store", store, "ingest", object)
		if got, _ := state(t, store); got != want {
			t.Errorf("digest %s, want %s", got, want)
		}
		if t.Failed() {
			return fmt.Errorf("image %d: %s", differ, how)
		}
		return os.RemoveAll(image)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d images that differ, %d tried", differ, images)
}

// inMemory is a folder of the test in memory, where there is one: hundreds of syncs to a disk take minutes.
func inMemory(t *testing.T) string {
	t.Helper()
	const memory = "/dev/shm"
	if _, err := os.Stat(memory); err != nil {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "symlake")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
