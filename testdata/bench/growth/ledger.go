package growth

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/symlake/symlake/ingest/ledger"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/stores"
)

const (
	ledgerArtifacts = 1000
	ledgerBatch     = 4096 // entries that are written together
)

// Ledger measures commands on a file store of 1,000 artifacts, while its ledger grows to most entries: objects of another
// bucket that no format knows.
func (b *Bench) Ledger(most int) error {
	return b.with(ledgerArtifacts, func(objects string) error {
		dir := filepath.Join(b.Temp, "growth-ledger")
		defer os.RemoveAll(dir)
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
		keyset := filepath.Join(dir, "keyset.json")
		all := commands("file:"+dir, keyset, objects)
		if err := (cost{}).run(b.Symlake, all[0]); err != nil {
			return err
		}
		var sizes []int
		costs, from := cost{}, 0
		for n := 10_000; n <= most; n *= 10 {
			if err := strangers(dir, keyset, from, n); err != nil {
				return err
			}
			for _, c := range all[1:] {
				if err := c.prepare(b.Symlake, objects); err != nil {
					return err
				}
				if err := costs.run(b.Symlake, c); err != nil {
					return err
				}
			}
			sizes, from = append(sizes, n), n
		}
		fmt.Printf("\nprocessor time in s of 1,000 artifacts, by entries of the ledger: %s\n", b.Symlake)
		print(all[1:], sizes, costs)
		return nil
	})
}

// strangers adds the entries from to to of objects that no format knows.
func strangers(dir, keyset string, from, to int) (err error) {
	ctx := context.Background()
	store, err := stores.Open(ctx, "file:"+dir, stores.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	key, err := kek.OpenKeyset(ctx, keyset, nil)
	if err != nil {
		return err
	}
	ring, err := row.OpenKeyring(ctx, store.Catalog, key)
	if err != nil {
		return err
	}
	l, now := catalog.New(store.Catalog, ring).Ledger, time.Now()
	for from < to {
		var batch []catalog.Change[catalog.Object]
		for ; from < to && len(batch) < ledgerBatch; from++ {
			batch = append(batch, catalog.Change[catalog.Object]{New: &catalog.Object{
				URL: fmt.Sprintf("s3://other/%03d/object-%08d.bin", from%1000, from), ETag: fmt.Sprintf("%032x", from), Size: int64(from), Modified: now,
				State: catalog.ObjectSkipped, Reason: ledger.ReasonUnknown, First: now, Last: now, Run: "20260101T000000Z-GROWTH"}})
		}
		if err := errors.Join(l.SwapAll(ctx, batch)...); err != nil {
			return err
		}
	}
	return nil
}
