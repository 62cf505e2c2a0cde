package iceberg

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/symlake/symlake/sinks/bucket"
)

// shownKey is the note of where the tables stand.
const shownKey = tablesFolder + ownPrefix + "shown.json"

// maxShown bounds the bytes of the note.
const maxShown = 1 << 20

// fact says that a snapshot of a table shows what the lake held at an entry of its log. It stays true when others follow.
type fact struct {
	Snapshot int64  `json:"snapshot"` // 0: the table had none, and the lake no row of it
	Log      uint64 `json:"log"`
	Mark     string `json:"mark"`
}

// shown is the note of where the tables stand. It tells a publisher which entries of the log are new to a table, also to one
// that did not change with the last ones. A publisher without it compares all files. Its field names are durable.
type shown struct {
	Format int             `json:"format"`
	Lake   string          `json:"lake"`
	Tables map[string]fact `json:"tables"`

	etag string // of the object; "": there is none
}

// shownFormat is the version of the note's form. Durable.
const shownFormat = 1

// of reports whether the fact tells of a snapshot, and of no later entry than st.
func (f fact) of(s *snapshot, st *State) bool {
	if s == nil {
		return f.Snapshot == 0 && f.Log > 0 && f.Log <= st.Log
	}
	return f.Snapshot == s.ID && f.Log <= st.Log && s.Summary[lakeSummary] == st.Lake
}

// shown reads the note on a lake. It is empty if there is none, or if this program cannot use it.
func (t *Tables) shown(ctx context.Context, lake string) (*shown, error) {
	empty := &shown{Format: shownFormat, Lake: lake, Tables: map[string]fact{}}
	e, _, err := t.o.Bucket.Stat(ctx, shownKey)
	if errors.Is(err, bucket.ErrNotFound) {
		return empty, nil
	}
	var text []byte
	if err == nil {
		text, err = readEntry(ctx, t.o.Bucket, e, maxShown)
	}
	switch {
	case errors.Is(err, bucket.ErrChanged), errors.Is(err, bucket.ErrNotFound):
		return empty, nil
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", t.location(shownKey), err)
	}
	empty.etag = e.ETag
	var n shown
	if json.Unmarshal(text, &n) != nil || n.Format != shownFormat || n.Lake != lake || n.Tables == nil {
		return empty, nil
	}
	n.etag = e.ETag
	return &n, nil
}

// note writes what became known of tables, if it is new. Another publisher that was faster knows as much.
func (t *Tables) note(ctx context.Context, was *shown, facts map[string]fact) error {
	n := *was
	n.Tables = maps.Clone(was.Tables)
	maps.Copy(n.Tables, facts)
	if maps.Equal(n.Tables, was.Tables) {
		return nil
	}
	text, err := json.Marshal(&n)
	if err != nil {
		return err
	}
	err = t.o.Bucket.Create(ctx, shownKey, was.etag, bytes.NewReader(text))
	if err != nil && !errors.Is(err, bucket.ErrChanged) {
		return fmt.Errorf("write %s: %w", t.location(shownKey), err)
	}
	return nil
}
