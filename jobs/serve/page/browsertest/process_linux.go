package browsertest

import (
	"os/exec"
	"syscall"
)

// group makes the process the leader of a group, because browsers have many processes. The process ends with the thread
// that starts it, also if the test is killed.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
