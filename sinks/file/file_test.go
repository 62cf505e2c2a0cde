package file

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/sinktest"
)

func TestStore(t *testing.T) {
	root := t.TempDir()
	sinktest.Run(t, func(t *testing.T) *sinks.Store {
		return openStore(t, filepath.Join(root, t.Name()), Options{OpenFiles: 3})
	})
}

// openStore opens the store in dir, made if need be.
func openStore(t testing.TB, dir string, o Options) *sinks.Store {
	t.Helper()
	if err := Create(dir); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestCreate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if _, err := Open(dir, Options{}); !errors.Is(err, sinks.ErrMissing) {
		t.Fatalf("a folder that is not there: %v", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, sinks.ErrMissing) {
		t.Fatalf("an empty folder: %v", err)
	}
	var wg sync.WaitGroup
	for range 8 { // at once, as cron and a person may
		wg.Go(func() {
			if err := Create(dir); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	s := openStore(t, dir, Options{})
	publishOne(t, s, 1)
	if err := Create(dir); err != nil {
		t.Fatal(err)
	}
	if err := check(s, []int{1}); err != nil {
		t.Fatalf("created again: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.tmp")); len(left) > 0 {
		t.Fatalf("left behind: %v", left)
	}
}

func TestFormat(t *testing.T) {
	dir := t.TempDir()
	openStore(t, dir, Options{}).Close()
	for text, want := range map[string]string{
		"symlake file store 2\n": "layout is version 2, this program knows 1",
		"something else\n":       "stored bytes are corrupt",
		"":                       "stored bytes are corrupt",
	} {
		if err := os.WriteFile(filepath.Join(dir, formatName), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if err := Create(dir); err == nil {
			t.Errorf("%q: made anew", text)
		}
	}
}

// TestDamage: a stored row that is damaged or gone is neither a row nor the lack of one.
func TestDamage(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	if err := commit(s, 1, 2); err != nil {
		t.Fatal(err)
	}
	s.Close()
	path, err := filepath.Glob(filepath.Join(dir, blocksName, "*", "*.hfile"))
	if err != nil || len(path) != 1 {
		t.Fatal(path, err)
	}
	whole, err := os.ReadFile(path[0])
	if err != nil {
		t.Fatal(err)
	}
	ask := func(name string) {
		t.Helper()
		s := openStore(t, dir, Options{})
		defer s.Close()
		if err := s.Blocks.First(ctx, []sinks.Span{{From: prefixOf(1), Stop: sinks.Prefix(prefixOf(1)).Next()}}, func(_ int, r sinks.Row, err error) {
			if !errors.Is(err, sinks.ErrCorrupt) || !strings.Contains(err.Error(), path[0]) || r.Key != nil {
				t.Errorf("%s: row %x, %v", name, r.Key, err)
			}
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Blocks.Scan(ctx, sinks.Span{}, func(sinks.Row) error { return nil }); !errors.Is(err, sinks.ErrCorrupt) {
			t.Errorf("%s: scan: %v", name, err)
		}
	}
	bad := bytes.Clone(whole)
	bad[500] ^= 1
	version := bytes.Clone(whole)
	version[len(version)-1] ^= 1
	for name, b := range map[string][]byte{"a flipped bit": bad, "a flipped bit of the version": version, "a cut file": whole[:len(whole)-1], "an empty file": nil} {
		if err := os.WriteFile(path[0], b, 0o644); err != nil {
			t.Fatal(err)
		}
		ask(name)
	}
	if err := os.Remove(path[0]); err != nil {
		t.Fatal(err)
	}
	ask("a file that is gone")
	catalog := filepath.Join(dir, catalogName)
	if err := os.WriteFile(catalog, bytes.Repeat([]byte("junk"), 5000), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {ReadOnly: true}} {
		if _, err := Open(dir, o); !errors.Is(err, sinks.ErrCorrupt) {
			t.Errorf("%+v, a catalog of junk: %v", o, err)
		}
	}
	if err := os.Remove(catalog); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{}, {ReadOnly: true}} {
		if _, err := Open(dir, o); !errors.Is(err, sinks.ErrCorrupt) || errors.Is(err, sinks.ErrMissing) {
			t.Errorf("%+v, without a catalog: %v", o, err)
		}
	}
}

func TestLock(t *testing.T) {
	dir := t.TempDir()
	unlock, err := Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir); !errors.Is(err, ErrLocked) {
		t.Fatalf("locked twice: %v", err)
	}
	unlock()
	cmd := child(t, "hold", dir)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewScanner(out).Scan()
	if _, err := Lock(dir); !errors.Is(err, ErrLocked) {
		t.Fatalf("locked by another process: %v", err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	unlock, err = Lock(dir)
	if err != nil {
		t.Fatalf("its holder is dead: %v", err)
	}
	unlock()
}

// TestGroup: changes that wait share a transaction, a conflict is its own
// change's alone, and what fails takes all of them back.
func TestGroup(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{})
	d := s.Catalog.(catalog).db
	failed := errors.New("failed")
	run := func(outcomes [5][2]error) (got [5]error) {
		d.turn <- struct{}{} // somebody writes
		var wg sync.WaitGroup
		for i, o := range outcomes {
			wg.Go(func() {
				got[i] = d.apply(ctx, func(w *writer) (verdict, err error) {
					if o[0] == nil {
						_, err = w.exec("REPLACE INTO catalog(key, value) VALUES(?, ?)", []byte{byte(i)}, []byte("new"))
					}
					return o[0], errors.Join(err, o[1])
				})
			})
		}
		awaitWaiting(t, d, len(outcomes))
		<-d.turn
		wg.Wait()
		return got
	}
	got := run([5][2]error{3: {nil, failed}})
	for i, err := range got {
		if !errors.Is(err, failed) {
			t.Errorf("change %d of a failed transaction: %v", i, err)
		}
		if v, _ := s.Catalog.Get(ctx, []byte{byte(i)}); v != nil {
			t.Errorf("change %d of a failed transaction is there", i)
		}
	}
	got = run([5][2]error{2: {sinks.ErrConflict, nil}})
	for i, err := range got {
		v, _ := s.Catalog.Get(ctx, []byte{byte(i)})
		if i == 2 && (err != sinks.ErrConflict || v != nil) || i != 2 && (err != nil || string(v) != "new") {
			t.Errorf("change %d: %v, %q", i, err, v)
		}
	}
}

// awaitWaiting returns when n changes wait for their turn.
func awaitWaiting(t *testing.T, d *database, n int) {
	t.Helper()
	formattest.Await(t, "changes wait", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.todo) >= n
	})
}

// TestFailedTransaction: a batch with files in place but not entered leaves
// nothing once it is aborted, and its loads can be committed again.
func TestFailedTransaction(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	d := s.Catalog.(catalog).db
	failed := errors.New("failed")
	d.turn <- struct{}{} // somebody writes
	var wg sync.WaitGroup
	wg.Go(func() {
		b, err := s.Blocks.Begin(ctx)
		if err != nil {
			t.Error(err)
			return
		}
		for _, r := range slices.Concat(loadRows(9), loadRows(1)) {
			if err := b.Write(r); err != nil {
				t.Error(err)
			}
		}
		if err := b.Commit(ctx); !errors.Is(err, failed) {
			t.Errorf("commit: %v", err)
		}
		if n := len(files(t, dir)); n != 2 {
			t.Errorf("%d files in place, want 2", n)
		}
		b.Abort()
	})
	wg.Go(func() {
		_ = d.apply(ctx, func(*writer) (verdict, err error) { return nil, failed })
	})
	awaitWaiting(t, d, 2)
	<-d.turn
	wg.Wait()
	if left := files(t, dir); len(left) > 0 {
		t.Fatalf("left %v", left)
	}
	publishOne(t, s, 9)
	if err := check(s, []int{9}); err != nil {
		t.Fatal(err)
	}
}
