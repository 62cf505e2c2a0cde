package catalog

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Conflict is the "c" record: an object brought an artifact that another owner holds, with other
// content, and was kept out. Its field names are durable.
//
// The record is written before the ledger's entry says conflict, and removed before the entry says
// something else. A dismissed conflict goes the other way round: the ledger first.
type Conflict struct {
	Artifact symbol.ID `json:"-"`
	Load     string    `json:"load"`              // the published load, in hex, when the conflict was found
	Kept     Origin    `json:"kept"`              // what stays published
	KeptOut  Origin    `json:"kept_out"`          // what does not replace it
	At       time.Time `json:"at"`                // found first
	Accepted time.Time `json:"accepted,omitzero"` // a person decided for KeptOut; zero: not decided

	stored
}

// Origin is one side of a conflict: where a load comes from, and what it holds.
type Origin struct {
	row.Source
	Format   string `json:"format"`
	Ranges   uint64 `json:"ranges"` // or classes
	WithLine uint64 `json:"with_line"`
	Digest   string `json:"digest"` // hex of row.Loaded.Digest
}

// NewOrigin describes a load.
func NewOrigin(l *row.Loaded) Origin {
	return Origin{Source: l.Source, Format: l.Format, Ranges: l.Ranges, WithLine: l.Quality.WithLine, Digest: hex.EncodeToString(l.Digest[:])}
}

// NewConflict returns the conflict of l, which may not replace p.
func NewConflict(id symbol.ID, p, l *row.Loaded, now time.Time) *Conflict {
	c := &Conflict{Artifact: id, Load: hex.EncodeToString(p.Load[:]), Kept: NewOrigin(p), KeptOut: NewOrigin(l), At: now}
	c.Kept.Standing = p.Claimed()
	return c
}

// Tells reports whether c says the same as o, times aside.
func (c *Conflict) Tells(o *Conflict) bool {
	return o != nil && c.Load == o.Load && c.Kept == o.Kept && c.KeptOut == o.KeptOut
}

// String is the conflict in one sentence.
func (c *Conflict) String() string {
	side := func(o Origin) string {
		where := o.URL
		if o.Member != "" {
			where += "!" + o.Member
		}
		return fmt.Sprintf("%s (owner %q, rank %d, %d ranges, %d bytes with a line)", where, o.Owner, o.Rank, o.Ranges, o.WithLine)
	}
	return fmt.Sprintf("artifact %s stays published from %s; kept out: %s", c.Artifact, side(c.Kept), side(c.KeptOut))
}

// conflictForm holds in full what the key of a record holds as tags.
type conflictForm struct {
	Artifact string `json:"artifact"`
	*conflictAlias
}

// conflictAlias drops the methods, so that the ID can stand beside the fields.
type conflictAlias Conflict

// Conflicts are the "c" records. The conflicts of one object lie together.
type Conflicts struct{ records }

// key is 'c' ‖ tag(URL) ‖ artifact ‖ tag(member).
func (c Conflicts) key(id symbol.ID, url, member string) []byte {
	key := append(c.prefix(url), id[:]...)
	return append(key, c.ring.Tag(row.RecordConflict, "member\x00"+member)...)
}

// prefix begins the keys of an object's conflicts.
func (c Conflicts) prefix(url string) []byte {
	return append([]byte{row.RecordConflict}, c.ring.Tag(row.RecordConflict, url)...)
}

// Get returns the conflict of an object's member about an artifact, or nil, nil.
func (c Conflicts) Get(ctx context.Context, id symbol.ID, url, member string) (*Conflict, error) {
	return get(ctx, c.records, "conflict about artifact", id, c.key(id, url, member), c.read)
}

// Each emits the conflicts of one object, or of all objects where url is "". The order means nothing.
func (c Conflicts) Each(ctx context.Context, url string, emit func(*Conflict) error) error {
	prefix := []byte{row.RecordConflict}
	if url != "" {
		prefix = c.prefix(url)
	}
	return each(ctx, c.records, sinks.Under(prefix), c.read, emit)
}

func (c Conflicts) read(ctx context.Context, r sinks.Row) (*Conflict, error) {
	x := &Conflict{}
	x.raw = r.Value
	f := conflictForm{conflictAlias: (*conflictAlias)(x)}
	err := c.open(ctx, r, &f)
	if err == nil {
		if x.Artifact, err = symbol.ParseID(f.Artifact); err != nil {
			err = fmt.Errorf("%w: %w", row.ErrUnauthentic, err)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("conflict %x: %w", r.Key, err)
	}
	return x, nil
}

// Swap replaces old by new in one step, as [Artifacts.Swap] does.
func (c Conflicts) Swap(ctx context.Context, old, new *Conflict) error {
	of := cmp.Or(old, new)
	if of == nil {
		return nil
	}
	key := func(x *Conflict) []byte { return c.key(x.Artifact, x.KeptOut.URL, x.KeptOut.Member) }
	form := conflictForm{of.Artifact.String(), (*conflictAlias)(new)}
	if err := swap(ctx, c.records, old, new, key, form); err != nil {
		return fmt.Errorf("swap conflict about artifact %s: %w", of.Artifact, err)
	}
	return nil
}
