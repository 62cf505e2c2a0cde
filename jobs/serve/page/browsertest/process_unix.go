//go:build unix

package browsertest

import (
	"os/exec"
	"syscall"
)

// group makes the process the leader of a group: browsers have many processes.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// end ends the process and its group.
func end(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
