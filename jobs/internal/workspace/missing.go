package workspace

import (
	"errors"

	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/sinks"
)

// MissingFlags are the flags of jobs that a schedule starts before the first ingest.
type MissingFlags struct {
	IfMissing string `help:"If there is no store yet: fail, or skip (exit code 0)." enum:"fail,skip" default:"fail" placeholder:"HOW"`
}

// Skips reports whether opening the store gave err because there is none yet, and that is fine.
func (f MissingFlags) Skips(p *session.Session, err error) bool {
	if f.IfMissing != "skip" || !errors.Is(err, sinks.ErrMissing) {
		return false
	}
	p.Log.Info("there is no store yet: skipped", "store", p.StoreURL())
	return true
}
