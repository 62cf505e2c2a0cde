package catalog

import (
	"context"
	"encoding/hex"
	"encoding/json"
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
	Accepted time.Time `json:"accepted,omitzero"` // a person decided for KeptOut; zero: nobody decided

	raw []byte // as read: what SwapConflict compares with
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

// NewConflict is that of l, which may not replace p.
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

// conflictKey is 'c' ‖ tag(URL) ‖ artifact ‖ tag(member): the conflicts of one object lie together.
func (c *Catalog) conflictKey(id symbol.ID, url, member string) []byte {
	key := append(c.conflictsOf(url), id[:]...)
	return append(key, c.k.Tag(row.RecordConflict, "member\x00"+member)...)
}

// conflictsOf begins the keys of an object's conflicts.
func (c *Catalog) conflictsOf(url string) []byte {
	return append([]byte{row.RecordConflict}, c.k.Tag(row.RecordConflict, url)...)
}

// Conflict returns the conflict of an object's member about an artifact, or nil, nil.
func (c *Catalog) Conflict(ctx context.Context, id symbol.ID, url, member string) (*Conflict, error) {
	key := c.conflictKey(id, url, member)
	value, err := c.c.Get(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("read conflict about artifact %s: %w", id, err)
	}
	if value == nil {
		return nil, nil
	}
	return c.conflict(ctx, sinks.Row{Key: key, Value: value})
}

// Conflicts emits the conflicts of one object, or of all objects where url is "", in no order that
// means anything.
func (c *Catalog) Conflicts(ctx context.Context, url string, emit func(*Conflict) error) error {
	prefix := []byte{row.RecordConflict}
	if url != "" {
		prefix = c.conflictsOf(url)
	}
	return c.c.List(ctx, sinks.Under(prefix), func(r sinks.Row) error {
		x, err := c.conflict(ctx, r)
		if err != nil {
			return err
		}
		return emit(x)
	})
}

func (c *Catalog) conflict(ctx context.Context, r sinks.Row) (*Conflict, error) {
	plain, err := c.k.OpenRecord(ctx, r.Key, r.Value)
	if err != nil {
		return nil, fmt.Errorf("conflict %x: %w", r.Key, err)
	}
	x := &Conflict{raw: r.Value}
	f := conflictForm{conflictAlias: (*conflictAlias)(x)}
	if err = json.Unmarshal(plain, &f); err == nil {
		x.Artifact, err = symbol.ParseID(f.Artifact)
	}
	if err != nil {
		return nil, fmt.Errorf("conflict %x: %w: %w", r.Key, row.ErrUnauthentic, err)
	}
	return x, nil
}

// SwapConflict replaces old by new in one step; as SwapArtifact.
func (c *Catalog) SwapConflict(ctx context.Context, old, new *Conflict) error {
	var was, value []byte
	of := new
	if old != nil {
		of, was = old, old.raw
	}
	if of == nil {
		return nil
	}
	key := c.conflictKey(of.Artifact, of.KeptOut.URL, of.KeptOut.Member)
	if new != nil {
		plain, err := json.Marshal(conflictForm{new.Artifact.String(), (*conflictAlias)(new)})
		if err != nil {
			return fmt.Errorf("conflict about artifact %s: %w", of.Artifact, err)
		}
		value = c.k.SealRecord(key, plain)
	}
	if err := c.c.Swap(ctx, key, was, value); err != nil {
		return fmt.Errorf("swap conflict about artifact %s: %w", of.Artifact, err)
	}
	if new != nil {
		new.raw = value
	}
	return nil
}
