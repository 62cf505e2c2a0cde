package jobs

import (
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks/all"
)

// errSkipLocked: another ingest holds the store and the caller chose to skip.
var errSkipLocked = errors.New("locked by another ingest")

// lockPoll is how often a waiting ingest tries again.
const lockPoll = 200 * time.Millisecond

// lockStore makes this process the only ingest on the store, which must exist.
// ifLocked is wait, skip or fail.
func (p *process) lockStore(ifLocked string) (unlock func(), err error) {
	for told := false; ; told = true {
		unlock, err := all.Lock(p.storeURL())
		switch {
		case err == nil || !errors.Is(err, all.ErrLocked):
			return unlock, err
		case ifLocked == "skip":
			return nil, errSkipLocked
		case ifLocked == "fail":
			return nil, fmt.Errorf("%s: %w", p.storeURL(), err)
		case !told:
			p.log.Info("another ingest writes this store: waiting", "store", p.storeURL())
		}
		select {
		case <-p.ctx.Done():
			return nil, p.ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}
