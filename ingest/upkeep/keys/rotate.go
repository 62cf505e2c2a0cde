package keys

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/symlake/symlake/ingest/parallel"
	"github.com/symlake/symlake/ingest/report"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// RotateOptions say whose keys are made new.
type RotateOptions struct {
	Store    *sinks.Store
	Keyring  *row.Keyring
	Now      func() time.Time   // nil: time.Now
	Progress func(RotateReport) // hears of every page of the catalog, from one goroutine (nil: nobody)
}

// RotateReport is what a rotation did.
type RotateReport struct {
	Job      string             `json:"job"`
	Started  time.Time          `json:"started"`
	Seconds  float64            `json:"seconds"`
	Version  uint32             `json:"version"`           // of the store key, that seals from now on
	Resumed  bool               `json:"resumed,omitempty"` // an earlier rotation to it had been cut short
	DataKeys int                `json:"data_keys"`         // wrapped anew
	Records  int                `json:"records"`           // of the catalog, sealed anew
	Failed   []report.Rejection `json:"failed,omitempty"`  // records that do not open
	Untold   int                `json:"untold,omitempty"`  // how many more failed than Failed names
}

const (
	// rotatePage is how many records are looked at before those that are due are written.
	rotatePage = 8192
	// rotateAtOnce of them share a transaction of the store, and its sync, if it groups them.
	rotateAtOnce = 1024
	// maxPasses bounds how often records are looked for that others sealed under the old key meanwhile.
	maxPasses = 10
)

// Rotate makes a new store key and brings every data key and every record of the catalog under it; rows stay
// as they are. Readers read on: older versions stay until RetireKeys. A rotation that was cut short
// is finished by the next call.
func Rotate(ctx context.Context, o RotateOptions) (*RotateReport, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &RotateReport{Job: "rotate", Started: o.Now()}
	err := rotate(ctx, o, r)
	r.Seconds = o.Now().Sub(r.Started).Seconds()
	return r, err
}

func rotate(ctx context.Context, o RotateOptions, r *RotateReport) (err error) {
	if r.Version, r.Resumed, err = o.Keyring.Rotate(ctx); err != nil {
		return err
	}
	cat := catalog.New(o.Store.Catalog, o.Keyring)
	for range maxPasses {
		found, err := rotatePass(ctx, o, cat, r)
		if err != nil {
			return err
		}
		if len(r.Failed) > 0 {
			return fmt.Errorf("%d records could not be sealed anew", len(r.Failed)+r.Untold)
		}
		if found == 0 {
			return o.Keyring.FinishRotation(ctx, r.Version)
		}
	}
	return errors.New("others keep sealing records under the old key: run it again when they are done")
}

// rotatePass goes over the catalog once, and counts what it had to do.
func rotatePass(ctx context.Context, o RotateOptions, cat *catalog.Catalog, r *RotateReport) (found int, err error) {
	for from, more := []byte(nil), true; more; {
		stale, next, err := cat.Keys.Stale(ctx, from, rotatePage)
		if err != nil {
			return found, err
		}
		from, more = next, next != nil
		var mu sync.Mutex
		parallel.DoMost(rotateAtOnce, len(stale), func(i int) {
			if ctx.Err() != nil {
				return
			}
			n, done, err := cat.Keys.Renew(ctx, stale[i])
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && !done:
			case err == nil:
				found++
				r.Records++
				r.DataKeys += n
			case len(r.Failed) < report.MaxListed:
				r.Failed = append(r.Failed, report.Rejection{URL: fmt.Sprintf("record %x", stale[i].Key()), Error: err.Error()})
			default:
				r.Untold++
			}
		})
		if err := ctx.Err(); err != nil {
			return found, err
		}
		if o.Progress != nil {
			o.Progress(*r)
		}
	}
	return found, nil
}

// Retire deletes the versions of the store key that open nothing any more, neither in the catalog nor in the lake, if
// the newest has been in use for the grace: until then readers hold records as they were. It gives the versions that went.
func Retire(ctx context.Context, s *sinks.Store, k *row.Keyring, lake sinks.Lake, grace time.Duration, now time.Time) (gone []uint32, err error) {
	versions, err := row.StoreKeys(ctx, s.Catalog)
	if err != nil || len(versions) < 2 {
		return nil, err
	}
	if newest := versions[len(versions)-1]; newest.Finished.IsZero() || newest.Finished.After(now.Add(-grace)) {
		return nil, nil
	}
	cat := catalog.New(s.Catalog, k)
	use, err := cat.Keys.Use(ctx)
	if err != nil {
		return nil, err
	}
	var inLake map[uint32]int
	if lake != nil {
		if inLake, err = lake.Keys(ctx); err != nil {
			return nil, fmt.Errorf("read the lake: %w", err)
		}
	}
	for _, v := range versions[:len(versions)-1] {
		if use.Records[v.Version]+use.DataKeys[v.Version]+inLake[v.Version] > 0 {
			continue
		}
		if err := k.RetireStoreKey(ctx, v.Version); err != nil {
			return gone, err
		}
		gone = append(gone, v.Version)
	}
	return gone, nil
}
