package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/host"
)

// States of a finding.
const (
	ok          = "ok"
	absent      = "absent" // not made yet, and a command makes it
	off         = "off"    // no setting asks for it
	unreachable = "unreachable"
	wrong       = "wrong" // trying again does not help
)

// finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	Place  string `json:"place"`
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
	Do     string `json:"do,omitempty"`
}

func (f finding) String() string {
	text := fmt.Sprintf("%s: %s: %s", f.Check, f.State, f.Place)
	if f.Reason != "" {
		text += ": " + f.Reason
	}
	if f.Do != "" {
		text += ": " + f.Do
	}
	return text
}

// tryTime bounds each check.
const tryTime = 5 * time.Second

// within runs a check for tryTime at most. A check that does not end then is left behind, and is out of reach.
func within(ctx context.Context, check, place string, try func(ctx context.Context) finding) finding {
	ctx, cancel := context.WithTimeout(ctx, tryTime)
	defer cancel()
	done := make(chan finding, 1)
	go func() { done <- try(ctx) }()
	select {
	case f := <-done:
		f.Check, f.Place = check, place
		return f
	case <-ctx.Done():
		return finding{check, place, unreachable, fmt.Sprintf("no answer within %s", tryTime), "check the address, the network and the credentials"}
	}
}

// failed returns the finding of an error.
func failed(err error, do string) finding {
	f := finding{State: unreachable, Reason: err.Error(), Do: do}
	if errors.Is(err, context.DeadlineExceeded) {
		f.Reason = fmt.Sprintf("no answer within %s: %v", tryTime, err)
	}
	if exit.Code(err) == exit.WrongUsage {
		f.State = wrong
	}
	return f
}

// folder tries whether a command could write into a folder, or make it.
func folder(path, maker string) finding {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return finding{State: wrong, Reason: "it is a file, and a folder is due", Do: "name a folder"}
	case err == nil:
		if err := host.Writable(path); err != nil {
			return finding{State: unreachable, Reason: "it cannot be written to: " + err.Error(), Do: "give this user the right to write"}
		}
		return finding{State: ok}
	case !errors.Is(err, os.ErrNotExist):
		return finding{State: unreachable, Reason: err.Error(), Do: "give this user the right to read it"}
	}
	for parent := filepath.Dir(path); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err == nil && !info.IsDir() {
			return finding{State: wrong, Reason: parent + " is a file", Do: "name another folder"}
		}
		if err == nil {
			if err := host.Writable(parent); err != nil {
				return finding{State: unreachable, Reason: "it is missing, and " + parent + " cannot be written to: " + err.Error(), Do: "make it, or give this user the right to"}
			}
			return finding{State: absent, Reason: "it is missing", Do: maker + " makes it"}
		}
		if parent == filepath.Dir(parent) {
			return finding{State: unreachable, Reason: err.Error()}
		}
	}
}
