package catalog

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Lakes remembers of the lake beside the store what the lake cannot tell: the end of its log, and which processes may
// have changed records that it does not follow yet. It implements sinks.LakeHeads.
//
// Before a process changes what the lake is to say of an artifact for the first time, Artifacts.Swap notes a lag. So a
// store without a lag has a lake that follows all of its records, and a run need not compare them.
type Lakes struct {
	records
	lag *lag
}

// The values are refForms, as earlier versions expect of all obligations: they write such records anew after a rotation.
// The end of a log is "NUMBER MAC" in Object, the time of a lag in Object.

func lakeHeadKey(lake string) ([]byte, error) {
	id, err := hex.DecodeString(lake)
	if err != nil || len(id) == 0 {
		return nil, fmt.Errorf("lake %q: want hex digits", lake)
	}
	return append([]byte{row.RecordObligation, pendingHead}, id...), nil
}

// LakeHead implements sinks.LakeHeads.
func (l Lakes) LakeHead(ctx context.Context, lake string) (sinks.LakeHead, error) {
	h, _, err := l.head(ctx, lake)
	return h, err
}

func (l Lakes) head(ctx context.Context, lake string) (h sinks.LakeHead, raw []byte, err error) {
	h.Lake = lake
	key, err := lakeHeadKey(lake)
	if err != nil {
		return h, nil, err
	}
	if raw, err = l.store.Get(ctx, key); err == nil && raw != nil {
		var f refForm
		if err = l.open(ctx, sinks.Row{Key: key, Value: raw}, &f); err == nil {
			var ok bool
			var number string
			number, h.MAC, ok = strings.Cut(f.Object, " ")
			if h.Number, err = strconv.ParseUint(number, 10, 64); err != nil || !ok {
				err = fmt.Errorf("%w: %q", row.ErrUnauthentic, f.Object)
			}
		}
	}
	if err != nil {
		err = fmt.Errorf("read the end of the log of lake %s: %w", lake, err)
	}
	return h, raw, err
}

// AdvanceLakeHead implements sinks.LakeHeads.
func (l Lakes) AdvanceLakeHead(ctx context.Context, h sinks.LakeHead) error {
	key, err := lakeHeadKey(h.Lake)
	if err != nil {
		return err
	}
	for {
		was, raw, err := l.head(ctx, h.Lake)
		if err != nil || was.Number >= h.Number {
			return err
		}
		_, err = l.replace(ctx, key, raw, &refForm{Name: h.Lake, Object: fmt.Sprint(h.Number, " ", h.MAC)})
		if errors.Is(err, sinks.ErrConflict) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return fmt.Errorf("note the end of the log of lake %s: %w", h.Lake, err)
		}
		return nil
	}
}

// Lag says that a process may have changed records that the lake does not follow yet.
type Lag struct {
	Worker row.WorkerID // that changed them; the zero one: any process without a lease
	At     time.Time    // of the last note

	key, raw []byte
}

func lagKey(id row.WorkerID) []byte {
	return append([]byte{row.RecordObligation, pendingLake}, id[:]...)
}

// EachLag emits the lags.
func (l Lakes) EachLag(ctx context.Context, emit func(*Lag) error) error {
	err := l.store.List(ctx, sinks.Under([]byte{row.RecordObligation, pendingLake}), func(r sinks.Row) error {
		var f refForm
		x := &Lag{key: r.Key, raw: r.Value}
		if len(r.Key) != 2+len(x.Worker) {
			return fmt.Errorf("record %x: %w", r.Key, row.ErrUnauthentic)
		}
		copy(x.Worker[:], r.Key[2:])
		if err := l.open(ctx, r, &f); err != nil {
			return fmt.Errorf("record %x: %w", r.Key, err)
		}
		var err error
		if x.At, err = time.Parse(time.RFC3339Nano, f.Object); err != nil {
			return fmt.Errorf("record %x: %w: %w", r.Key, row.ErrUnauthentic, err)
		}
		return emit(x)
	})
	if err != nil {
		return fmt.Errorf("list what the lake has to follow: %w", err)
	}
	return nil
}

// EndLag removes a lag that the lake has followed, unless it was noted again since.
func (l Lakes) EndLag(ctx context.Context, x *Lag) error {
	return Obligations{l.records}.Discharge(ctx, &Obligation{key: x.key, raw: x.raw})
}

// Note notes a lag of this process, or notes it anew.
func (l Lakes) Note(ctx context.Context) error {
	l.lag.mu.Lock()
	defer l.lag.mu.Unlock()
	return l.lag.note(ctx, l.records)
}

// NoteOf notes a lag of a worker; of the zero one, of any process.
func (l Lakes) NoteOf(ctx context.Context, id row.WorkerID) error { return noteLag(ctx, l.records, id) }

// Lease makes a worker with a lease answer for the changes of this catalog: as long as it lives, it will have the lake
// follow them, or note that it does not. Until Settle, the artifacts that it changes are in Unnamed.
func (l Lakes) Lease(id row.WorkerID) {
	l.lag.mu.Lock()
	defer l.lag.mu.Unlock()
	l.lag.worker, l.lag.noted, l.lag.changed = id, time.Time{}, map[symbol.ID]uint64{}
}

// Changing returns a mark of the changes of an artifact so far, for Named.
func (l Lakes) Changing(id symbol.ID) uint64 {
	l.lag.mu.Lock()
	defer l.lag.mu.Unlock()
	return l.lag.changed[id]
}

// Named says that the lake follows the changes of an artifact up to a mark.
func (l Lakes) Named(id symbol.ID, mark uint64) {
	l.lag.mu.Lock()
	defer l.lag.mu.Unlock()
	if l.lag.changed[id] == mark {
		delete(l.lag.changed, id)
	}
}

// Unnamed returns the artifacts that this process has changed, and that the lake may not follow, ascending.
func (l Lakes) Unnamed() []symbol.ID {
	l.lag.mu.Lock()
	defer l.lag.mu.Unlock()
	return slices.SortedFunc(maps.Keys(l.lag.changed), func(a, b symbol.ID) int { return bytes.Compare(a[:], b[:]) })
}

// Settle removes the lag of this worker, which the lake follows now. Lease begins anew.
func (l Lakes) Settle(ctx context.Context) error {
	l.lag.mu.Lock()
	defer l.lag.mu.Unlock()
	if l.lag.worker == (row.WorkerID{}) || l.lag.noted.IsZero() {
		return nil
	}
	if err := l.remove(ctx, lagKey(l.lag.worker)); err != nil {
		return fmt.Errorf("note that the lake follows this worker: %w", err)
	}
	l.lag.noted = time.Time{}
	return nil
}

// lag is what a catalog remembers of its own changes.
type lag struct {
	mu      sync.Mutex
	worker  row.WorkerID // the zero one: the process has no lease
	noted   time.Time    // zero: not yet
	mark    uint64
	changed map[symbol.ID]uint64 // nil: not remembered
}

// lagEvery is how often a process without a lease notes its lag anew: others cannot tell whether it still changes records.
const lagEvery = time.Minute

// LagAge is the age from which nothing comes of a lag that a process without a lease noted.
const LagAge = time.Hour

// change notes a lag before the record of an artifact changes.
func (g *lag) change(ctx context.Context, r records, id symbol.ID) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.changed != nil {
		g.mark++
		g.changed[id] = g.mark
	}
	if !g.noted.IsZero() && (g.worker != (row.WorkerID{}) || time.Since(g.noted) < lagEvery) {
		return nil
	}
	return g.note(ctx, r)
}

func (g *lag) note(ctx context.Context, r records) error {
	if err := noteLag(ctx, r, g.worker); err != nil {
		return err
	}
	g.noted = time.Now()
	return nil
}

func noteLag(ctx context.Context, r records, id row.WorkerID) error {
	if _, err := (Obligations{r}).write(ctx, lagKey(id), &refForm{Object: time.Now().UTC().Format(time.RFC3339Nano)}); err != nil {
		return fmt.Errorf("note that the lake is behind: %w", err)
	}
	return nil
}

// shows reports whether two records of an artifact have the lake say different things. nil: there is no record.
func shows(old, new *Record) bool {
	var none Record
	if old == nil {
		old = &none
	}
	if new == nil {
		new = &none
	}
	a, b := old.Published, new.Published
	if a == nil || b == nil {
		return a != b
	}
	return a.Load != b.Load || old.State.Removed() != new.State.Removed() || !slices.Equal(old.Names, new.Names) ||
		a.Source.URL != b.Source.URL || a.Source.Member != b.Source.Member || a.Source.ETag != b.Source.ETag || a.Source.Size != b.Source.Size
}
