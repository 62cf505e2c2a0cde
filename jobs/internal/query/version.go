package query

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/symlake/symlake/jobs/internal/session"
)

// version of the program; releases set it with -ldflags "-X".
var version = "dev"

// Version returns the version of the program.
func Version() string { return version }

// VersionJob is the command version.
type VersionJob struct{}

// WithoutConfig says that the command reads no configuration.
func (VersionJob) WithoutConfig() {}

// Help returns the text below the flags.
func (VersionJob) Help() string { return "Example:\n  symlake version --json" }

// Run prints version, commit and Go version.
func (VersionJob) Run(p *session.Session) error {
	commit := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	if p.Flags.JSON {
		return json.NewEncoder(p.Out).Encode(map[string]string{"version": version, "commit": commit, "go": runtime.Version()})
	}
	_, err := fmt.Fprintf(p.Out, "symlake %s (commit %s, %s)\n", version, commit, runtime.Version())
	return err
}
