package host

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ThisHost names what process ids of this process are valid in: a boot of a machine, and a container on it.
func ThisHost() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return host + " " + strings.TrimSpace(string(boot)) + " " + space
}

// StartOf is when a process of this host began, in the kernel's words; "": there is none.
func StartOf(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name, in brackets, may hold anything: fields count from behind it.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	return fields[start]
}

// BoundMemory makes this process die, and nothing else, when it writes to more memory than that.
func BoundMemory(bytes uint64) error {
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: bytes, Max: bytes})
}

// dieTogether makes a process that is started die when the thread that starts it ends.
func dieTogether(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }

// endTogether has nothing to do: the kernel sees to it.
func endTogether() {}
