package icemeta

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Another writer may have taken schemas out: their ids come no second time while a higher one is there.
func TestNextSchema(t *testing.T) {
	m := &Metadata{}
	if id := m.NextSchema(); id != 0 {
		t.Errorf("the first schema has id %d", id)
	}
	m.Schemas = []json.RawMessage{[]byte(`{"schema-id":0}`), []byte(`{"schema-id":2}`)}
	if id := m.NextSchema(); id != 3 {
		t.Errorf("id %d after 0 and 2, want 3", id)
	}
}

// many is metadata with n snapshots, branches, schemas and earlier files, each with a field that the package does not know, and
// with n such fields of its own.
func many(n int) []byte {
	list := func(form string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(form, i)
		}
		return strings.Join(all, ",")
	}
	return fmt.Appendf(nil, `{"format-version":2,"table-uuid":"u","location":"l","current-snapshot-id":%d,"schemas":[%s],"snapshots":[%s],"snapshot-log":[%s],"metadata-log":[%s],"refs":{%s},%s}`,
		n-1, list(`{"schema-id":%d,"fields":[]}`), list(`{"snapshot-id":%d,"sequence-number":1,"manifest-list":"m","summary":{"a":"b"},"odd":[1]}`), list(`{"snapshot-id":%d}`),
		list(`{"metadata-file":"%d"}`), list(`"b%[1]d":{"snapshot-id":%[1]d,"type":"branch","odd":{}}`), list(`"odd-%d":{"x":[]}`))
}

// Twice the metadata takes twice the memory to read, to change and to write. A commit may expire half of the snapshots.
func TestLinear(t *testing.T) {
	var took []uint64
	for _, n := range []int{2000, 4000} {
		text := many(n)
		gone := make([]int64, n/2)
		for i := range gone {
			gone[i] = int64(i)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := Read(text)
		if err != nil {
			t.Fatal(err)
		}
		if id := m.NextSchema(); m.Head() == nil || id != n {
			t.Errorf("schema %d is the next after %d", id, n)
		}
		next := m.With(&Change{Snapshot: &Snapshot{ID: 1 << 40}, Expired: gone}, time.Unix(1, 0))
		again, err := json.Marshal(next)
		runtime.ReadMemStats(&after)
		if want := n/2 + 1; err != nil || len(next.Snapshots) != want || len(next.SnapshotLog) != want || len(m.Snapshots) != n {
			t.Errorf("%d of %d snapshots, %d of the log, %v", len(next.Snapshots), n, len(next.SnapshotLog), err)
		}
		if got := strings.Count(string(again), `"odd`); got != n/2+2*n {
			t.Errorf("%d unknown fields of %d snapshots", got, n)
		}
		took = append(took, after.TotalAlloc-before.TotalAlloc)
	}
	if took[1] > took[0]*26/10 {
		t.Errorf("%d bytes, of twice the metadata %d", took[0], took[1])
	}
}
