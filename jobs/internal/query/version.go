package query

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/symlake/symlake/jobs/internal/session"
)

// version of the program; releases set it with -ldflags "-X".
var version = "dev"

// Version returns the version of the program: of the release, or of the module that go install has fetched.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		return versionOf(version, info)
	}
	return version
}

// versionOf takes a release's own version first. A module that was fetched has a checksum; one in a clone has none.
func versionOf(release string, info *debug.BuildInfo) string {
	if release == "dev" && info.Main.Sum != "" {
		return strings.TrimPrefix(info.Main.Version, "v")
	}
	return release
}

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
	return fmt.Sprintf("symlake %s (commit %s, %s)", Version(), commit(), runtime.Version())
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
		return json.NewEncoder(p.Out).Encode(map[string]string{"version": Version(), "commit": commit(), "go": runtime.Version()})
	}
	_, err := fmt.Fprintln(p.Out, About())
	return err
}
