package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/host"
	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/jobs/internal/term"
)

// Go ends a process with exit code 2 when it panics or has no memory left, and the system ends it with none. So
// jobs that schedulers start run in a worker: a process of its own. Its supervisor only waits, and tells
// how the worker died as exit code 1. Commands that people wait for run without one.

// supervised is a job that may run in a worker. Its method reports whether it does.
type supervised interface{ Supervised() bool }

// deathError says how a process died that did not end its work.
type deathError struct{ job, cause string }

func (d *deathError) Error() string {
	if d.cause == ended {
		return fmt.Sprintf("%s %s: what it had completed stays, and running it again does the rest", d.job, d.cause)
	}
	return fmt.Sprintf("%s died: %s: what it had completed stays, and running it again does the rest", d.job, d.cause)
}

// ended is the cause of a death that a signal to the supervisor brought.
const ended = "was ended by a signal"

// supervise runs the command line in a worker. in, out and errOut are this process's own.
func supervise(p *session.Session, job string, in, out, errOut *os.File) error {
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	// A worker ends with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	said := &ErrorTail{}
	cmd, err := host.Worker(exe, p.Args, errOut)
	if err != nil {
		return err
	}
	cmd.Args[0] = os.Args[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, said
	if p.ConfigText != nil {
		cmd.Stdin = bytes.NewReader(p.ConfigText) // standard input has it no more
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	defer context.AfterFunc(p.Ctx, func() { host.AskToEnd(cmd.Process) })()
	err = cmd.Wait()
	if cmd.ProcessState.ExitCode() < 0 || said.fatal != "" {
		term.EraseBar(errOut) // the worker had no time to
	}
	var exited *exec.ExitError
	switch code := cmd.ProcessState.ExitCode(); {
	case err != nil && !errors.As(err, &exited):
		return fmt.Errorf("wait for the worker: %w", err)
	case host.Crashed(cmd.ProcessState) || code == exit.WrongUsage && said.fatal != "":
		p.Log.Debug("the worker's last words", "text", string(said.text))
		cause := death(cmd.ProcessState, said)
		if p.Ctx.Err() != nil && said.fatal == "" {
			cause = ended
		}
		return &deathError{job, cause}
	case code != 0:
		p.Reported = true // by the worker
		errOut.Write(said.text)
		return &exit.Error{Code: code}
	}
	errOut.Write(said.text)
	return nil
}

// death says how a process died.
func death(state *os.ProcessState, said *ErrorTail) string {
	switch {
	case said.fatal != "":
		return said.fatal
	case host.Killed(state):
		return "somebody killed it, or the system had no memory left for it"
	}
	return state.String()
}

// Guard runs a job, and makes a panic of its goroutine an error. A worker is left to die of it: its supervisor tells.
func Guard(p *session.Session, job string, run func() error) (err error) {
	if p.Worker {
		return run()
	}
	defer func() {
		if v := recover(); v != nil {
			p.Log.Debug("panic", "value", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = &deathError{job, strings.TrimSpace(fmt.Sprintf("panic: %v", v))}
		}
	}()
	return run()
}

// dieLoudly makes this process die of a signal, not with exit code 2, when the runtime gives up: a panic of
// another goroutine, no memory. Memory holds symbols and keys, so no core is written.
func dieLoudly() {
	debug.SetTraceback("crash")
	host.NoCore()
}
