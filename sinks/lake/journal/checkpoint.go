package journal

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// Every is how many entries after a checkpoint the next one follows.
const Every = 32

// mergeRatio is how many times larger than the new part the part before it may be, so that both become one.
const mergeRatio = 2

// Checkpoint tells the state at an entry: its parts in their order, each overruling the parts before. Its field names are
// durable.
type Checkpoint struct {
	Format    int       `json:"format"`
	Number    uint64    `json:"number"` // of its last entry
	Lake      string    `json:"lake"`
	Entry     MAC       `json:"entry"` // of that entry
	Made      time.Time `json:"made"`  // that entry was
	Profile   string    `json:"profile"`
	Forgotten uint64    `json:"forgotten,omitempty"`
	Parts     []Part    `json:"parts"`

	key uint32 // version of the master key that seals it; 0: plain
}

// Part is a file with the changes of a run of entries. Its field names are durable.
type Part struct {
	Path  string `json:"path"`
	From  uint64 `json:"from"` // number of its first entry
	To    uint64 `json:"to"`   // of its last entry
	Rows  int    `json:"rows"`
	Bytes int64  `json:"bytes"`
	Hash  string `json:"sha256"`
	Key   uint32 `json:"key,omitempty"` // version of the master key; 0: plain
}

// ReadCheckpoint reads a checkpoint: its parts are to be read by themselves. bucket.ErrNotFound: there is none of the
// number.
func (l *Log) ReadCheckpoint(ctx context.Context, number uint64) (*Checkpoint, error) {
	key := CheckpointKey(number)
	of, _, err := l.Bucket.Stat(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.Bucket.URL(key), err)
	}
	b, err := l.bytes(ctx, of)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.Bucket.URL(key), err)
	}
	c := new(Checkpoint)
	if _, c.key, err = read(ctx, l.Keys, checkpointKind, number, b, c); err != nil {
		return nil, l.broken(key, fmt.Errorf("checkpoint %d: %w", number, err))
	}
	if err := c.check(number); err != nil {
		return nil, l.broken(key, fmt.Errorf("checkpoint %d: %w", number, err))
	}
	return c, nil
}

func (c *Checkpoint) check(number uint64) error {
	next := uint64(1)
	for _, p := range c.Parts {
		if p.From != next || p.To < p.From || p.Rows < 0 || p.Bytes < 0 || p.Bytes > MaxBytes {
			return fmt.Errorf("part %s has entries %d to %d, after entry %d", p.Path, p.From, p.To, next-1)
		}
		next = p.To + 1
	}
	switch {
	case c.Format != Format:
		return fmt.Errorf("its form is %d, this program knows %d: use a newer symlake", c.Format, Format)
	case c.Number != number:
		return fmt.Errorf("it holds number %d: it was put there under a name that is not its own", c.Number)
	case next != number+1:
		return fmt.Errorf("its parts end at entry %d", next-1)
	case c.Profile != sinks.LakeSealed && c.Profile != sinks.LakePlain:
		return fmt.Errorf("its profile is %q", c.Profile)
	}
	return nil
}

// ReadPart reads the changes of a part.
func (l *Log) ReadPart(ctx context.Context, p Part) (*Changes, error) {
	of, err := l.partEntry(ctx, p)
	if err != nil {
		return nil, err
	}
	b, err := l.partBytes(ctx, p, of)
	if err != nil {
		return nil, err
	}
	c, err := decode(ctx, l.Keys, b)
	if err == nil && c.Rows() != p.Rows {
		err = fmt.Errorf("%d rows, not %d", c.Rows(), p.Rows)
	}
	if err != nil {
		return nil, l.broken(p.Path, fmt.Errorf("a part of a checkpoint: %w", err))
	}
	return c, nil
}

// partEntry finds the file of a part, and compares its size.
func (l *Log) partEntry(ctx context.Context, p Part) (bucket.Entry, error) {
	of, _, err := l.Bucket.Stat(ctx, p.Path)
	if err != nil {
		return of, fmt.Errorf("read %s: %w", l.Bucket.URL(p.Path), err)
	}
	if of.Size != p.Bytes {
		return of, l.broken(p.Path, fmt.Errorf("a part of a checkpoint has %d bytes, not %d", of.Size, p.Bytes))
	}
	return of, nil
}

// partBytes reads the file of a part, and compares its hash.
func (l *Log) partBytes(ctx context.Context, p Part, of bucket.Entry) ([]byte, error) {
	b, err := l.bytes(ctx, of)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", l.Bucket.URL(p.Path), err)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != p.Hash {
		return nil, l.broken(p.Path, errors.New("a part of a checkpoint was changed: its hash is another one"))
	}
	return b, nil
}

// checkpoint returns the state at a checkpoint; at 0, before the first entry.
func (l *Log) checkpoint(ctx context.Context, number uint64) (*State, error) {
	s := newState()
	if number == 0 {
		return s, nil
	}
	c, err := l.ReadCheckpoint(ctx, number)
	if err != nil {
		return nil, err
	}
	for _, p := range c.Parts {
		part, err := l.ReadPart(ctx, p)
		if err != nil {
			return nil, err
		}
		s.Merge(part)
		s.Sealed[p.Key]++
	}
	s.Sealed[c.key]++
	s.settle()
	s.Tail = Tail{Lake: c.Lake, Number: c.Number, MAC: c.Entry, Profile: c.Profile, Checkpoint: c.Number}
	s.Made, s.Forgotten = c.Made, c.Forgotten
	return s, nil
}

// Due reports whether a checkpoint is to be made at t.
func (t Tail) Due() bool {
	return t.Number > 0 && (t.Checkpoint == 0 || t.Number-t.Checkpoint >= Every)
}

// Checkpoint makes a checkpoint at t, and returns t with its number. recent are entries that the caller has read or written:
// those after the last checkpoint, in order, save it from reading them again. whole makes one part of all, sealed under the
// newest master key.
func (l *Log) Checkpoint(ctx context.Context, t Tail, recent []*Read, whole bool) (Tail, error) {
	for {
		last, err := l.newestCheckpoint(ctx, t.Number)
		if err != nil {
			return t, err
		}
		if last == t.Number {
			t.Checkpoint = last
			return t, nil
		}
		err = l.makeCheckpoint(ctx, t, last, recent, whole)
		switch {
		case err == nil, errors.Is(err, bucket.ErrChanged): // another writer made it
			t.Checkpoint = t.Number
			return t, nil
		case !errors.Is(err, bucket.ErrNotFound): // a compaction deleted what it reads
			return t, err
		}
		if now, lerr := l.newestCheckpoint(ctx, 0); lerr != nil || now <= last {
			return t, errors.Join(err, lerr)
		} else if now >= t.Number {
			t.Checkpoint = now
			return t, nil
		}
	}
}

func (l *Log) makeCheckpoint(ctx context.Context, t Tail, last uint64, recent []*Read, whole bool) error {
	c := &Checkpoint{Format: Format, Number: t.Number, Lake: t.Lake, Entry: t.MAC, Profile: t.Profile}
	from := Tail{Number: last}
	if last > 0 {
		before, err := l.ReadCheckpoint(ctx, last)
		if err != nil {
			return err
		}
		c.Parts, c.Forgotten = before.Parts, before.Forgotten
		from.Lake, from.MAC, from.Profile = before.Lake, before.Entry, before.Profile
	}
	for len(recent) > 0 && recent[0].Number <= last {
		recent = recent[1:]
	}
	if len(recent) == 0 || recent[0].Number != last+1 {
		var err error
		if recent, err = l.After(ctx, from); err != nil {
			return err
		}
	}
	changes := NewChanges()
	for _, e := range recent {
		if e.Number > t.Number {
			break
		}
		if err := l.follows(from, e); err != nil {
			return err
		}
		changes.Add(e.Entry)
		c.Made, c.Forgotten = e.Made, max(c.Forgotten, e.Forgotten)
		from = from.To(e)
	}
	if from.Number != t.Number || from.MAC != t.MAC {
		return l.broken(EntryKey(from.Number), fmt.Errorf("entry %d is not the one that was written", from.Number))
	}
	whole = whole || slices.ContainsFunc(c.Parts, func(p Part) bool { return (p.Key == 0) != (t.Profile == sinks.LakePlain) })
	p := Part{From: last + 1, To: t.Number}
	for n := len(c.Parts); n > 0 && (whole || c.Parts[n-1].Rows <= mergeRatio*changes.Rows()); n-- {
		older, err := l.ReadPart(ctx, c.Parts[n-1])
		if err != nil {
			return err
		}
		older.Merge(changes)
		changes, p.From, c.Parts = older, c.Parts[n-1].From, c.Parts[:n-1]
	}
	if len(c.Parts) == 0 {
		changes.settle()
	}
	if err := l.writePart(ctx, &p, t.Profile, changes); err != nil {
		return err
	}
	c.Parts = append(c.Parts, p)
	line, _, err := write(ctx, l.Keys, checkpointKind, c.Profile, c.Number, c)
	if err == nil {
		err = l.Create(ctx, CheckpointKey(c.Number), bytes.NewReader(line))
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, bucket.ErrChanged) {
		if derr := l.Bucket.Delete(ctx, []string{p.Path}); derr != nil {
			return derr
		}
	}
	return fmt.Errorf("write checkpoint %d of the lake: %w", c.Number, err)
}

// writePart writes changes as a part under a name of its own: two writers may make the same checkpoint at once.
func (l *Log) writePart(ctx context.Context, p *Part, profile string, changes *Changes) error {
	name := make([]byte, 16)
	rand.Read(name)
	p.Path = PartDir + hex.EncodeToString(name) + ".parquet"
	var key *pqfile.FileKey
	if profile == sinks.LakeSealed {
		var err error
		if key, err = pqfile.NewFileKey(ctx, l.Keys, false); err != nil {
			return err
		}
		p.Key = key.Version
	}
	var file bytes.Buffer
	if err := changes.encode(&file, key); err != nil {
		return fmt.Errorf("write %s: %w", l.Bucket.URL(p.Path), err)
	}
	sum := sha256.Sum256(file.Bytes())
	p.Rows, p.Bytes, p.Hash = changes.Rows(), int64(file.Len()), hex.EncodeToString(sum[:])
	return l.Create(ctx, p.Path, bytes.NewReader(file.Bytes()))
}
