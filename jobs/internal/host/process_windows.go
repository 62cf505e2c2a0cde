package host

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"
)

// ThisHost names what process ids of this process are valid in: an installation of Windows. A process is told from a
// later one by the time it began, to 100 ns, also across boots.
func ThisHost() string {
	host, err := os.Hostname()
	if err != nil {
		return ""
	}
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `SOFTWARE\Microsoft\Cryptography`, registry.QUERY_VALUE|registry.WOW64_64KEY)
	if err != nil {
		return ""
	}
	defer key.Close()
	machine, _, err := key.GetStringValue("MachineGuid")
	if err != nil {
		return ""
	}
	return host + " " + machine
}

// StartOf is when a process of this host began, in units of 100 ns; "": there is none.
func StartOf(pid int) string {
	p, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(p)
	if ended, err := windows.WaitForSingleObject(p, 0); err != nil || ended == windows.WAIT_OBJECT_0 {
		return ""
	}
	var start, end, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(p, &start, &end, &kernel, &user); err != nil {
		return ""
	}
	return strconv.FormatUint(uint64(start.HighDateTime)<<32|uint64(start.LowDateTime), 10)
}

// BoundMemory makes this process die, and nothing else, when it commits more memory than that.
func BoundMemory(bytes uint64) error {
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{ProcessMemoryLimit: uintptr(bytes)}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
	return join(&limits)
}

// together makes one job of this process and all that it starts, which ends with it.
var together = sync.OnceValue(func() error {
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	return join(&limits)
})

// join puts this process into a new job with limits. The job's handle closes when the process ends.
func join(limits *windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("make a job: %w", err)
	}
	if _, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(limits)), uint32(unsafe.Sizeof(*limits))); err == nil {
		err = windows.AssignProcessToJobObject(job, windows.CurrentProcess())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("enter a job: %w", err), windows.CloseHandle(job))
	}
	return nil
}

// ready hands errOut to the worker as a handle, whose number is an argument. The worker leads a group of processes of its
// own, so that it can be asked to end.
func ready(cmd *exec.Cmd, errOut *os.File) error {
	if err := together(); err != nil {
		return err
	}
	var h windows.Handle
	self := windows.CurrentProcess()
	if err := windows.DuplicateHandle(self, windows.Handle(errOut.Fd()), self, &h, 0, true, windows.DUPLICATE_SAME_ACCESS); err != nil {
		return fmt.Errorf("hand over standard error: %w", err)
	}
	cmd.Args = append(cmd.Args, strconv.FormatUint(uint64(h), 10))
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(h)}}
	return nil
}

func begin(args []string) (errOut *os.File, rest []string) {
	if len(args) > 0 {
		if h, err := strconv.ParseUint(args[0], 10, 64); err == nil {
			return os.NewFile(uintptr(h), "stderr"), args[1:]
		}
	}
	return os.Stderr, args
}

// askToEnd sends Ctrl-Break. A worker without a console cannot be asked, and is ended.
func askToEnd(worker *os.Process) {
	if windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(worker.Pid)) != nil {
		_ = worker.Kill() // it may have ended
	}
}

// killed: Windows does not tell why a process ended.
func killed(*os.ProcessState) bool { return false }

// NoCore has nothing to do: Go programs ask Windows for no reports of errors.
func NoCore() {}
