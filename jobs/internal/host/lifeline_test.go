package host

import (
	"os"
	"testing"
)

// A worker meets its end when the supervisor's end of the pipe closes, and no sooner.
func TestLifeline(t *testing.T) {
	t.Parallel()
	worker, supervisor, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer worker.Close()
	ended := make(chan struct{})
	go watch(worker, func() { close(ended) })
	select {
	case <-ended:
		t.Fatal("the worker ended before its supervisor")
	default:
	}
	if err := supervisor.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// A program gives small codes. Windows gives large ones to a process that crashed.
func TestCrashCode(t *testing.T) {
	t.Parallel()
	for code, want := range map[uint32]bool{0: false, 1: false, 2: false, 99: false, 255: false, 0xC0000005: true, 0xC000013A: true, 0xC00000FD: true} {
		if got := crashCode(code); got != want {
			t.Errorf("%#x: %v", code, got)
		}
	}
}

// What Worker puts before the arguments, AsWorker takes away.
func TestAsWorker(t *testing.T) {
	t.Parallel()
	if rest, _, ok := AsWorker([]string{"ingest", WorkerFlag}); ok || len(rest) != 2 {
		t.Errorf("%q %v", rest, ok)
	}
	if rest, _, ok := AsWorker(nil); ok || len(rest) != 0 {
		t.Errorf("%q %v", rest, ok)
	}
	cmd, err := Worker(os.Args[0], []string{"ingest", "-"}, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(cmd.Args); cmd.Args[1] != WorkerFlag || cmd.Args[n-2] != "ingest" || cmd.Args[n-1] != "-" {
		t.Errorf("%q", cmd.Args)
	}
}
