// Package measure runs programs, notes the cost of each, and prints tables of it.
package measure

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Usage is the cost of one process.
type Usage struct {
	CPU, Wall time.Duration // cpu is user + system
	Anon      int64         // peak anonymous memory in bytes, of the process and its workers, sampled
	Resident  int64         // peak of all its memory in bytes, as the kernel counts it but for its last 5 ms
}

// Run executes a program to its end; stdout nil is the null device, which
// costs nothing. Its standard error is kept for the error only.
func Run(stdin io.Reader, stdout io.Writer, program string, args ...string) (Usage, error) {
	cmd := exec.Command(program, args...)
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &stderr
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return Usage{}, err
	}
	done := make(chan [2]int64)
	stop := make(chan struct{})
	go func() {
		var peak [2]int64
		for {
			select {
			case <-stop:
				done <- peak
				return
			case <-time.After(5 * time.Millisecond):
				peak[0] = max(peak[0], Anonymous(cmd.Process.Pid))
				peak[1] = max(peak[1], Status(cmd.Process.Pid, "VmHWM:"))
			}
		}
	}()
	err := cmd.Wait()
	u := Usage{Wall: time.Since(start)}
	close(stop)
	peaks := <-done
	u.Anon, u.Resident = peaks[0], peaks[1]
	u.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if err != nil {
		return u, fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, tail(stderr.Bytes()))
	}
	return u, nil
}

// Spent returns the processor time of this process so far.
func Spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // it takes no other argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BytesBelow returns the bytes of all files below a folder.
func BytesBelow(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// Anonymous reads RssAnon of a process and of the processes that it started; 0 when it has ended.
func Anonymous(pid int) (bytes int64) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range threads {
		text, _ := os.ReadFile(path) // none: it has ended
		for child := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(child); err == nil {
				bytes += Anonymous(n)
			}
		}
	}
	return bytes + Status(pid, "RssAnon:")
}

// Status reads a line of a process's status, in bytes; 0 when it has ended.
func Status(pid int, name string) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // none: it has ended
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
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
