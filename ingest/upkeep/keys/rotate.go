// Package keys changes the keys of a store.
//
//   - [Rotate] makes a new store key and wraps every data key and record with it; [Retire] deletes
//     store keys that open nothing.
//   - [Reseal] gives artifacts new data keys, and new rows under them.
//   - [Shred] destroys the data keys of artifacts.
//
// Each can be repeated after a process died in the middle.
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

// RotateOptions names the store to rotate.
type RotateOptions struct {
	Store    *sinks.Store
	Keyring  *row.Keyring
	Now      func() time.Time   // nil: time.Now
	Progress func(RotateReport) // is called after each page of the catalog, from one goroutine (nil: none)
}

// RotateReport tells what a rotation did.
type RotateReport struct {
	Job      string             `json:"job"`
	Started  time.Time          `json:"started"`
	Seconds  float64            `json:"seconds"`
	Version  uint32             `json:"version"`           // of the store key that seals from now on
	Resumed  bool               `json:"resumed,omitempty"` // an earlier rotation to it was cut short
	DataKeys int                `json:"data_keys"`         // wrapped again
	Records  int                `json:"records"`           // of the catalog, sealed again
	Failed   []report.Rejection `json:"failed,omitempty"`  // records that do not open
	Untold   int                `json:"untold,omitempty"`  // failures beyond the list
}

const (
	// rotatePage is the number of records to read before the stale ones are written.
	rotatePage = 8192
	// rotateAtOnce records share a transaction and its sync, in a store that groups them.
	rotateAtOnce = 1024
	// maxPasses bounds the passes over the catalog. A pass finds records that another process has sealed
	// under the old key meanwhile.
	maxPasses = 10
)

// Rotate makes a new store key, wraps every data key with it, and seals every record of the catalog
// under it. Rows do not change. Readers go on, because older versions stay until [Retire] deletes them.
// If a rotation was cut short, the next call finishes it.
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

// rotatePass goes over the catalog once. found counts the records that it sealed again.
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

// Retire deletes versions of the store key that open nothing in the catalog and the lake. It waits until
// the newest version has been in use for the grace, because readers may still hold older records. It
// returns the versions that it deleted.
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
