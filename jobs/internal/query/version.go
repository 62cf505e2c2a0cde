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

// commit returns the revision that the program was built of.
func commit() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}

// About returns version, commit and Go version in one line.
func About() string {
	return fmt.Sprintf("symlake %s (commit %s, %s)", version, commit(), runtime.Version())
}

// VersionJob is the command version.
type VersionJob struct{}

// WithoutConfig says that the command reads no configuration.
func (VersionJob) WithoutConfig() {}

// Help returns the text below the flags.
func (VersionJob) Help() string { return "Example:\n  symlake version --json" }

// Run prints version, commit and Go version.
func (VersionJob) Run(p *session.Session) error {
	if p.Flags.JSON {
		return json.NewEncoder(p.Out).Encode(map[string]string{"version": version, "commit": commit(), "go": runtime.Version()})
	}
	_, err := fmt.Fprintln(p.Out, About())
	return err
}
