package lake

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/lake/journal"
)

// maxRecent bounds the entries that are held for the next checkpoint.
const maxRecent = 4 * journal.Every

// newLakeID makes the id of a log.
func newLakeID() string {
	b := make([]byte, 16)
	rand.Read(b)
	return hex.EncodeToString(b)
}

// refresh finds the end of the log, and brings the state up to it, if this process has one. mu is held.
func (l *Lake) refresh(ctx context.Context) error {
	if l.tail.Number > 0 {
		entries, err := l.log.After(ctx, l.tail)
		if err == nil {
			for _, e := range entries {
				l.follow(e)
			}
			return nil
		}
		if !errors.Is(err, journal.ErrBroken) && !errors.Is(err, bucket.ErrNotFound) {
			return err
		}
		// A compaction may have deleted entries that this process has not met: begin again at a checkpoint.
		l.forget()
	}
	t, err := l.log.Tail(ctx)
	if err == nil && t.Number > 0 {
		err = l.checkHead(ctx, &t)
	}
	if err != nil {
		return err
	}
	if l.tail = t; t.Number > 0 {
		l.old = nil
		return nil
	}
	if l.old, err = readLegacy(ctx, l.b); err != nil || l.old.lake == "" {
		return err
	}
	// The store may have seen entries: the log was rolled back, or another process has begun it meanwhile.
	t.Lake = l.old.lake
	if err := l.checkHead(ctx, &t); err != nil {
		return err
	}
	if t.Number > 0 {
		l.tail, l.old = t, nil
	}
	return nil
}

// forget drops all that this process knows of the log.
func (l *Lake) forget() { l.tail, l.state, l.recent, l.old = journal.Tail{}, nil, nil, nil }

// follow adds an entry after the end. mu is held.
func (l *Lake) follow(e *journal.Read) {
	l.tail = l.tail.To(e)
	if l.state != nil {
		l.state.Apply(e)
	}
	if l.recent = append(l.recent, e); len(l.recent) > maxRecent {
		l.recent = append([]*journal.Read(nil), l.recent[len(l.recent)-journal.Every:]...)
	}
}

// checkHead compares the end of the log with the end that the store remembers.
func (l *Lake) checkHead(ctx context.Context, t *journal.Tail) error {
	if l.o.Heads == nil {
		return nil
	}
	for again := false; ; again = true {
		h, err := l.o.Heads.LakeHead(ctx, t.Lake)
		switch {
		case err != nil:
			return err
		case h.Number == 0 || h.Number == t.Number && h.MAC == t.MAC.String():
			return nil
		case h.Number == t.Number:
			return l.rolledBack(h, t.Number)
		case h.Number < t.Number:
			return l.contains(ctx, h)
		case again:
			return l.rolledBack(h, t.Number)
		}
		// Another process may have gone on meanwhile.
		now, err := l.log.Tail(ctx)
		if err != nil {
			return err
		}
		if now.Lake != t.Lake {
			return l.rolledBack(h, t.Number)
		}
		*t = now
	}
}

// Noted implements sinks.Lake.
func (l *Lake) Noted(ctx context.Context) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(ctx); err != nil || l.tail.Number == 0 || l.o.Heads == nil {
		return false, err
	}
	h, err := l.o.Heads.LakeHead(ctx, l.tail.Lake)
	return h.Number == l.tail.Number, err
}

// Note implements sinks.Lake.
func (l *Lake) Note(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(ctx); err != nil || l.tail.Number == 0 || l.o.Heads == nil {
		return err
	}
	return l.advance(ctx)
}

// advance has the store note the end of the log.
func (l *Lake) advance(ctx context.Context) error {
	err := l.o.Heads.AdvanceLakeHead(ctx, sinks.LakeHead{Lake: l.tail.Lake, Number: l.tail.Number, MAC: l.tail.MAC.String()})
	if err != nil {
		return fmt.Errorf("note the end of the lake's log in the store: %w", err)
	}
	return nil
}

// contains checks that the log still has an entry as the store remembers it. Old entries may be deleted.
func (l *Lake) contains(ctx context.Context, h sinks.LakeHead) error {
	e, err := l.log.Entry(ctx, h.Number)
	if errors.Is(err, bucket.ErrNotFound) {
		return nil
	}
	if err == nil && e.MAC.String() != h.MAC {
		err = l.rolledBack(h, h.Number)
	}
	return err
}

func (l *Lake) rolledBack(h sinks.LakeHead, end uint64) error {
	what := fmt.Sprintf("its log ends at entry %d, and the store has seen entry %d", end, h.Number)
	if end == h.Number {
		what = fmt.Sprintf("entry %d of its log is not the one that the store has seen", end)
	}
	return fmt.Errorf("%w: lake %s was rolled back: %s: restore it, or remove the lake and run symlake ingest, which makes it anew from the store", journal.ErrBroken, l.b.URL(""), what)
}

// full brings the state up to the end of the log. mu is held. The state is the caller's as long as mu is.
func (l *Lake) full(ctx context.Context) (*journal.State, error) {
	if err := l.refresh(ctx); err != nil {
		return nil, err
	}
	if l.state != nil {
		return l.state, nil
	}
	if l.tail.Number == 0 {
		return l.old.state(ctx, l.b, l.o.Keys)
	}
	s, err := l.log.State(ctx, 0)
	if err != nil {
		return nil, err
	}
	if err := l.checkHead(ctx, &s.Tail); err != nil {
		return nil, err
	}
	if s.Number != l.tail.Number {
		l.recent = nil
	}
	l.state, l.tail = s, s.Tail
	return s, nil
}

// view calls look with the newest state, which is look's own until it returns. look must not change it or call the lake.
func (l *Lake) view(ctx context.Context, look func(*journal.State) error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.full(ctx)
	if err != nil {
		return err
	}
	return look(s)
}

// State returns the state of the lake at an entry of its log; at 0, the newest. It is the caller's own. A lake without
// entries has the zero State, but for the files of an earlier version. bucket.ErrNotFound: the state at that entry is
// gone.
func (l *Lake) State(ctx context.Context, number uint64) (*journal.State, error) {
	if number > 0 {
		return l.log.State(ctx, number)
	}
	var s *journal.State
	err := l.view(ctx, func(now *journal.State) error {
		s = now.Clone()
		return nil
	})
	return s, err
}

// Entries returns the entries of the log after a state, in order: each adds to the state by Apply.
func (l *Lake) Entries(ctx context.Context, after journal.Tail) ([]*journal.Read, error) {
	return l.log.After(ctx, after)
}

// profile is the profile of the lake that there is; "": there is none yet. mu is held.
func (l *Lake) profile() string {
	switch {
	case l.tail.Number > 0:
		return l.tail.Profile
	case l.old != nil && l.old.files != nil:
		return l.old.files.Profile
	}
	return ""
}

// seen is what an edit knows of the lake: all of it, or what came since the batch began.
type seen struct {
	*journal.Changes
	state *journal.State // nil: it is not needed
}

// maxRebases bounds how often another writer may be faster.
const maxRebases = 1000

// change appends the entry that edit makes of the newest state; nil ends it without one. While other writers are faster it
// calls edit again. With since not nil, edit sees only what came after it.
func (l *Lake) change(ctx context.Context, profile string, since *journal.Tail, edit func(seen) (*journal.Entry, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range maxRebases {
		v, err := l.look(ctx, since)
		if err != nil {
			return err
		}
		e, err := edit(v)
		if err != nil || e == nil {
			return err
		}
		err = l.commit(ctx, profile, e)
		if errors.Is(err, bucket.ErrChanged) {
			continue
		}
		if err != nil {
			return err
		}
		if len(e.Live) > endMost {
			return l.shorten(ctx)
		}
		if l.tail.Due() {
			err = l.checkpoint(ctx, false)
		}
		return err
	}
	return fmt.Errorf("publish an entry of the lake: %w: others were faster %d times", sinks.ErrConflict, maxRebases)
}

// endMost is how many artifacts the last entry of the log may name. Each reader begins with that entry.
const endMost = 8192

// shorten puts an entry that names nothing behind the last one, and a checkpoint behind both: readers skip the last one then.
func (l *Lake) shorten(ctx context.Context) error {
	err := l.appendEmpty(ctx)
	if errors.Is(err, bucket.ErrChanged) {
		return nil // another writer did
	}
	if err != nil {
		return err
	}
	return l.checkpoint(ctx, false)
}

// look returns what an edit sees.
func (l *Lake) look(ctx context.Context, since *journal.Tail) (seen, error) {
	if since == nil || since.Number == 0 {
		s, err := l.full(ctx)
		if err != nil {
			return seen{}, err
		}
		return seen{&s.Changes, s}, nil
	}
	if err := l.refresh(ctx); err != nil {
		return seen{}, err
	}
	v := seen{Changes: journal.NewChanges()}
	entries := l.recent
	for len(entries) > 0 && entries[0].Number <= since.Number {
		entries = entries[1:]
	}
	if l.tail.Number > since.Number && (len(entries) == 0 || entries[0].Number != since.Number+1) {
		var err error
		if entries, err = l.log.After(ctx, *since); err != nil {
			return seen{}, err
		}
	}
	for _, e := range entries {
		v.Add(e.Entry)
	}
	return v, nil
}

// commit appends an entry. The first change of a lake begins its log. mu is held.
func (l *Lake) commit(ctx context.Context, profile string, e *journal.Entry) error {
	e.Run = l.o.Run
	if l.tail.Number == 0 {
		old, moved, err := l.move(ctx, profile)
		switch {
		case err != nil:
			return err
		case moved:
			return bucket.ErrChanged // the entry was made of a state that knew no places of rows
		}
		e.Lake = old.lake
	}
	return l.append(ctx, e)
}

// move begins the log. moved says that the lake had files, and that the log's first entry names them.
func (l *Lake) move(ctx context.Context, profile string) (old *legacy, moved bool, err error) {
	if old, err = l.begin(ctx, profile); err != nil || old.files == nil {
		return old, false, err
	}
	first, err := l.moved(ctx, old)
	if err == nil {
		err = l.append(ctx, first)
	}
	return old, true, err
}

// takeOver moves a lake of an earlier version into a log.
func (l *Lake) takeOver(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(ctx); err != nil || l.tail.Number > 0 {
		return err
	}
	if _, _, err := l.move(ctx, l.profile()); err != nil && !errors.Is(err, bucket.ErrChanged) {
		return err
	}
	return l.refresh(ctx)
}

// begin puts the manifest that makes way for a log. It returns the id of the log, which another writer may have chosen.
func (l *Lake) begin(ctx context.Context, profile string) (*legacy, error) {
	for range maxRebases {
		old, err := readLegacy(ctx, l.b)
		if err != nil || old.lake != "" {
			return old, err
		}
		m := manifest{Format: manifestOfLog, Number: old.newest + 1, Made: l.o.Now().UTC(), Profile: profile, Files: []journal.File{}, Lake: newLakeID(),
			Note: "this lake has a log in " + journal.EntryDir + ": use a newer symlake"}
		if old.files != nil {
			m.From, m.Profile = old.files.Number, old.files.Profile
		}
		text, err := json.Marshal(&m)
		if err != nil {
			return nil, err
		}
		err = l.create(ctx, manifestKey(m.Number), bytes.NewReader(append(text, '\n')))
		if err != nil && !errors.Is(err, bucket.ErrChanged) {
			return nil, fmt.Errorf("begin the log of the lake: %w", err)
		}
	}
	return nil, fmt.Errorf("begin the log of the lake: %w: others were faster %d times", sinks.ErrConflict, maxRebases)
}

// moved returns the first entry of the log of a lake that had none: all that its manifest says, with the places of rows
// that its files tell.
func (l *Lake) moved(ctx context.Context, old *legacy) (*journal.Entry, error) {
	s, err := old.state(ctx, l.b, l.o.Keys)
	if err != nil {
		return nil, err
	}
	e := &journal.Entry{Lake: old.lake, Made: l.o.Now().UTC(), Profile: s.Profile, Run: l.o.Run}
	spans := map[string]map[loadKey]rowsOf{}
	for _, f := range s.Counting() {
		e.Files = append(e.Files, f.File)
		if spans[f.Path], err = l.count(ctx, f.File); err != nil {
			return nil, fmt.Errorf("read which loads %s holds: %w", l.b.URL(f.Path), err)
		}
	}
	for _, f := range s.Retiring() {
		e.Retired = append(e.Retired, f.Path)
	}
	for id, n := range s.Live {
		key := loadKey{id, n.Load}
		for _, span := range []*journal.Span{&n.Rows, &n.Facts, &n.Names} {
			if span.File != "" {
				at := spans[span.File][key]
				span.First, span.Rows = at.first, at.rows
			}
		}
		e.Live = append(e.Live, journal.Named{Artifact: id, Live: n.Live})
	}
	return e, nil
}

// append writes an entry, and has the store note the end of the log.
func (l *Lake) append(ctx context.Context, e *journal.Entry) error {
	r, err := l.log.Append(ctx, l.tail, e)
	if err != nil {
		return err
	}
	l.follow(r)
	l.old = nil
	if l.o.Heads == nil {
		return nil
	}
	return l.advance(ctx)
}

// appendEmpty appends an entry that changes nothing.
func (l *Lake) appendEmpty(ctx context.Context) error {
	return l.append(ctx, &journal.Entry{Made: l.o.Now().UTC(), Profile: l.tail.Profile, Run: l.o.Run})
}

// checkpoint makes a checkpoint at the end of the log. mu is held.
func (l *Lake) checkpoint(ctx context.Context, whole bool) error {
	t, err := l.log.Checkpoint(ctx, l.tail, l.recent, whole)
	if err != nil {
		return err
	}
	l.tail = t
	if l.state != nil {
		l.state.Tail = t
	}
	return nil
}

// Live implements sinks.Lake.
func (l *Lake) Live(ctx context.Context) (marks map[symbol.ID]sinks.LakeMark, err error) {
	err = l.view(ctx, func(s *journal.State) error {
		marks = make(map[symbol.ID]sinks.LakeMark, len(s.Live))
		for id, n := range s.Live {
			marks[id] = sinks.LakeMark{Load: n.Load, Revision: n.Revision}
		}
		return nil
	})
	return marks, err
}

// Drop implements sinks.Lake.
func (l *Lake) Drop(ctx context.Context, ids []symbol.ID) error {
	return l.change(ctx, l.o.Profile, nil, func(v seen) (*journal.Entry, error) {
		e := &journal.Entry{Made: l.o.Now().UTC(), Profile: v.state.Profile}
		for _, id := range ids {
			if _, ok := v.Live[id]; ok {
				e.Gone = append(e.Gone, journal.ID(id))
			}
		}
		if len(e.Gone) == 0 {
			return nil, nil
		}
		return e, nil
	})
}
