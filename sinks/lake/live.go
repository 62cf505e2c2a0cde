package lake

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// writeLive writes the table live of a manifest, under a name of its own: two writers may make the same table of the same number at
// once, and the slower one deletes its file again.
func (l *Lake) writeLive(ctx context.Context, n *next) (*entry, error) {
	o, err := l.open(ctx, tableLive(), liveTable, n.Profile, fmt.Sprint(n.Number, rand.Text()), true)
	if err != nil {
		return nil, err
	}
	defer o.drop()
	ids := make([]symbol.ID, 0, len(n.live))
	for id := range n.live {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b symbol.ID) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range ids {
		r := n.live[id]
		o.load(id, r.load, r.revision[:])
		o.hash([]byte(r.file), []byte(r.facts), []byte(r.names))
		if err := o.put(id.String(), hex.EncodeToString(r.load[:]), hex.EncodeToString(r.revision[:]), r.file, r.facts, r.names); err != nil {
			return nil, err
		}
	}
	// An empty lake has an empty table, not none.
	if len(ids) == 0 {
		if err := o.enc.Write(o.g); err != nil {
			return nil, err
		}
		o.Rows = 1
	}
	if err := o.finish(ctx); err != nil {
		return nil, err
	}
	o.Rows = uint64(len(ids))
	return &o.entry, nil
}

// readLive reads the table live of a manifest.
func (l *Lake) readLive(ctx context.Context, m *manifest) (map[symbol.ID]liveRow, error) {
	e, _, err := l.b.Stat(ctx, m.Live.Path)
	if err != nil {
		return nil, err
	}
	r, err := l.b.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	live := make(map[symbol.ID]liveRow, m.Live.Rows)
	paths := map[string]string{}
	same := func(s string) string {
		if p, ok := paths[s]; ok {
			return p
		}
		paths[s] = s
		return s
	}
	err = pqfile.ReadTexts(ctx, l.o.Keys, r, e.Size, []int{0, 1, 2, 3, 4, 5}, func(row []string) error {
		id, err := symbol.ParseID(row[0])
		if err != nil {
			return err
		}
		r := liveRow{file: same(row[3]), facts: same(row[4]), names: same(row[5])}
		n, err1 := hex.Decode(r.load[:], []byte(row[1]))
		k, err2 := hex.Decode(r.revision[:], []byte(row[2]))
		if err1 != nil || err2 != nil || n != len(r.load) || k != len(r.revision) {
			return fmt.Errorf("artifact %s: load %q, revision %q", id, row[1], row[2])
		}
		live[id] = r
		return nil
	})
	if err == nil && uint64(len(live)) != m.Live.Rows {
		err = fmt.Errorf("%d rows, want %d", len(live), m.Live.Rows)
	}
	return live, err
}
