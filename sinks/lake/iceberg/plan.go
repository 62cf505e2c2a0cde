package iceberg

import (
	"strconv"
	"time"
)

// totals counts what a snapshot adds, removes and has.
type totals struct{ files, rows, bytes, deletes, dead int64 }

func (c *totals) add(f *dataFile) {
	if c.bytes += f.Bytes; f.Content == contentDeletes {
		c.deletes++
		c.dead += f.Rows
		return
	}
	c.files++
	c.rows += f.Rows
}

// plan is the difference between a table and what it is to hold.
type plan struct {
	manifests []*manifest // of the table, with what goes marked as deleted
	fresh     []*File     // files that the table lacks
	deletes   []*deletion // files of dead rows that it lacks
	kept      totals
	added     totals
	removed   totals
	changed   bool
}

// plus returns the sum of both.
func (c totals) plus(d totals) totals {
	return totals{c.files + d.files, c.rows + d.rows, c.bytes + d.bytes, c.deletes + d.deletes, c.dead + d.dead}
}

// less returns the difference of both.
func (c totals) less(d totals) totals {
	return totals{c.files - d.files, c.rows - d.rows, c.bytes - d.bytes, c.deletes - d.deletes, c.dead - d.dead}
}

// Names of counts of a summary, as all engines know them.
const (
	totalFiles   = "total-data-files"
	totalRows    = "total-records"
	totalBytes   = "total-files-size"
	totalDeletes = "total-delete-files"
	totalDead    = "total-position-deletes"
)

// totalsOf returns what a snapshot says that the table has.
func totalsOf(s *snapshot) (c totals, ok bool) {
	if s == nil {
		return c, true
	}
	for name, n := range map[string]*int64{totalFiles: &c.files, totalRows: &c.rows, totalBytes: &c.bytes, totalDeletes: &c.deletes, totalDead: &c.dead} {
		var err error
		if *n, err = strconv.ParseInt(s.Summary[name], 10, 64); err != nil || *n < 0 {
			return c, false
		}
	}
	return c, true
}

// grown is the plan for a table that stands right but for files that came.
func (t *Tables) grown(s *shape, manifests []*manifest, kept totals, came []File) *plan {
	p := &plan{manifests: manifests, kept: kept}
	for i := range came {
		f := &came[i]
		if f.Table != s.table.Name {
			continue
		}
		p.fresh = append(p.fresh, f)
		if d := t.deletion(f); d != nil {
			p.deletes = append(p.deletes, d)
		}
	}
	p.changed = len(p.fresh) > 0
	return p
}

// deletion is a file of dead rows in the making.
type deletion struct {
	of   *File
	key  string
	dead []Span
	rows uint64
}

// deletion returns the file of a data file's dead rows; nil: it has none.
func (t *Tables) deletion(f *File) *deletion {
	dead, n := f.dead()
	if n == 0 {
		return nil
	}
	return &deletion{f, t.folder(f.Table) + deletesKey(t.location(f.Path), dead), dead, n}
}

// compare finds what differs between the manifests of a table and what it is to hold. Entries that go are marked as deleted, by
// snapshot id.
func (t *Tables) compare(s *shape, manifests []*manifest, all []File, id int64) *plan {
	p := &plan{manifests: manifests}
	files, deletes := map[string]*File{}, map[string]*deletion{}
	for i := range all {
		f := &all[i]
		if f.Table != s.table.Name {
			continue
		}
		files[t.location(f.Path)] = f
		if d := t.deletion(f); d != nil {
			deletes[t.location(d.key)] = d
		}
	}
	for _, m := range manifests {
		for i := range m.entries {
			e := &m.entries[i]
			f, keep := files[e.File.Path]
			if e.File.Content == contentDeletes {
				_, keep = deletes[e.File.Path]
				delete(deletes, e.File.Path)
			} else if keep = keep && f.Bytes == e.File.Bytes && int64(f.Rows) == e.File.Rows; keep {
				delete(files, e.File.Path)
			}
			if keep {
				p.kept.add(&e.File)
			} else {
				e.Status, e.Snapshot = deleted, &id
				m.changed, p.changed = true, true
				p.removed.add(&e.File)
			}
		}
	}
	lacking := make(map[*File]*deletion, len(deletes))
	for _, d := range deletes {
		lacking[d.of] = d
	}
	// In the order of all, so that the same state makes the same manifests.
	for i := range all {
		f := &all[i]
		if f.Table != s.table.Name {
			continue
		}
		if files[t.location(f.Path)] == f {
			p.fresh = append(p.fresh, f)
		}
		if d := lacking[f]; d != nil {
			p.deletes = append(p.deletes, d)
		}
	}
	p.changed = p.changed || len(p.fresh) > 0 || len(p.deletes) > 0
	return p
}

// summary tells what a snapshot does, and what the table has then.
func (p *plan) summary(st *State) map[string]string {
	have := p.kept.plus(p.added)
	operation := "overwrite"
	switch {
	case p.removed == totals{} && p.added.deletes == 0:
		operation = "append"
	case p.added.files == 0:
		operation = "delete"
	}
	out := map[string]string{"operation": operation, lakeSummary: st.Lake, logSummary: strconv.FormatUint(st.Log, 10), madeSummary: st.Made.UTC().Format(time.RFC3339Nano)}
	if st.Run != "" {
		out[runSummary] = st.Run
	}
	count := func(name string, n int64, always bool) {
		if n > 0 || always {
			out[name] = strconv.FormatInt(n, 10)
		}
	}
	count("added-data-files", p.added.files, false)
	count("added-records", p.added.rows, false)
	count("added-files-size", p.added.bytes, false)
	count("added-delete-files", p.added.deletes, false)
	count("added-position-delete-files", p.added.deletes, false)
	count("added-position-deletes", p.added.dead, false)
	count("deleted-data-files", p.removed.files, false)
	count("deleted-records", p.removed.rows, false)
	count("removed-files-size", p.removed.bytes, false)
	count("removed-delete-files", p.removed.deletes, false)
	count("removed-position-delete-files", p.removed.deletes, false)
	count("removed-position-deletes", p.removed.dead, false)
	count(totalFiles, have.files, true)
	count(totalRows, have.rows, true)
	count(totalBytes, have.bytes, true)
	count(totalDeletes, have.deletes, true)
	count(totalDead, have.dead, true)
	count("total-equality-deletes", 0, true)
	return out
}
