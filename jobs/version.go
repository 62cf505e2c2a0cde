package jobs

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
)

// version of the program; releases set it with -ldflags "-X".
var version = "dev"

type versionJob struct{}

func (versionJob) Help() string { return "Example:\n  symlake version --json" }

// Run prints version, commit and Go version.
func (versionJob) Run(p *process) error {
	commit := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	if p.flags.JSON {
		return json.NewEncoder(p.out).Encode(map[string]string{"version": version, "commit": commit, "go": runtime.Version()})
	}
	_, err := fmt.Fprintf(p.out, "symlake %s (commit %s, %s)\n", version, commit, runtime.Version())
	return err
}
