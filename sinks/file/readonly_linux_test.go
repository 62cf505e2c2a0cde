package file

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
)

// TestReadOnly: a reader without the right to write sees what a writer does as
// it does it, before, while and after that writer lives, and leaves no trace.
func TestReadOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := openStore(t, dir, Options{})
	publishOne(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if size(filepath.Join(dir, catalogName+"-wal")) >= 0 {
		t.Fatal("a closed store has a -wal; the test wants it without")
	}
	before := snapshot(t, dir)
	r, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := check(r, []int{1}); err != nil {
		t.Fatal(err)
	}
	if snapshot(t, dir) != before {
		t.Fatal("a reader of an idle store changed its folder")
	}
	for n := 2; n < 8; n++ {
		s := openStore(t, dir, Options{})
		publishOne(t, s, n)
		if err := check(r, []int{1, n}); err != nil {
			t.Fatalf("while a writer lives: %v", err)
		}
		if n%2 == 0 { // an even one is checked without a question in between
			publishOne(t, s, 100+n)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := check(r, []int{1, n}); err != nil {
			t.Fatalf("when a writer has gone: %v", err)
		}
		cold, err := Open(dir, Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := check(cold, []int{1, n}); err != nil {
			t.Fatalf("opened after: %v", err)
		}
		cold.Close()
	}
	_, begin := r.Blocks.Begin(ctx)
	_, tidy := r.Blocks.Tidy(ctx, time.Now())
	for name, err := range map[string]error{
		"Begin": begin, "Tidy": tidy,
		"Swap": r.Catalog.Swap(ctx, []byte("a"), nil, []byte("b")),
		"Drop": r.Blocks.Drop(ctx, [][]byte{prefixOf(1)}),
	} {
		if !errors.Is(err, errReadOnly) {
			t.Errorf("%s of a reader: %v", name, err)
		}
	}
}

// TestWithoutPermission reads as a user that owns nothing and may write nowhere,
// in a folder without -wal and -shm, beside a writer, and after it was killed.
func TestWithoutPermission(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "store")
	s := openStore(t, dir, Options{})
	publishOne(t, s, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{root, filepath.Dir(root)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	binary, err := os.ReadFile(child(t, "read", dir).Path)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "reader") // which the user nobody may run
	if err := os.WriteFile(path, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	reader := func() *exec.Cmd {
		cmd := child(t, "read", dir)
		if os.Geteuid() == 0 {
			cmd.Path = path
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		}
		return cmd
	}
	lock := func(mode os.FileMode) {
		if err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
			if err == nil && info.IsDir() {
				err = os.Chmod(path, mode)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	once := func(want string) {
		t.Helper()
		out, err := reader().Output()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Fatalf("%q, %v, want %s records", out, err, want)
		}
	}
	lock(0o555)
	before := snapshot(t, dir)
	once("1")
	if after := snapshot(t, dir); after != before {
		t.Fatalf("it changed the folder:\n%s\n%s", before, after)
	}
	lock(0o755)

	// One reader lives through a writer's coming, working, going and dying.
	cmd := reader()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	expect := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("%q, want %s records", lines.Text(), want)
		}
	}
	ask := func(want string) {
		t.Helper()
		if _, err := io.WriteString(in, "\n"); err != nil {
			t.Fatal(err)
		}
		expect(want)
	}
	expect("1")
	s = openStore(t, dir, Options{})
	ask("1")
	publishOne(t, s, 2)
	ask("2")
	once("2")
	publishOne(t, s, 3)
	ask("3")
	s.Close()
	ask("3")
	once("3")
	killed := child(t, "publish", dir)
	said, err := killed.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	bufio.NewScanner(said).Scan() // it has published
	killed.Process.Kill()
	killed.Wait()
	_, err = io.WriteString(in, "\n")
	if err != nil || !lines.Scan() || lines.Text() <= "3" {
		t.Fatalf("%q records after a writer died, %v", lines.Text(), err)
	}
	once(lines.Text())
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}

// TestReadersAndWriters: the record that several processes count up misses none.
func TestReadersAndWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := openStore(t, dir, Options{})
	r, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	others := []*exec.Cmd{child(t, "count", dir), child(t, "count", dir)}
	for _, cmd := range others {
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error)
	go func() { done <- add(s, 200) }()
	var last string
	for running := true; running; {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			running = false
		default:
		}
		v, err := r.Catalog.Get(ctx, []byte("count"))
		if err != nil {
			t.Fatal(err)
		}
		if n := string(v); len(n) < len(last) || len(n) == len(last) && n < last {
			t.Fatalf("the count went from %s to %s", last, n)
		}
		last = string(v)
	}
	for _, cmd := range others {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	for _, s := range []*sinks.Store{s, r} {
		if v, err := s.Catalog.Get(ctx, []byte("count")); err != nil || string(v) != "600" {
			t.Fatalf("counted to %s, %v", v, err)
		}
	}
}

// TestListBetweenWriters: a reader without the right to write gets a few records while writers open the store, change it
// and close it.
func TestListBetweenWriters(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := openStore(t, dir, Options{})
	if err := errors.Join(add(s, 1), s.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cmd := child(t, "visit", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		n := 0
		err := r.Catalog.List(ctx, sinks.Span{From: []byte("count"), Stop: []byte("counu")}, func(sinks.Row) error { n++; return nil })
		if err != nil || n != 1 {
			t.Fatalf("%d records, %v", n, err)
		}
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}

// TestHeaderOnly: a -wal of nothing but its header, as a writer leaves it that
// is killed right there, holds up no reader.
func TestHeaderOnly(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	publishOne(t, s, 1)
	wal := filepath.Join(dir, catalogName+"-wal")
	header, err := os.ReadFile(wal)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := os.WriteFile(wal, header[:32], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, catalogName+"-shm"), make([]byte, 32<<10), 0o644); err != nil {
		t.Fatal(err)
	}
	before, start := snapshot(t, dir), time.Now()
	r, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := check(r, []int{1}); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > formattest.Patience {
		t.Errorf("took %v", d)
	}
	if snapshot(t, dir) != before {
		t.Error("a reader changed the folder")
	}
	// Changes, and no -shm to read them with: said, not passed over.
	if err := os.WriteFile(wal, header, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, catalogName+"-shm")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{ReadOnly: true}); err == nil || !strings.Contains(err.Error(), "open the store once for writing") {
		t.Errorf("a -wal without -shm: %v", err)
	}
	s = openStore(t, dir, Options{})
	if err := check(s, []int{1}); err != nil {
		t.Error(err)
	}
}
