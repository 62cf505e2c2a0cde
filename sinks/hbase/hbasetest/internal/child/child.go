// Package child runs the programs of hbasetest. A child ends with the test program, however that ends (Linux).
package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Process is a started program.
type Process struct {
	Cmd   *exec.Cmd
	Ended chan struct{} // closed when it has ended
}

// Start starts cmd in a process group of its own.
func Start(cmd *exec.Cmd) (*Process, error) {
	p := &Process{Cmd: cmd, Ended: make(chan struct{})}
	cmd.SysProcAttr = dieWithParent()
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the child lives as long as this thread
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // however it ended
			close(p.Ended)
		}
	}()
	return p, <-started
}

// Kill ends the process at once, as a crash would, and waits until it is gone.
func (p *Process) Kill() {
	_ = p.Cmd.Process.Kill() // it may have ended by itself
	<-p.Ended
}

// End asks the process to end, and waits until it is gone.
func (p *Process) End() {
	_ = p.Cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	<-p.Ended
}

// Pause has the process stand still, or go on. The signal stops one thread after the other.
func (p *Process) Pause(stop bool) error {
	return p.Cmd.Process.Signal(pauseSignal(stop))
}
