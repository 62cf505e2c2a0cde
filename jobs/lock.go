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

// What --if-locked says: wait, skip or fail when another ingest of the same shard runs, or work beside it.
const (
	lockWait = "wait"
	lockSkip = "skip"
	lockFail = "fail"
	lockJoin = "join"
)

// lockStore makes this process the only one that works on the store, which must exist. ifLocked is wait, skip or fail.
func (p *workspace) lockStore(ifLocked string) (unlock func(), err error) {
	return p.untilFree(ifLocked, func() (func(), error) { return all.Lock(p.storeURL()) })
}

// joinStore makes this process one of those that ingest into the store, and the only one of that name.
func (p *workspace) joinStore(ifLocked, name string) (unlock func(), err error) {
	if ifLocked == lockJoin {
		ifLocked, name = lockWait, ""
	}
	return p.untilFree(ifLocked, func() (func(), error) { return all.Join(p.storeURL(), name) })
}

func (p *workspace) untilFree(ifLocked string, lock func() (func(), error)) (unlock func(), err error) {
	for told := false; ; told = true {
		unlock, err := lock()
		switch {
		case err == nil || !errors.Is(err, all.ErrLocked):
			return unlock, unfit(err)
		case ifLocked == lockSkip:
			return nil, errSkipLocked
		case ifLocked == lockFail:
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
