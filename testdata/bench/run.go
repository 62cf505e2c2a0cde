package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// usage is what one process cost.
type usage struct {
	cpu, wall time.Duration // cpu is user + system
	anon      int64         // peak anonymous memory in bytes, sampled
}

// run executes a program to its end; stdout nil is the null device, which
// costs nobody anything. Its standard error is kept for the error only.
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
		status := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid)
		for {
			select {
			case <-stop:
				done <- peak
				return
			case <-time.After(5 * time.Millisecond):
				peak = max(peak, anonymous(status))
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

// anonymous reads RssAnon of a process; 0 when it has ended.
func anonymous(status string) int64 {
	text, err := os.ReadFile(status)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return kb << 10
		}
	}
	return 0
}

func tail(b []byte) string {
	if len(b) > 500 {
		b = b[len(b)-500:]
	}
	return string(b)
}
