//go:build unix && !linux

package host

import (
	"os"
	"os/exec"
)

// lifelineAt is the file descriptor of a worker for its end of the lifeline.
const lifelineAt = workerError + 1

// lifelines holds this process's ends of the pipes open until it ends.
var lifelines []*os.File

// dieTogether gives a process that is started a lifeline. Without one it ends its work when it is done.
func dieTogether(cmd *exec.Cmd) {
	worker, own, err := os.Pipe()
	if err != nil {
		return
	}
	lifelines = append(lifelines, worker, own)
	cmd.ExtraFiles = append(cmd.ExtraFiles, worker)
}

// endTogether ends this worker with its supervisor.
func endTogether() {
	if lifeline := os.NewFile(lifelineAt, "lifeline"); lifeline != nil {
		if info, err := lifeline.Stat(); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
			go watch(lifeline, func() { os.Exit(1) })
		}
	}
}

// BoundMemory sets no bound: this system has none that a Go program could live with. The bound of time holds.
func BoundMemory(uint64) error { return nil }
