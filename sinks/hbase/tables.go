package hbase

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// Durable names.
var (
	blocksColumn     = client.Column{Family: "b", Qualifier: "v"}
	generationColumn = client.Column{Family: "g", Qualifier: "n"}
	catalogColumn    = client.Column{Family: "c", Qualifier: "v"}
)

func (a *address) blocks() client.Table { return client.Table{Namespace: a.namespace, Name: "blocks"} }
func (a *address) catalog() client.Table {
	return client.Table{Namespace: a.namespace, Name: "catalog"}
}

// family has every attribute that matters, since the server fills nothing in. Values are sealed:
// neither compression nor encoding would find anything.
func family(name string, more map[string]string) client.Family {
	f := client.Family{Name: name, Attributes: map[string]string{
		"VERSIONS": "1", "MIN_VERSIONS": "0", "TTL": forever, "KEEP_DELETED_CELLS": "FALSE", "COMPRESSION": "NONE", "DATA_BLOCK_ENCODING": "NONE",
		"BLOCKSIZE": "65536", "BLOOMFILTER": "ROW", "BLOCKCACHE": "true", "IN_MEMORY": "false", "REPLICATION_SCOPE": "0",
	}}
	maps.Copy(f.Attributes, more)
	return f
}

// forever is HBase's word for a cell that does not expire.
const forever = "2147483647"

// schemas are what the tables are made with.
func (a *address) schemas() []client.Schema {
	// All rows of a load begin alike, so one Bloom filter entry a load tells whether a file has any.
	rows := family(blocksColumn.Family, map[string]string{"BLOOMFILTER": "ROWPREFIX_FIXED_LENGTH"})
	rows.Configuration = map[string]string{"RowPrefixBloomFilter.prefix_length": strconv.Itoa(sinks.PrefixBytes)}
	return []client.Schema{
		{
			Table: a.blocks(),
			Attributes: map[string]string{
				"SPLIT_POLICY": "org.apache.hadoop.hbase.regionserver.KeyPrefixRegionSplitPolicy", "KeyPrefixRegionSplitPolicy.prefix_length": "16",
			},
			Families: []client.Family{rows, family(generationColumn.Family, map[string]string{"IN_MEMORY": "true"})},
		},
		{ // of one region, so that a list is of one moment
			Table:      a.catalog(),
			Attributes: map[string]string{"SPLIT_ENABLED": "false"},
			Families:   []client.Family{family(catalogColumn.Family, map[string]string{"BLOCKSIZE": "16384", "IN_MEMORY": "true"})},
		},
	}
}

// splits parts the keys, which are hashes, evenly.
func splits(regions int) [][]byte {
	var list [][]byte
	for i := 1; i < regions; i++ {
		list = append(list, binary.BigEndian.AppendUint16(nil, uint16(i*65536/regions)))
	}
	return list
}

// create makes the namespace and the missing tables of a new store. If one table is missing and the
// other has rows, it returns sinks.ErrLost, unless newBlocks says that the rows may stay lost.
func create(ctx context.Context, c *client.Client, a *address, newBlocks bool, notice func(string)) error {
	missing, err := absent(ctx, c, a)
	if err != nil {
		return err
	}
	for _, s := range a.schemas() {
		if !slices.Contains(missing, s.Table) {
			if err := whole(ctx, c, s.Table); err != nil {
				return err
			}
		}
	}
	if len(missing) == 1 && !(newBlocks && missing[0] == a.blocks()) {
		if err := lost(ctx, c, a, missing[0]); err != nil {
			return err
		}
	}
	for i, s := range a.schemas() { // blocks first: a catalog alone means lost rows
		if !slices.Contains(missing, s.Table) {
			continue
		}
		if err := c.CreateNamespace(ctx, a.namespace); err != nil {
			return err
		}
		var keys [][]byte
		if i == 0 {
			keys = splits(a.regions)
		}
		created, err := c.CreateTable(ctx, s, keys)
		if err != nil {
			return err
		}
		if created {
			notice(fmt.Sprintf("table %s was made, with %d regions", s.Table, len(keys)+1))
		}
		if err := whole(ctx, c, s.Table); err != nil {
			return err
		}
	}
	return nil
}

// absent returns the missing tables. It asks for the catalog first, which create makes last: so a store
// that another process makes meanwhile never looks like a store without its blocks.
func absent(ctx context.Context, c *client.Client, a *address) (missing []client.Table, err error) {
	for _, t := range []client.Table{a.catalog(), a.blocks()} {
		bounded, cancel := context.WithTimeout(ctx, contactTime)
		_, err := c.Describe(bounded, t)
		cancel()
		switch {
		case errors.Is(err, client.ErrNoTable):
			missing = append(missing, t)
		case err != nil:
			return nil, err
		}
	}
	return missing, nil
}

// lost is sinks.ErrLost if the other table than the missing one has rows: an empty one is a store that
// a process began to make.
func lost(ctx context.Context, c *client.Client, a *address, missing client.Table) error {
	left, column, does := a.catalog(), catalogColumn, "restore it from a snapshot; or run symlake init --new-blocks, which makes an empty one, "+
		"and copy the rows again: symlake load --force --from another store, or symlake ingest --force"
	if missing == a.catalog() {
		left, column, does = a.blocks(), blocksColumn, "restore it from a snapshot: without it nothing opens the rows"
	}
	err := c.Scan(ctx, left, column, client.Span{}, client.ScanOptions{}, func(cell client.Cell) error {
		if len(cell.Value) == 0 {
			return nil // a record that was deleted
		}
		return errRows
	})
	if errors.Is(err, errRows) {
		return fmt.Errorf("%w: table %s is missing, and table %s has rows: %s", sinks.ErrLost, missing, left, does)
	}
	return err
}

// errRows ends a scan at its first row.
var errRows = errors.New("the table has rows")

// whole waits for a table that another process is making: HBase names it before it has regions.
func whole(ctx context.Context, c *client.Client, t client.Table) error {
	ctx, cancel := context.WithTimeout(ctx, contactTime)
	defer cancel()
	for {
		_, err := c.Regions(ctx, t)
		if !errors.Is(err, client.ErrNoTable) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// check holds the tables against what they should be: an error if rows or records would be lost, notes on what else
// is different.
func check(ctx context.Context, c *client.Client, a *address) (notes []string, err error) {
	for _, want := range a.schemas() {
		have, err := c.Describe(ctx, want.Table)
		if err != nil {
			return nil, err
		}
		notes = append(notes, differences("table "+want.Table.String(), want.Attributes, have.Attributes)...)
		for _, f := range want.Families {
			i := slices.IndexFunc(have.Families, func(h client.Family) bool { return h.Name == f.Name })
			where := fmt.Sprintf("table %s, family %s", want.Table, f.Name)
			if i < 0 {
				return nil, fmt.Errorf("%w: %s is missing", sinks.ErrUnfit, where)
			}
			h := have.Families[i]
			if ttl := h.Attributes["TTL"]; ttl != "" && ttl != forever && ttl != "FOREVER" {
				return nil, fmt.Errorf("%w: %s: with TTL %s, symbols would vanish", sinks.ErrUnfit, where, ttl)
			}
			if v := h.Attributes["VERSIONS"]; v != "" {
				if n, err := strconv.Atoi(v); err != nil || n < 1 {
					return nil, fmt.Errorf("%w: %s: VERSIONS is %s, want at least 1", sinks.ErrUnfit, where, v)
				}
			}
			notes = append(notes, differences(where, f.Attributes, h.Attributes)...)
			notes = append(notes, differences(where, f.Configuration, h.Configuration)...)
		}
	}
	return notes, nil
}

func differences(where string, want, have map[string]string) (notes []string) {
	for _, k := range slices.Sorted(maps.Keys(want)) {
		switch v, ok := have[k]; {
		case !ok:
			notes = append(notes, fmt.Sprintf("%s: %s is not set; symlake sets it to %s", where, k, want[k]))
		case v != want[k]:
			notes = append(notes, fmt.Sprintf("%s: %s is %s; symlake sets it to %s", where, k, v, want[k]))
		}
	}
	return notes
}

// contactTime is how long opening a store may take: shorter than the patience with a server that
// answered before.
const contactTime = 30 * time.Second
