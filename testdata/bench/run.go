package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// usage is what one process cost.
type usage struct {
	cpu, wall time.Duration // cpu is user + system
	anon      int64         // peak anonymous memory in bytes, of the process and its workers, sampled
}

// run executes a program to its end; stdout nil is the null device, which
// costs nothing. Its standard error is kept for the error only.
func run(stdin io.Reader, stdout io.Writer, program string, args ...string) (usage, error) {
	cmd := exec.Command(program, args...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return usage{}, err
	}
	done := make(chan int64)
	stop := make(chan struct{})
	go func() {
		var peak int64
		for {
			select {
			case <-stop:
				done <- peak
				return
			case <-time.After(5 * time.Millisecond):
				peak = max(peak, anonymous(cmd.Process.Pid))
			}
		}
	}()
	err := cmd.Wait()
	u := usage{wall: time.Since(start)}
	close(stop)
	u.anon = <-done
	u.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		return u, fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, tail(stderr.Bytes()))
	}
	return u, nil
}

// anonymous reads RssAnon of a process and of the processes that it started; 0 when it has ended.
func anonymous(pid int) (bytes int64) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range threads {
		text, _ := os.ReadFile(path) // none: it has ended
		for child := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(child); err == nil {
				bytes += anonymous(n)
			}
		}
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return bytes
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return bytes + kb<<10
		}
	}
	return bytes
}

func tail(b []byte) string {
	if len(b) > 500 {
		b = b[len(b)-500:]
	}
	return string(b)
}
