package catalog

import (
	"cmp"
	"context"
	"fmt"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

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

	var last parsersOf
	return l.store.List(ctx, s, func(r sinks.Row) error {
		plain, err := l.plain(ctx, r)
		if err != nil {
			return err
		}
		o := &Object{URL: string(r.Key[1:]), rest: plain}
		o.raw = r.Value
		if err := o.head(&last); err != nil {
			return fmt.Errorf("ledger of %s: %w", o.URL, err)
		}
		return emit(o)
	})
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

// SwapAll swaps the entries of unlike objects as Swap does, in one request, and returns an error for each.
func (l Ledger) SwapAll(ctx context.Context, changes []Change[Object]) []error {
	return swapAll(ctx, l.records, changes, func(o *Object) []byte { return objectKey(o.URL) },
		func(o *Object) string { return "ledger of " + o.URL })
}
