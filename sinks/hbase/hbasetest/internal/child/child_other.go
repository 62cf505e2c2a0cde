//go:build !linux

package child

import "syscall"

// dieWithParent: only Linux ends a child with its parent; elsewhere one is left if a test program is killed.
func dieWithParent() *syscall.SysProcAttr { return nil }

func pauseSignal(bool) syscall.Signal { return 0 }
