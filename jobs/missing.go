package jobs

import (
	"errors"

	"github.com/symlake/symlake/sinks"
)

// missingFlags are the flags of jobs that a schedule starts before the first ingest.
type missingFlags struct {
	IfMissing string `help:"When there is no store yet: fail, or skip (exit 0, without a word)." enum:"fail,skip" default:"fail"`
}

// skips reports whether opening the store gave err because there is none yet, and that is fine.
func (f missingFlags) skips(p *process, err error) bool {
	if f.IfMissing != "skip" || !errors.Is(err, sinks.ErrMissing) {
		return false
	}
	p.log.Info("there is no store yet: skipped", "store", p.storeURL())
	return true
}
