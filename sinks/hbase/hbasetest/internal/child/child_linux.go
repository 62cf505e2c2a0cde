package child

import "syscall"

// dieWithParent has the kernel kill a child when the thread that started it ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}

func pauseSignal(stop bool) syscall.Signal {
	if stop {
		return syscall.SIGSTOP
	}
	return syscall.SIGCONT
}
