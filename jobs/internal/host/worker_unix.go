//go:build unix

package host

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// workerError is the file descriptor of a worker for what it prints on standard error.
const workerError = 3

func ready(cmd *exec.Cmd, errOut *os.File) error {
	cmd.ExtraFiles, cmd.SysProcAttr = []*os.File{errOut}, new(syscall.SysProcAttr)
	dieTogether(cmd)
	return nil
}

func begin(args []string) (errOut *os.File, rest []string) {
	endTogether()
	return os.NewFile(workerError, "/dev/stderr"), args
}

func askToEnd(worker *os.Process) { _ = worker.Signal(syscall.SIGTERM) } // it may have ended

func killed(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// NoCore keeps the system from writing this process's memory to a file when it dies.
func NoCore() {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // where it is refused there is no right to more either
}
