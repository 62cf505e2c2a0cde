package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// TableName is the name of the table of parts. Durable.
const TableName = "state"

// What a row of the table says. Durable.
const (
	saysFile    = "file"
	saysRetired = "retired"
	saysDeleted = "deleted"
	saysLive    = "live"
	saysGone    = "gone"
)

// Columns of the table, in its order.
const (
	atSays = iota
	atNumber
	atPath
	atOf
	atRows
	atLoads
	atBytes
	atKey
	atBound
	atRetired
	atArtifact
	atLoad
	atRevision
	atFile
	atFileFirst
	atFileRows
	atFacts
	atFactsFirst
	atFactsRows
	atNames
	atNamesFirst
	atNamesRows
	columns
)

// artifactColumn has a Bloom filter in plain lakes: see Log.Find.
const artifactColumn = "artifact"

// Table describes the table of parts.
func Table() *pqfile.Table {
	text := func(name, doc string) pqfile.Column { return pqfile.NewColumn(name, "VARCHAR", doc, pqfile.Text) }
	long := func(name, doc string) pqfile.Column { return pqfile.NewColumn(name, "BIGINT", doc, pqfile.Long) }
	return &pqfile.Table{Name: TableName, Doc: "a part of a checkpoint: one row a file or artifact, as the log has it last. Parts and entries with a higher number overrule it",
		Blooms: []string{artifactColumn},
		Columns: []pqfile.Column{
			text("says", "file: it counts. retired: it counts no more. deleted: it may be gone. live: the load of an artifact that counts. gone: the artifact has none"),
			long("number", "number of the log's entry that says so"),
			text("path", "of a file: its key in the lake"),
			text("of", "of a file: its table"),
			long("rows", "of a file"),
			long("loads", "of a file: loads that it has rows of"),
			long("bytes", "of a file"),
			long("master", "of a file: version of the master key that seals it. 0: plain"),
			long("bound", "of a file: 1 if it is sealed to its key in the lake"),
			long("retired_at", "of a retired file: microseconds since 1970"),
			text(artifactColumn, "of live and gone"),
			text("load", "of live: the load that counts"),
			text("revision", "of live: the revision of its facts"),
			text("file", "of live: key of the file with its rows of ranges or classes. '': it has none"),
			long("file_first", "of live: the first of these rows in the file, from 0"),
			long("file_rows", "of live: how many there are"),
			text("facts", "of live: key of the file with its row of artifacts"),
			long("facts_first", ""),
			long("facts_rows", ""),
			text("names", "of live: key of the file with its rows of names. '': it has none"),
			long("names_first", ""),
			long("names_rows", ""),
		}}
}

// cells is a row of the table.
type cells struct {
	texts [columns]string
	longs [columns]uint64
}

// isText reports whether a column holds texts.
func isText(column int) bool {
	switch column {
	case atSays, atPath, atOf, atArtifact, atLoad, atRevision, atFile, atFacts, atNames:
		return true
	}
	return false
}

// rows returns the changes as rows: artifacts ascend, and so do files after them.
func (c *Changes) rows(emit func(*cells) error) error {
	ids := make([]symbol.ID, 0, len(c.Live))
	for id := range c.Live {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b symbol.ID) int { return bytes.Compare(a[:], b[:]) })
	var r cells
	for _, id := range ids {
		n := c.Live[id]
		r = cells{}
		r.texts[atSays], r.longs[atNumber], r.texts[atArtifact] = saysGone, n.Number, id.String()
		if !n.Gone {
			r.texts[atSays], r.texts[atLoad], r.texts[atRevision] = saysLive, hex.EncodeToString(n.Load[:]), hex.EncodeToString(n.Revision[:])
			for _, s := range [...]struct {
				at int
				Span
			}{{atFile, n.Rows}, {atFacts, n.Facts}, {atNames, n.Names}} {
				r.texts[s.at], r.longs[s.at+1], r.longs[s.at+2] = s.File, s.First, s.Rows
			}
		}
		if err := emit(&r); err != nil {
			return err
		}
	}
	files := make([]Filed, 0, len(c.Files))
	for _, f := range c.Files {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b Filed) int { return cmp.Compare(a.Path, b.Path) })
	for _, f := range files {
		r = cells{}
		r.texts[atSays] = [...]string{Counts: saysFile, Retired: saysRetired, Deleted: saysDeleted}[f.Fate]
		r.longs[atNumber], r.texts[atPath], r.texts[atOf] = f.Number, f.Path, f.Table
		r.longs[atRows], r.longs[atLoads], r.longs[atBytes], r.longs[atKey] = f.Rows, uint64(f.Loads), uint64(f.Bytes), uint64(f.Key)
		if f.Bound {
			r.longs[atBound] = 1
		}
		if f.Fate == Retired {
			r.longs[atRetired] = uint64(f.At.UnixMicro())
		}
		if err := emit(&r); err != nil {
			return err
		}
	}
	return nil
}

// take adds a row of rows to the changes.
func (c *Changes) take(r *cells) error {
	fate := Counts
	switch r.texts[atSays] {
	case saysLive:
		var n Naming
		var form namedForm
		if err := form.Artifact.UnmarshalText([]byte(r.texts[atArtifact])); err != nil {
			return err
		}
		form.Load, form.Revision = r.texts[atLoad], r.texts[atRevision]
		var named Named
		if err := named.take(&form); err != nil {
			return err
		}
		n.Live, n.Number = named.Live, r.longs[atNumber]
		span := func(at int) Span { return Span{r.texts[at], r.longs[at+1], r.longs[at+2]} }
		n.Rows, n.Facts, n.Names = span(atFile), span(atFacts), span(atNames)
		c.Live[named.Artifact] = n
		return nil
	case saysGone:
		id, err := symbol.ParseID(r.texts[atArtifact])
		c.Live[id] = Naming{Gone: true, Number: r.longs[atNumber]}
		return err
	case saysFile:
	case saysRetired:
		fate = Retired
	case saysDeleted:
		fate = Deleted
	default:
		return fmt.Errorf("a row says %q", r.texts[atSays])
	}
	if r.longs[atLoads] > math.MaxInt32 || r.longs[atBytes] > math.MaxInt64 || r.longs[atKey] > math.MaxUint32 {
		return fmt.Errorf("file %s: %d loads, %d bytes, key %d", r.texts[atPath], r.longs[atLoads], r.longs[atBytes], r.longs[atKey])
	}
	f := Filed{Fate: fate, Number: r.longs[atNumber], File: File{Table: r.texts[atOf], Path: r.texts[atPath], Rows: r.longs[atRows],
		Loads: int(r.longs[atLoads]), Bytes: int64(r.longs[atBytes]), Key: uint32(r.longs[atKey]), Bound: r.longs[atBound] == 1}}
	if fate == Retired {
		f.At = time.UnixMicro(int64(r.longs[atRetired])).UTC()
	}
	c.Files[f.Path] = f
	return nil
}

// encode writes the changes as a Parquet file. key seals it; nil: it is plain.
func (c *Changes) encode(w io.Writer, key *pqfile.FileKey) error {
	t := Table()
	pager := pqfile.NewPager()
	x, err := pqfile.NewWriter(w, t, key, false, pager)
	if err != nil {
		return err
	}
	g := pqfile.NewRowGroup(t)
	page := func() error {
		if g.Open.Rows == 0 {
			return nil
		}
		s := g.Take(g.Open.Another())
		return pager.Add(g, s)
	}
	flush := func() error {
		if g.Rows == 0 {
			return nil
		}
		if err := page(); err != nil {
			return err
		}
		if err := x.Write(g); err != nil {
			return err
		}
		g.Reset()
		return nil
	}
	err = c.rows(func(r *cells) error {
		s := g.Open
		for i := range columns {
			if d := &g.Dicts[i]; isText(i) {
				s.Columns[i].Ints = append(s.Columns[i].Ints, d.Add(d.Texts.Add(r.texts[i])))
			} else {
				s.Columns[i].Longs = append(s.Columns[i].Longs, int64(r.longs[i]))
			}
		}
		s.Rows++
		g.Rows++
		switch {
		case g.Rows%64 == 0 && g.Full():
			return flush()
		case s.Full():
			return page()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	return x.Close()
}

// decode reads what encode wrote, or some row groups of it, in order. Without groups it reads all.
func decode(ctx context.Context, keys sinks.LakeKeys, b []byte, groups ...int) (*Changes, error) {
	f, err := pqfile.OpenRows(ctx, bytes.NewReader(b), int64(len(b)), func() (sinks.LakeKeys, error) { return keys, nil })
	if err != nil {
		return nil, err
	}
	c := NewChanges()
	if groups == nil {
		for g := range f.Groups() {
			groups = append(groups, g)
		}
	}
	err = c.scan(ctx, f, groups)
	return c, errors.Join(err, f.Close())
}

// scan adds the rows of some row groups of a part, in order.
func (c *Changes) scan(ctx context.Context, f *pqfile.Rows, groups []int) (err error) {
	leaves := f.Leaves()
	t := Table()
	ok := len(leaves) == columns
	for i := range leaves {
		ok = ok && leaves[i].Path == t.Columns[i].Name && !leaves[i].List && (leaves[i].Kind == pqfile.LeafText) == isText(i) && leaves[i].Kind != pqfile.LeafOther
	}
	if !ok {
		err = fmt.Errorf("its %d columns are not those of the table %s", len(leaves), TableName)
	}
	for _, g := range groups {
		if err != nil {
			break
		}
		err = f.Scan(ctx, g, leaves, func(n int, all []pqfile.Cells) error {
			for row := range n {
				var r cells
				for i := range columns {
					if len(all[i].Null) > 0 {
						return fmt.Errorf("column %s has no value", leaves[i].Path)
					}
					if isText(i) {
						r.texts[i] = all[i].Texts[row]
					} else {
						r.longs[i] = all[i].Ints[row]
					}
				}
				if err := c.take(&r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return err
}
