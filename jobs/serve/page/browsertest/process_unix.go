//go:build unix

package browsertest

import (
	"os/exec"
	"syscall"
)

// end ends the process and its group.
func end(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
