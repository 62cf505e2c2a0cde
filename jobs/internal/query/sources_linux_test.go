package query

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/symlake/symlake/jobs/internal/session"
)

// A pipe is looked at and then read from its beginning, and a log in it is not waited for.
func TestSourcesPipe(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "log")
	if err := unix.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		io.WriteString(f, "first line\n")
	}()
	in, log := io.Pipe()
	go io.WriteString(log, "a line of a log\nand half of")
	s := newSources(&session.Session{Ctx: context.Background(), In: in})
	if head, err := s.head("-"); err != nil || !strings.HasPrefix(string(head), "a line of a log\n") {
		t.Errorf("head of a log is %q, %v", head, err)
	}
	for range 2 {
		if head, err := s.head(name); err != nil || string(head) != "first line\n" {
			t.Errorf("head of a pipe is %q, %v", head, err)
		}
	}
	r, closePipe, err := s.open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer closePipe()
	if text, err := io.ReadAll(r); err != nil || string(text) != "first line\n" {
		t.Errorf("a pipe has %q, %v", text, err)
	}
	if s.regular(name) || s.regular("-") {
		t.Error("pipes pass as regular files")
	}
}

// A reader waits for a pipe of small pieces, unless the pipe has a log.
func TestSourcesPieces(t *testing.T) {
	t.Parallel()
	in, out := io.Pipe()
	go func() {
		for _, piece := range []string{"\x1f", "\x8b", "\x08\n", "rest"} {
			io.WriteString(out, piece)
		}
		out.Close()
	}()
	s := newSources(&session.Session{Ctx: context.Background(), In: in})
	if head, err := s.head("-"); err != nil || string(head) != "\x1f\x8b\x08\nrest" {
		t.Errorf("head is %q, %v", head, err)
	}
}
