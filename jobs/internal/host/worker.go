package host

import (
	"fmt"
	"os"
	"os/exec"
)

// Worker readies a process of this program that does the work of this one, its supervisor. The worker ends when its
// supervisor ends, however that happens. What it prints goes to errOut; its standard error tells how it died.
// The calling thread must live as long as the worker. Its arguments come from Worker too.
func Worker(exe string, args []string, errOut *os.File) (*exec.Cmd, error) {
	cmd := exec.Command(exe)
	cmd.Args = append(cmd.Args, WorkerFlag)
	if err := ready(cmd, errOut); err != nil {
		return nil, fmt.Errorf("ready a worker: %w", err)
	}
	cmd.Args = append(cmd.Args, args...)
	return cmd, nil
}

// WorkerFlag as the first argument makes a process a worker.
const WorkerFlag = "--supervised"

// AsWorker takes what Worker put before the arguments, and returns the file for what this worker prints. A process that is
// no worker gets ok false and its arguments.
func AsWorker(args []string) (rest []string, errOut *os.File, ok bool) {
	if len(args) == 0 || args[0] != WorkerFlag {
		return args, nil, false
	}
	errOut, rest = begin(args[1:])
	return rest, errOut, true
}

// AskToEnd asks a started worker to end its work, as a signal asks this process. On a terminal the worker has the signal
// already: a second one changes nothing.
func AskToEnd(worker *os.Process) { askToEnd(worker) }

// Killed reports whether a process was ended by force, from outside.
func Killed(state *os.ProcessState) bool { return killed(state) }

// Crashed reports whether the system ended a process, so that it has no exit code of its own.
func Crashed(state *os.ProcessState) bool {
	code := state.ExitCode()
	return code < 0 || crashCode(uint32(code))
}

// crashCode tells codes of Windows, such as 0xC0000005 for a violated access, from those of a program.
func crashCode(code uint32) bool { return code >= 0xC0000000 }
