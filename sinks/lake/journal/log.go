package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
)

// Log reads and writes the log of one lake. Safe for concurrent use.
type Log struct {
	Bucket bucket.Bucket
	Keys   sinks.LakeKeys
	// Create writes an object, or returns bucket.ErrChanged if the key is taken.
	Create func(ctx context.Context, key string, r io.Reader) error
}

// Tail is the end of a log: the zero Tail has no entry.
type Tail struct {
	Lake       string // id of the lake
	Number     uint64 // of the last entry
	MAC        MAC    // of that entry
	Profile    string // of the lake
	Checkpoint uint64 // number of the newest checkpoint that is known; 0: none
}

// Read is an entry as the log holds it.
type Read struct {
	*Entry
	MAC   MAC
	Bytes int64
	Key   uint32 // version of the master key that seals it; 0: plain
}

// ErrBroken says that a log is not what its writers wrote: an entry or checkpoint is missing, changed or out of its
// place.
var ErrBroken = fmt.Errorf("%w: the log of the lake is broken", sinks.ErrCorrupt)

// broken returns the error of an object of the log. The store can make the lake again.
func (l *Log) broken(key string, err error) error {
	return fmt.Errorf("%w: %s: %w: restore it, or remove the lake and run symlake ingest, which makes it anew from the store", ErrBroken, l.Bucket.URL(key), err)
}

// passes is how often a reader begins again because a compaction deletes what it reads.
const passes = 10

// again calls read until it meets no object that a compaction deleted meanwhile.
func (l *Log) again(read func() error) error {
	for range passes {
		if err := read(); !errors.Is(err, bucket.ErrNotFound) {
			return err
		}
	}
	return fmt.Errorf("the log of %s vanishes as it is read", l.Bucket.URL(""))
}

// errEnough ends a listing.
var errEnough = errors.New("enough")

// newestCheckpoint returns the number of the newest checkpoint up to a number; 0: there is none.
func (l *Log) newestCheckpoint(ctx context.Context, upTo uint64) (number uint64, err error) {
	after := ""
	if upTo > 0 {
		after = CheckpointKey(upTo + 1)
	}
	err = l.Bucket.List(ctx, CheckpointDir, after, func(e bucket.Entry) error {
		n, ok := CheckpointNumber(e.Key)
		if !ok {
			return nil
		}
		number = n
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return 0, fmt.Errorf("list the checkpoints of the lake: %w", err)
	}
	return number, nil
}

// list returns the entries from a number on, without a gap. The first may be missing only where from is 0: then
// the list begins at 1, or is empty.
func (l *Log) list(ctx context.Context, from uint64) ([]bucket.Entry, error) {
	after := ""
	if from > 0 {
		after = EntryKey(from - 1)
	}
	next := max(from, 1)
	var all []bucket.Entry
	err := l.Bucket.List(ctx, EntryDir, after, func(e bucket.Entry) error {
		n, ok := EntryNumber(e.Key)
		switch {
		case !ok || n < next:
			return nil
		case n > next:
			return l.missing(next, n)
		}
		all = append(all, e)
		next++
		return nil
	})
	if errors.Is(err, ErrBroken) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("list the log of the lake: %w", err)
	}
	return all, nil
}

func (l *Log) missing(number, before uint64) error {
	return l.broken(EntryKey(number), fmt.Errorf("entry %d is missing, and entry %d is there", number, before))
}

// bytes reads an object whole. size bounds it.
func (l *Log) bytes(ctx context.Context, e bucket.Entry) ([]byte, error) {
	if e.Size > MaxBytes {
		return nil, l.broken(e.Key, fmt.Errorf("its %d bytes are above %d", e.Size, MaxBytes))
	}
	r, err := l.Bucket.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	b := make([]byte, e.Size)
	_, err = io.ReadFull(io.NewSectionReader(r, 0, e.Size), b)
	return b, errors.Join(err, r.Close())
}

// entry reads an entry that was listed.
func (l *Log) entry(ctx context.Context, of bucket.Entry) (*Read, error) {
	b, err := l.bytes(ctx, of)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.Bucket.URL(of.Key), err)
	}
	number, _ := EntryNumber(of.Key)
	e := new(Entry)
	m, key, err := read(ctx, l.Keys, entryKind, number, b, e)
	if err == nil {
		err = e.check(number)
	}
	if err != nil {
		return nil, l.broken(of.Key, fmt.Errorf("entry %d: %w", number, err))
	}
	return &Read{e, m, of.Size, key}, nil
}

// follows checks that an entry is the one after t.
func (l *Log) follows(t Tail, e *Read) error {
	switch {
	case t.Number > 0 && e.Lake != t.Lake:
		return l.broken(EntryKey(e.Number), fmt.Errorf("entry %d belongs to lake %s, not %s", e.Number, e.Lake, t.Lake))
	case e.Number != t.Number+1 || e.Before != t.MAC:
		return l.broken(EntryKey(e.Number), fmt.Errorf("entry %d does not follow entry %d: one of them was replaced by an older one", e.Number, t.Number))
	}
	return nil
}

// To returns the end of the log behind an entry after t.
func (t Tail) To(e *Read) Tail {
	t.Lake, t.Number, t.MAC, t.Profile = e.Lake, e.Number, e.MAC, e.Profile
	return t
}

// Tail returns the end of the log: three requests. It reads the last entry alone: State proves that it follows from
// the others.
func (l *Log) Tail(ctx context.Context) (t Tail, err error) {
	err = l.again(func() error {
		c, err := l.newestCheckpoint(ctx, 0)
		if err != nil {
			return err
		}
		all, err := l.list(ctx, c)
		if err != nil {
			return l.overtaken(ctx, c, err)
		}
		t = Tail{Checkpoint: c}
		if len(all) == 0 {
			if c > 0 {
				return l.overtaken(ctx, c, l.broken(EntryKey(c), fmt.Errorf("entry %d is missing, and a checkpoint of it is there", c)))
			}
			return nil
		}
		e, err := l.entry(ctx, all[len(all)-1])
		if err == nil {
			t = t.To(e)
		}
		return err
	})
	return t, err
}

// overtaken returns bucket.ErrNotFound in place of an error if there is a newer checkpoint than c by now: entries before
// it may be gone.
func (l *Log) overtaken(ctx context.Context, c uint64, err error) error {
	now, lerr := l.newestCheckpoint(ctx, 0)
	switch {
	case lerr != nil:
		return lerr
	case now != c:
		return bucket.ErrNotFound
	}
	return err
}

// After returns the entries after t, in order. Each follows from the one before. With t at the end of the log it costs
// one request.
func (l *Log) After(ctx context.Context, t Tail) ([]*Read, error) {
	all, err := l.list(ctx, t.Number+1)
	if err != nil {
		return nil, err
	}
	return l.entries(ctx, t, all)
}

// Entry returns an entry by its number. bucket.ErrNotFound: there is none, or it was deleted.
func (l *Log) Entry(ctx context.Context, number uint64) (*Read, error) {
	e, _, err := l.Bucket.Stat(ctx, EntryKey(number))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.Bucket.URL(EntryKey(number)), err)
	}
	return l.entry(ctx, e)
}

func (l *Log) entries(ctx context.Context, t Tail, all []bucket.Entry) (entries []*Read, err error) {
	for _, of := range all {
		e, err := l.entry(ctx, of)
		if err == nil {
			err = l.follows(t, e)
		}
		if err != nil {
			return nil, err
		}
		entries, t = append(entries, e), t.To(e)
	}
	return entries, nil
}

// State returns all that the log says at entry upTo, or at its end with upTo 0. A log without an entry has the zero
// State. Entries before a checkpoint may be deleted: then the state at such an entry is gone, and State
// returns bucket.ErrNotFound.
func (l *Log) State(ctx context.Context, upTo uint64) (s *State, err error) {
	err = l.again(func() (err error) {
		c, err := l.newestCheckpoint(ctx, upTo)
		if err != nil {
			return err
		}
		all, err := l.list(ctx, c)
		if err != nil {
			return l.overtaken(ctx, c, err)
		}
		if len(all) == 0 {
			s = newState()
			if c > 0 {
				return l.overtaken(ctx, c, l.broken(EntryKey(c), fmt.Errorf("entry %d is missing, and a checkpoint of it is there", c)))
			}
			return nil
		}
		if s, err = l.checkpoint(ctx, c); err != nil {
			return err
		}
		if c > 0 {
			e, err := l.entry(ctx, all[0])
			if err != nil {
				return err
			}
			if e.MAC != s.MAC || e.Lake != s.Lake {
				return l.broken(CheckpointKey(c), fmt.Errorf("it is a checkpoint of another entry %d", c))
			}
			s.Sealed[e.Key]++
			all = all[1:]
		}
		for i, of := range all {
			if n, _ := EntryNumber(of.Key); upTo > 0 && n > upTo {
				all = all[:i]
				break
			}
		}
		entries, err := l.entries(ctx, s.Tail, all)
		for _, e := range entries {
			s.Apply(e)
		}
		return err
	})
	if err == nil && upTo > 0 && s.Number != upTo {
		err = fmt.Errorf("entry %d of the lake: %w", upTo, bucket.ErrNotFound)
	}
	return s, err
}

// Append writes the entry after t, which it completes, and returns the new end. It returns bucket.ErrChanged if another
// writer was faster.
func (l *Log) Append(ctx context.Context, t Tail, e *Entry) (*Read, error) {
	e.Format, e.Number, e.Before = Format, t.Number+1, t.MAC
	if t.Number > 0 {
		e.Lake = t.Lake
	}
	key := EntryKey(e.Number)
	line, m, err := write(ctx, l.Keys, entryKind, e.Profile, e.Number, e)
	if err == nil {
		err = l.Create(ctx, key, bytes.NewReader(line))
	}
	if err != nil {
		return nil, fmt.Errorf("write entry %d of the lake: %w", e.Number, err)
	}
	r := &Read{Entry: e, MAC: m, Bytes: int64(len(line))}
	if e.Profile == sinks.LakeSealed {
		r.Key = l.Keys.Newest
	}
	return r, nil
}
