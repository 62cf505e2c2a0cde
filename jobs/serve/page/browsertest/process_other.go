//go:build !unix

package browsertest

import "os/exec"

// group does nothing: there are no groups of processes.
func group(*exec.Cmd) {}

// end ends the process.
func end(cmd *exec.Cmd) { cmd.Process.Kill() }
