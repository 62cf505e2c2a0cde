//go:build !linux

package host

import "os/exec"

// ThisHost is not known where processes cannot be told apart once they have ended: the lease alone decides.
func ThisHost() string { return "" }

func StartOf(int) string { return "" }

// BoundMemory: this system has no bound that a Go program could live with; the time bound holds.
func BoundMemory(uint64) error { return nil }

// DieTogether: this system does not tie processes together. A worker ends its work after its supervisor was killed.
func DieTogether(*exec.Cmd) {}

// NoCore: this system writes no cores unless it is told to.
func NoCore() {}
