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
	"github.com/symlake/symlake/sinks/hbase/internal/places"
	"github.com/symlake/symlake/sinks/internal/hfile"
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

// family has every attribute that matters, since the server fills nothing in. Values are sealed, so compression
// would find nothing.
func family(name string, more map[string]string) client.Family {
	f := client.Family{Name: name, Attributes: map[string]string{
		"VERSIONS": "1", "MIN_VERSIONS": "0", "TTL": forever, "KEEP_DELETED_CELLS": "FALSE", "COMPRESSION": "NONE", "DATA_BLOCK_ENCODING": "NONE",
		"BLOCKSIZE": "65536", "BLOOMFILTER": "ROW", "BLOCKCACHE": "true", "IN_MEMORY": "false", "REPLICATION_SCOPE": "0",
	}}
	maps.Copy(f.Attributes, more)
	return f
}

// catalogEncoding leaves out of a record's cell what the cell before it has too.
const catalogEncoding = "FAST_DIFF"

// catalogBlock is how many bytes of records HBase reads for one of them.
const catalogBlock = 16 << 10

// forever is HBase's word for a cell that does not expire.
const forever = "2147483647"

// schemas are what the tables are made with.
func (a *address) schemas() []client.Schema {
	// All rows of a load begin alike, so one Bloom filter entry a load tells whether a file has any.
	rows := family(blocksColumn.Family, map[string]string{"BLOOMFILTER": "ROWPREFIX_FIXED_LENGTH"})
	rows.Configuration = map[string]string{prefixLength: strconv.Itoa(sinks.PrefixBytes), smallFile: strconv.Itoa(smallFileBytes)}
	return []client.Schema{
		{
			Table: a.blocks(),
			Attributes: map[string]string{
				"SPLIT_POLICY": "org.apache.hadoop.hbase.regionserver.KeyPrefixRegionSplitPolicy", "KeyPrefixRegionSplitPolicy.prefix_length": "16",
			},
			Families: []client.Family{rows, family(generationColumn.Family, map[string]string{"IN_MEMORY": "true"})},
		},
		{
			Table: a.catalog(),
			// A record is small beside its key, and URLs begin alike.
			Families: []client.Family{family(catalogColumn.Family, map[string]string{
				"BLOCKSIZE": strconv.Itoa(catalogBlock), blockEncoding: catalogEncoding, "IN_MEMORY": "true"})},
		},
	}
}

// prefixLength is HBase's name of how long a prefix a ROWPREFIX_FIXED_LENGTH filter holds.
const prefixLength = "RowPrefixBloomFilter.prefix_length"

// HBase compacts files of less than smallFile bytes, whatever their sizes. By its default, 128 MiB, each few bulk loads of
// small objects rewrite all rows of a region until it has that many. Above smallFile it compacts files of like sizes only.
const (
	smallFile      = "hbase.hstore.compaction.min.size"
	smallFileBytes = 1 << 20
)

// boundaries returns where the regions of a new table begin, without the first.
func (a *address) boundaries(t client.Table) [][]byte {
	if t == a.catalog() {
		return places.Splits(a.regions)
	}
	return splits(a.regions)
}

// splits parts the keys of rows, which are hashes, evenly.
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
	for _, s := range a.schemas() { // blocks first: a catalog alone means lost rows
		if !slices.Contains(missing, s.Table) {
			continue
		}
		denied := c.CreateNamespace(ctx, a.namespace)
		if denied != nil && !client.Denied(denied) {
			return denied
		}
		keys := a.boundaries(s.Table)
		created, err := c.CreateTable(ctx, s, keys)
		if err != nil && denied != nil && !client.Denied(err) {
			err = fmt.Errorf("%w; or an administrator runs create_namespace '%s' and grant 'USER', 'RWC', '@%[2]s'", denied, a.namespace)
		}
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
		if r, err := places.Record(cell.Row, cell.Value); left == a.catalog() && err == nil && r == nil {
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
		err := c.Reach(ctx, client.Place{Table: t})
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
// is different. It tells found of each family as it is.
func check(ctx context.Context, c *client.Client, a *address, found func(client.Table, client.Family)) (notes []string, err error) {
	var have []client.Schema
	var grew []string
	for _, want := range a.schemas() {
		s, err := c.Describe(ctx, want.Table)
		if err != nil {
			return nil, err
		}
		if want.Table == a.catalog() {
			grew = grow(ctx, c, &s)
		}
		have = append(have, s)
	}
	if notes, err = a.compare(have); err != nil {
		return nil, err
	}
	for _, s := range have {
		for _, f := range s.Families {
			found(s.Table, f)
		}
	}
	return append(grew, notes...), nil
}

// compare is check, of schemas that were read. A schema that is missing is none of its business.
func (a *address) compare(list []client.Schema) (notes []string, err error) {
	for _, want := range a.schemas() {
		at := slices.IndexFunc(list, func(s client.Schema) bool { return s.Table == want.Table })
		if at < 0 {
			continue
		}
		have := list[at]
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

// bloomOf returns the Bloom filter that a family asks for. ROWCOL gets ROW: a row of ours has one column, and
// HBase reads the kind of a filter from its file.
func bloomOf(f client.Family) hfile.Bloom {
	switch f.Attributes["BLOOMFILTER"] {
	case "ROW", "ROWCOL":
		return hfile.Bloom{Kind: hfile.BloomRow}
	case "ROWPREFIX_FIXED_LENGTH":
		n, err := strconv.Atoi(f.Configuration[prefixLength])
		if err != nil || n < 1 || n > 1<<15-1 { // HBase would not write a file either; without a filter all is found
			return hfile.Bloom{}
		}
		return hfile.Bloom{Kind: hfile.BloomRowPrefix, Prefix: n, ErrorRate: prefixErrors}
	}
	return hfile.Bloom{}
}

// prefixErrors is the error rate of a filter of load prefixes. At HBase's 0.01 a look-up would read 1.5 of 50
// files. At 0.001 it reads 1.05, and a load costs 15 bits a file in place of 10.
const prefixErrors = 0.001

const (
	splitEnabled  = "SPLIT_ENABLED"
	blockEncoding = "DATA_BLOCK_ENCODING"
)

// grow lets the catalog of an older program split, and gives its family the encoding of new ones. have changes with
// the table. Without the right to do so, it returns a note with the command.
func grow(ctx context.Context, c *client.Client, have *client.Schema) (notes []string) {
	if have.Attributes[splitEnabled] != "false" {
		return nil
	}
	table := map[string]string{splitEnabled: "true"}
	families := map[string]map[string]string{}
	i := slices.IndexFunc(have.Families, func(f client.Family) bool { return f.Name == catalogColumn.Family })
	if i >= 0 && have.Families[i].Attributes[blockEncoding] == "NONE" {
		families[catalogColumn.Family] = map[string]string{blockEncoding: catalogEncoding}
	}
	if err := c.Alter(ctx, have.Table, table, families); err != nil {
		return []string{fmt.Sprintf("table %s cannot split, because an older program made it: have an administrator run "+
			"alter '%s', SPLIT_ENABLED => 'true' in the HBase shell (%v)", have.Table, have.Table, err)}
	}
	have.Attributes[splitEnabled] = "true"
	if len(families) > 0 {
		have.Families[i].Attributes[blockEncoding] = catalogEncoding
	}
	return nil
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
