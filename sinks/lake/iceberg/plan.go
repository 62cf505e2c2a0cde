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
	added     totals
	removed   totals
	changed   bool
}

// deletion is a file of dead rows in the making.
type deletion struct {
	of   *File
	key  string
	dead []Span
	rows uint64
}

// compare finds what differs between the manifests of a table and st. Entries that go are marked as deleted, by snapshot id.
func (t *Tables) compare(s *shape, manifests []*manifest, st *State, id int64) *plan {
	p := &plan{manifests: manifests}
	files, deletes := map[string]*File{}, map[string]*deletion{}
	for i := range st.Files {
		f := &st.Files[i]
		if f.Table != s.table.Name {
			continue
		}
		files[t.location(f.Path)] = f
		if dead, n := f.dead(); n > 0 {
			key := deletesKey(t.location(f.Path), dead)
			deletes[t.location(t.folder(s.table.Name)+key)] = &deletion{f, t.folder(s.table.Name) + key, dead, n}
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
			if !keep {
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
	// In the order of st, so that the same state makes the same manifests.
	for i := range st.Files {
		f := &st.Files[i]
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
func (p *plan) summary(all []*manifest, st *State) map[string]string {
	var have totals
	for _, m := range all {
		for i := range m.entries {
			switch e := &m.entries[i]; e.Status {
			case added:
				p.added.add(&e.File)
				have.add(&e.File)
			case existing:
				have.add(&e.File)
			}
		}
	}
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
	count("total-data-files", have.files, true)
	count("total-records", have.rows, true)
	count("total-files-size", have.bytes, true)
	count("total-delete-files", have.deletes, true)
	count("total-position-deletes", have.dead, true)
	count("total-equality-deletes", 0, true)
	return out
}
