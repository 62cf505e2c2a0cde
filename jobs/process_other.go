//go:build !linux

package jobs

import "os/exec"

// thisHost is not known where processes cannot be told apart once they have ended: the lease alone decides.
func thisHost() string { return "" }

func startOf(int) string { return "" }

// boundMemory: this system has no bound that a Go program could live with; the time bound holds.
func boundMemory(uint64) error { return nil }

// dieTogether: this system does not tie processes together. A worker whose supervisor was killed ends its work.
func dieTogether(*exec.Cmd) {}

// noCore: this system writes no cores unless it is told to.
func noCore() {}
