//go:build unix && !linux

package browsertest

import (
	"os/exec"
	"syscall"
)

// group makes the process the leader of a group: browsers have many processes.
func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
