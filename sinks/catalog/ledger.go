package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// ObjectState is where an object of the ledger stands. Durable.
type ObjectState string

// The states of an object.
const (
	ObjectPending ObjectState = "pending" // listed, not opened yet
	ObjectLoading ObjectState = "loading" // an attempt was noted before it was opened
	ObjectLoaded  ObjectState = "loaded"  // all its artifacts are published, in the lake too
	// all its artifacts are published, and the lake does not name them yet
	ObjectPublished ObjectState = "published"
	ObjectKept      ObjectState = "kept"     // the published load is better
	ObjectConflict  ObjectState = "conflict" // the published load belongs to another owner
	ObjectSkipped   ObjectState = "skipped"  // no format knows it
	ObjectRejected  ObjectState = "rejected" // quarantined
	ObjectFailed    ObjectState = "failed"   // the environment failed; tried again
	ObjectGone      ObjectState = "gone"     // no longer listed
)

// Object is the ledger's entry of one object: the "o" record. Its field names
// are durable.
type Object struct {
	URL      string      `json:"-"` // the record's key, in clear
	ETag     string      `json:"etag,omitempty"`
	Size     int64       `json:"size"`
	Modified time.Time   `json:"modified,omitzero"`
	State    ObjectState `json:"state"`
	Reason   string      `json:"reason,omitempty"`
	Attempts int         `json:"attempts,omitempty"` // that failed, one after the other, on these bytes
	// Interrupted counts the processes that died, or lost their lease, while it was open, one after the other.
	Interrupted int          `json:"interrupted,omitempty"`
	Owner       row.WorkerID `json:"owner,omitzero"` // the worker that has it open: loading and published only
	// Again says of an object at work that it had ended before: By counts how, from Artifacts.
	Again     bool             `json:"again,omitempty"`
	First     time.Time        `json:"first,omitzero"` // seen first, tried last
	Last      time.Time        `json:"last,omitzero"`
	Seconds   float64          `json:"seconds,omitempty"` // of the last attempt
	Run       string           `json:"run,omitempty"`
	By        row.WorkerID     `json:"by,omitzero"`       // the account that tells the state
	Standing  row.Standing     `json:"standing,omitzero"` // of the source that it was taken from last
	App       string           `json:"app,omitempty"`     // APP@BUILD that its artifacts were named after
	Artifacts []ObjectArtifact `json:"artifacts,omitempty"`
	Parsers   map[string]int   `json:"parsers,omitempty"` // versions of the formats that looked at it

	stored
	rest []byte // its plain text, where that was not read whole
}

// ObjectArtifact is what became of one artifact of an object.
type ObjectArtifact struct {
	ID      symbol.ID `json:"-"`
	Member  string    `json:"member,omitempty"`
	Outcome string    `json:"outcome"` // loaded, kept, skipped, rejected, held, conflict
	Error   string    `json:"error,omitempty"`
}

// artifactAlias drops the methods, so that the ID can stand beside the fields.
type artifactAlias ObjectArtifact

type objectArtifactForm struct {
	ID string `json:"id,omitempty"`
	*artifactAlias
}

// MarshalJSON writes the ID as text.
func (a ObjectArtifact) MarshalJSON() ([]byte, error) {
	return json.Marshal(objectArtifactForm{idText(a.ID), (*artifactAlias)(&a)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *ObjectArtifact) UnmarshalJSON(b []byte) (err error) {
	f := objectArtifactForm{artifactAlias: (*artifactAlias)(a)}
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	if f.ID != "" {
		a.ID, err = symbol.ParseID(f.ID)
	}
	return err
}

// Ledger are the "o" records, in byte order of their URLs: the order of a bucket's listing.
type Ledger struct{ records }

func objectKey(url string) []byte { return append([]byte{row.RecordObject}, url...) }

// Get returns the entry of a URL, or nil, nil.
func (l Ledger) Get(ctx context.Context, url string) (*Object, error) {
	return get(ctx, l.records, "ledger of", url, objectKey(url), l.read)
}

// Each emits the entries of URLs that begin with prefix.
func (l Ledger) Each(ctx context.Context, prefix string, emit func(*Object) error) error {
	return each(ctx, l.records, sinks.Under(objectKey(prefix)), l.read, emit)
}

// From emits all entries, beginning with a URL.
func (l Ledger) From(ctx context.Context, url string, emit func(*Object) error) error {
	s := sinks.Under([]byte{row.RecordObject})
	s.From = objectKey(url)
	return each(ctx, l.records, s, l.read, emit)
}

// Between emits the entries of URLs that begin with prefix, come after after, and not after until (""
// sets no bound). It reads the fields that a listing is compared with: URL, ETag, State, Reason,
// Owner and Parsers, a map that entries share. [Object.Whole] reads the rest of an entry.
func (l Ledger) Between(ctx context.Context, prefix, after, until string, emit func(*Object) error) error {
	s := sinks.Under(objectKey(prefix))
	if after != "" {
		s.From = append(objectKey(after), 0)
	}
	if until != "" {
		s.Stop = append(objectKey(until), 0)
	}

	var parsers map[string]int // of the entry before: mostly the same
	var text json.RawMessage
	return l.store.List(ctx, s, func(r sinks.Row) error {
		plain, err := l.plain(ctx, r)
		if err != nil {
			return err
		}

		var head struct {
			ETag    string          `json:"etag"`
			State   ObjectState     `json:"state"`
			Reason  string          `json:"reason"`
			Owner   row.WorkerID    `json:"owner"`
			Parsers json.RawMessage `json:"parsers"`
		}
		err = json.Unmarshal(plain, &head)
		if err == nil && !bytes.Equal(head.Parsers, text) {
			parsers, text = nil, head.Parsers
			if text != nil {
				err = json.Unmarshal(text, &parsers)
			}
		}
		o := &Object{URL: string(r.Key[1:]), ETag: head.ETag, State: head.State, Reason: head.Reason, Owner: head.Owner, Parsers: parsers, rest: plain}
		o.raw = r.Value
		if err != nil {
			return fmt.Errorf("ledger of %s: %w: %w", o.URL, row.ErrUnauthentic, err)
		}
		return emit(o)
	})
}

// Whole reads the fields that Between left unread.
func (o *Object) Whole() error {
	if o.rest == nil {
		return nil
	}
	whole := Object{URL: o.URL, stored: o.stored}
	if err := json.Unmarshal(o.rest, &whole); err != nil {
		return fmt.Errorf("ledger of %s: %w: %w", o.URL, row.ErrUnauthentic, err)
	}
	*o = whole
	return nil
}

// plain opens the seal of an entry.
func (l Ledger) plain(ctx context.Context, r sinks.Row) ([]byte, error) {
	plain, err := l.ring.OpenRecord(ctx, r.Key, r.Value)
	if err != nil {
		return nil, fmt.Errorf("ledger of %s: %w", r.Key[1:], err)
	}
	return plain, nil
}

func (l Ledger) read(ctx context.Context, r sinks.Row) (*Object, error) {
	plain, err := l.plain(ctx, r)
	if err != nil {
		return nil, err
	}
	o := &Object{URL: string(r.Key[1:]), rest: plain}
	o.raw = r.Value
	if err := o.Whole(); err != nil {
		return nil, err
	}
	return o, nil
}

// Swap replaces old by new in one step, as [Artifacts.Swap] does.
func (l Ledger) Swap(ctx context.Context, old, new *Object) error {
	of := cmp.Or(old, new)
	if of == nil {
		return nil
	}
	key := func(o *Object) []byte { return objectKey(o.URL) }
	if err := swap(ctx, l.records, old, new, key, new); err != nil {
		return fmt.Errorf("swap ledger of %s: %w", of.URL, err)
	}
	return nil
}
