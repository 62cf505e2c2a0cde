package file

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symlake/symlake/sinks"
)

// childVariable makes the test binary another process: what it does, and in which store.
const childVariable = "SYMLAKE_FILE_TEST_CHILD"

func TestMain(m *testing.M) {
	what, dir, ok := strings.Cut(os.Getenv(childVariable), ":")
	if !ok {
		os.Exit(m.Run())
	}
	if err := children()[what](dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func children() map[string]func(dir string) error {
	return map[string]func(dir string) error{
		"publish": publish, "read": read, "hold": hold, "limited": limited, "count": count, "visit": visit, "lookup": lookup,
	}
}

// limited fills a store in a process that may write only so much, where the system has such a bound.
var limited func(dir string) error

// child is this binary as another process.
func child(t testing.TB, what, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childVariable+"="+what+":"+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

var ctx = context.Background()

// loadRows are the rows of load n: a few small ones, or 1.2 MB when n is a multiple of 9.
func loadRows(n int) []sinks.Row {
	prefix := make([]byte, sinks.PrefixBytes)
	binary.BigEndian.PutUint64(prefix, uint64(n)*0x9e3779b97f4a7c15)
	count, size := 5, 300
	if n%9 == 0 {
		count, size = 24, 50_000
	}
	list := make([]sinks.Row, count)
	for i := range list {
		k := binary.BigEndian.AppendUint64(append(slices.Clone(prefix), 1), uint64(i))
		list[i] = sinks.Row{Key: k, Value: []byte(strings.Repeat(string(k), size/len(k)+1))}
	}
	return list
}

func prefixOf(n int) []byte { return loadRows(n)[0].Key[:sinks.PrefixBytes] }

// publishKey is the catalog record of load n.
func publishKey(n int) []byte { return fmt.Appendf(nil, "published %09d", n) }

func commit(s *sinks.Store, loads ...int) error {
	b, err := s.Blocks.Begin(ctx)
	if err != nil {
		return err
	}
	defer b.Abort()
	for _, n := range loads {
		for _, r := range loadRows(n) {
			if err := b.Write(r); err != nil {
				return err
			}
		}
	}
	return b.Commit(ctx)
}

// publish commits batches of four loads, publishes each load and says so, until it is killed.
func publish(dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	n := 0
	if err := s.Catalog.List(ctx, sinks.Span{From: []byte("published ")}, func(r sinks.Row) (err error) {
		n, err = strconv.Atoi(string(r.Value))
		return err
	}); err != nil {
		return err
	}
	for n++; ; n += 4 { // loads that were committed and not published are committed again
		if err := commit(s, n, n+1, n+2, n+3); err != nil {
			return err
		}
		for i := n; i < n+4; i++ {
			if err := s.Catalog.Swap(ctx, publishKey(i), nil, []byte(strconv.Itoa(i))); err != nil {
				return err
			}
			fmt.Println(i)
		}
	}
}

// check reads every published load and compares it; those in must have to be among them.
func check(s *sinks.Store, must []int) error {
	seen := make(map[int]bool)
	err := s.Catalog.List(ctx, sinks.Span{From: []byte("published "), Stop: []byte("published~")}, func(r sinks.Row) error {
		n, err := strconv.Atoi(string(r.Value))
		seen[n] = true
		if err != nil {
			return err
		}
		i, want := 0, loadRows(n)
		p := sinks.Prefix(prefixOf(n))
		err = s.Blocks.Scan(ctx, sinks.Span{From: p[:], Stop: p.Next()}, func(r sinks.Row) error {
			if i >= len(want) || string(r.Key) != string(want[i].Key) || string(r.Value) != string(want[i].Value) {
				return fmt.Errorf("row %d of load %d is wrong", i, n)
			}
			i++
			return nil
		})
		if err == nil && i != len(want) {
			err = fmt.Errorf("load %d has %d rows of %d", n, i, len(want))
		}
		return err
	})
	for _, n := range must {
		if !seen[n] {
			err = errors.Join(err, fmt.Errorf("load %d was published and is not", n))
		}
	}
	return err
}

// read opens read-only, checks everything and prints how many loads there are; then again for each line it gets.
func read(dir string) error {
	s, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer s.Close()
	in := bufio.NewScanner(os.Stdin)
	for {
		if err := check(s, nil); err != nil {
			return err
		}
		n := 0
		if err := s.Catalog.List(ctx, sinks.Span{}, func(sinks.Row) error { n++; return nil }); err != nil {
			return err
		}
		fmt.Println(n)
		if !in.Scan() {
			return nil
		}
	}
}

// hold locks the store until its input ends.
func hold(dir string) error {
	if _, err := Lock(dir); err != nil {
		return err
	}
	fmt.Println("locked")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// count adds 200 to a record, one at a time.
func count(dir string) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	return add(s, 200)
}

// visit opens the store, changes it and closes it, many times.
func visit(dir string) error {
	for range 60 {
		s, err := Open(dir, Options{})
		if err == nil {
			err = errors.Join(add(s, 1), s.Close())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func add(s *sinks.Store, times int) error {
	for done := 0; done < times; {
		old, err := s.Catalog.Get(ctx, []byte("count"))
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(string(old))
		switch err := s.Catalog.Swap(ctx, []byte("count"), old, []byte(strconv.Itoa(n+1))); {
		case err == nil:
			done++
		case !errors.Is(err, sinks.ErrConflict):
			return err
		}
	}
	return nil
}

// lookup is a cold process: open, find a load's record and one row.
func lookup(dir string) error {
	s, err := Open(dir, Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer s.Close()
	if v, err := s.Catalog.Get(ctx, publishKey(9)); err != nil || string(v) != "9" {
		return fmt.Errorf("%q %w", v, err)
	}
	want := loadRows(9)[7]
	var found error = errors.New("no answer")
	err = s.Blocks.First(ctx, []sinks.Span{{From: want.Key, Stop: append(slices.Clone(want.Key), 0)}}, func(_ int, r sinks.Row, err error) {
		found = err
		if err == nil && string(r.Value) != string(want.Value) {
			found = errors.New("another row")
		}
	})
	return errors.Join(err, found)
}

// files are those in blocks/, by name with ending.
func files(t testing.TB, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, blocksName, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range list {
		list[i] = filepath.Base(p)
	}
	return list
}

func publishOne(t testing.TB, s *sinks.Store, n int) {
	t.Helper()
	if err := commit(s, n); err != nil {
		t.Fatal(err)
	}
	if err := s.Catalog.Swap(ctx, publishKey(n), nil, []byte(itoa(n))); err != nil {
		t.Fatal(err)
	}
}

func itoa(n int) string { return strings.TrimLeft(string(publishKey(n)[len("published "):]), "0") }
