package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/jobs/internal/program"
	"github.com/symlake/symlake/jobs/internal/workspace"
)

const (
	// isolatedExtra is the memory in bytes that an isolated ingest may take beside its budget: parsers hold a unit of
	// debug information, and garbage.
	isolatedExtra = 2 << 30
	// isolatedGrace is its time beyond the bound of one object, to open the store and to publish.
	isolatedGrace = time.Minute
)

// isolate runs this command again for one object, as a process of its own with its own limits.
func isolate(p *workspace.Workspace, run, teller string, limit time.Duration) func(ctx context.Context, url string) (*report.Report, error) {
	return func(ctx context.Context, url string) (*report.Report, error) {
		exe, err := os.Executable()
		if err != nil {
			return nil, err
		}
		ctx, cancel := context.WithTimeout(ctx, limit+isolatedGrace)
		defer cancel()
		p.Log.Info("an object that was open when processes died is taken in one of its own", "url", url)
		cmd := exec.CommandContext(ctx, exe, isolatedArgs(p.Args, url, run, teller)...)
		var out bytes.Buffer
		said := &program.ErrorTail{}
		cmd.Stdout, cmd.Stderr = &out, said
		if p.ConfigText != nil {
			cmd.Stdin = bytes.NewReader(p.ConfigText)
		}
		err = cmd.Run()
		report := &report.Report{}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if json.Unmarshal([]byte(lines[len(lines)-1]), report) != nil {
			report = nil
		}
		var ended *exec.ExitError
		switch {
		case ctx.Err() != nil && !errors.Is(ctx.Err(), context.Canceled):
			return report, fmt.Errorf("limits.time: it was not done within %v", limit+isolatedGrace)
		case err != nil && !errors.As(err, &ended):
			return nil, fmt.Errorf("start %s: %w", exe, err)
		case err != nil && report == nil:
			return nil, fmt.Errorf("%s: %s", ended.ProcessState, said.Cause())
		}
		return report, nil
	}
}

// isolatedArgs returns a command's arguments with the flags of an isolated ingest behind its own.
func isolatedArgs(args []string, url, run, teller string) []string {
	extra := []string{"--only", url, "--isolated", "--teller", teller, "--report", "-", "--run", run, "--rejected-code", "0", "--nothing-new-code", "0", "--limit", "0", "--no-progress"}
	for i, a := range args {
		if a == "--" {
			return append(append(append([]string{}, args[:i]...), extra...), args[i:]...)
		}
	}
	return append(append([]string{}, args...), extra...)
}
