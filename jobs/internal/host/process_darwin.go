package host

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// ThisHost names what process ids of this process are valid in: a boot of a machine.
func ThisHost() string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	boot, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d", host, boot.Sec)
}

// StartOf is when a process of this host began, in microseconds; "": there is none.
func StartOf(pid int) string {
	const zombie = 5 // SZOMB of sys/proc.h
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || p.Proc.P_pid != int32(pid) || p.Proc.P_stat == zombie {
		return ""
	}
	return fmt.Sprintf("%d.%06d", p.Proc.P_starttime.Sec, p.Proc.P_starttime.Usec)
}
