package file

import (
	"bufio"
	"database/sql/driver"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/symlake/symlake/sinks"
)

// TestKilled kills a writer at random moments: what it said was published is
// there and whole, for a reader that may not write too, and Tidy leaves
// exactly the files that the catalog names.
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if err := Create(dir); err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var published []int
	for round := range 8 {
		cmd := child(t, "publish", dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// Every other one dies only after it has published a few, however slow the machine is.
		kill := func() {
			time.AfterFunc(time.Duration(10+rng.IntN(150))*time.Millisecond, func() { cmd.Process.Kill() })
		}
		armed := round%2 == 0
		if armed {
			kill()
		}
		lines := 0
		for in := bufio.NewScanner(out); in.Scan(); {
			if lines++; !armed && lines == 6 {
				kill()
				armed = true
			}
			n, err := strconv.Atoi(in.Text())
			if err != nil {
				continue // half a line
			}
			published = append(published, n)
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf("the writer ended by itself: %v", err)
		}
		if len(published) > 0 { // the last line may be cut: 12 of 123
			published = published[:len(published)-1]
		}
		before := snapshot(t, dir)
		r, err := Open(dir, Options{ReadOnly: true})
		if err != nil {
			t.Fatalf("round %d: %v\n%s", round, err, before)
		}
		if err := check(r, published); err != nil {
			t.Fatalf("round %d, read only: %v", round, err)
		}
		r.Close()
		if after := snapshot(t, dir); after != before {
			t.Fatalf("a reader changed the folder:\n%s\n%s", before, after)
		}
		s := openStore(t, dir, Options{})
		if err := check(s, published); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if _, err := s.Blocks.Tidy(ctx, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		var want []string
		err = s.Blocks.(blocks).db.read(func(c *conn) error {
			return c.each("SELECT DISTINCT file || '.hfile' FROM files ORDER BY 1", nil, func(values []driver.Value) error {
				want = append(want, string(bytesOf(values[0])))
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := files(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("round %d: files %v, the catalog names %v", round, got, want)
		}
		if err := check(s, published); err != nil {
			t.Fatalf("round %d, tidied: %v", round, err)
		}
		s.Close()
	}
	if len(published) < 20 {
		t.Fatalf("only %d loads were published in all", len(published))
	}
}

// snapshot is every name in dir with size and time.
func snapshot(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			fmt.Fprintln(&b, path, info.Size(), info.ModTime())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func init() {
	limited = func(dir string) error {
		signal.Ignore(syscall.SIGXFSZ)
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 2 << 20, Max: 2 << 20}); err != nil {
			return err
		}
		return fill(dir)
	}
}

// TestDiskFull: a commit that does not fit fails, earlier rows stay, the
// space of what failed comes back, and what fits goes in.
func TestDiskFull(t *testing.T) {
	t.Run("file size limit", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "store")
		if err := Create(dir); err != nil {
			t.Fatal(err)
		}
		if out, err := child(t, "limited", dir).Output(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	})
	t.Run("tmpfs", func(t *testing.T) {
		mount := t.TempDir()
		if err := unix.Mount("tmpfs", mount, "tmpfs", 0, "size=6m"); err != nil {
			t.Skipf("SKIP: mount tmpfs: %v (the file size limit covers it)", err)
		}
		defer unix.Unmount(mount, unix.MNT_DETACH)
		dir := filepath.Join(mount, "store")
		if err := Create(dir); err != nil {
			t.Fatal(err)
		}
		if err := fill(dir); err != nil {
			t.Fatal(err)
		}
	})
}

// fill writes to a store until its disk is full.
func fill(dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	var whole []int
	for _, n := range []int{1, 2, 9} {
		if err := commit(s, n); err != nil {
			return fmt.Errorf("what fits: %w", err)
		}
		if err := s.Catalog.Swap(ctx, publishKey(n), nil, []byte(strconv.Itoa(n))); err != nil {
			return err
		}
		whole = append(whole, n)
	}
	blob := make([]byte, 9<<20)
	b, err := s.Blocks.Begin(ctx)
	if err != nil {
		return err
	}
	for i := 0; err == nil; i++ { // a load of 9 MB, then another
		err = b.Write(sinks.Row{Key: fmt.Appendf(nil, "%024d%d", i, i), Value: blob})
	}
	if commit := b.Commit(ctx); commit == nil || !full(err) && !full(commit) {
		return fmt.Errorf("a disk that is full gave %v, %v", err, commit)
	}
	b.Abort()
	if err := s.Catalog.Swap(ctx, []byte("large"), nil, blob); err == nil {
		return fmt.Errorf("a record of 9 MB on a full disk was taken")
	}
	if v, err := s.Catalog.Get(ctx, []byte("large")); v != nil || err != nil {
		return fmt.Errorf("a record that failed: %d bytes, %w", len(v), err)
	}
	if err := check(s, whole); err != nil {
		return err
	}
	if temp, _ := filepath.Glob(filepath.Join(dir, blocksName, "*", "*.tmp")); len(temp) > 0 {
		return fmt.Errorf("a failed batch left %v", temp)
	}
	if err := commit(s, 4, 5); err != nil {
		return fmt.Errorf("what fits again: %w", err)
	}
	return check(s, whole)
}

func full(err error) bool {
	for _, e := range []error{syscall.ENOSPC, syscall.EFBIG} {
		if err != nil && strings.Contains(err.Error(), e.Error()) {
			return true
		}
	}
	return false
}
