package workspace

import (
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/jobs/internal/session"
	"github.com/symlake/symlake/sinks/stores"
)

// ErrSkipLocked says that another ingest holds the store and the caller chose to skip.
var ErrSkipLocked = errors.New("locked by another ingest")

// lockPoll is how often a waiting ingest tries again.
const lockPoll = 200 * time.Millisecond

// What --if-locked says: wait, skip or fail when another ingest of the same shard runs, or work beside it.
const (
	lockWait = "wait"
	lockSkip = "skip"
	lockFail = "fail"
	LockJoin = "join"
)

// LockStore locks the store, which must exist, for this process alone. ifLocked is wait, skip or fail.
func (p *Workspace) LockStore(ifLocked string) (unlock func(), err error) {
	return p.untilFree(ifLocked, func() (func(), error) { return stores.Lock(p.StoreURL()) })
}

// JoinStore lets this process ingest into the store beside others, and keeps its name for it alone.
func (p *Workspace) JoinStore(ifLocked, name string) (unlock func(), err error) {
	if ifLocked == LockJoin {
		ifLocked, name = lockWait, ""
	}
	return p.untilFree(ifLocked, func() (func(), error) { return stores.Join(p.StoreURL(), name) })
}

func (p *Workspace) untilFree(ifLocked string, lock func() (func(), error)) (unlock func(), err error) {
	for told := false; ; told = true {
		unlock, err := lock()
		switch {
		case err == nil || !errors.Is(err, stores.ErrLocked):
			return unlock, session.Unfit(err)
		case ifLocked == lockSkip:
			return nil, ErrSkipLocked
		case ifLocked == lockFail:
			return nil, fmt.Errorf("%s: %w", p.StoreURL(), err)
		case !told:
			p.Log.Info("another ingest writes this store: waiting", "store", p.StoreURL())
		}
		select {
		case <-p.Ctx.Done():
			return nil, p.Ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}
