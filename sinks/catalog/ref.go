package catalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/compact"
	"github.com/symlake/symlake/sinks/row"
)

// refForm is the value of records that have tags in their keys in place of texts: names of objects, waiters and
// obligations. It holds the texts. Names of artifacts were such records in earlier versions.
type refForm struct {
	Name     string `json:"name"`
	Artifact string `json:"artifact"`
	Object   string `json:"object"`
	InVain   string `json:"in_vain"` // of a waiter
}

func (f *refForm) write(w *compact.Writer) {
	for _, s := range []string{f.Name, f.Artifact, f.Object, f.InVain} {
		w.Text(s)
	}
}

func (f *refForm) read(r *compact.Reader) {
	for _, s := range []*string{&f.Name, &f.Artifact, &f.Object, &f.InVain} {
		*s = r.Text()
	}
}

// id returns the artifact; the zero ID if there is none.
func (f *refForm) id() (symbol.ID, error) {
	if f.Artifact == "" {
		return symbol.ID{}, nil
	}
	id, err := symbol.ParseID(f.Artifact)
	if err != nil {
		err = fmt.Errorf("%w: %w", row.ErrUnauthentic, err)
	}
	return id, err
}

func idText(id symbol.ID) string {
	if id == (symbol.ID{}) {
		return ""
	}
	return id.String()
}

// refKey is prefix ‖ tag ‖ artifact ‖ zero, or prefix ‖ tag ‖ zero ‖ tag(object).
func (r records) refKey(prefix byte, tag []byte, id symbol.ID, object string) []byte {
	key := append(append([]byte{prefix}, tag...), id[:]...)
	if object == "" {
		return append(key, make([]byte, row.TagBytes)...)
	}
	return append(key, r.ring.Tag(row.RecordObject, object)...)
}

// addRef adds a record that says nothing but its key. The record may be there already.
func (r records) addRef(ctx context.Context, key []byte, f refForm) error {
	_, err := r.replace(ctx, key, nil, &f)
	if errors.Is(err, sinks.ErrConflict) {
		return nil
	}
	return err
}

var errEnough = errors.New("enough")

// eachRef emits the records below a prefix, at most limit of them (0: all).
func (r records) eachRef(ctx context.Context, prefix []byte, limit int, emit func(refForm, symbol.ID) error) error {
	n := 0
	err := r.store.List(ctx, sinks.Under(prefix), func(rec sinks.Row) error {
		f, id, err := r.ref(ctx, rec)
		if err != nil {
			return err
		}
		if err := emit(f, id); err != nil {
			return err
		}
		if n++; n == limit {
			return errEnough
		}
		return nil
	})
	if err == errEnough {
		return nil
	}
	return err
}

// ref opens a record.
func (r records) ref(ctx context.Context, rec sinks.Row) (f refForm, id symbol.ID, err error) {
	if err = r.open(ctx, rec, &f); err == nil {
		id, err = f.id()
	}
	if err != nil {
		err = fmt.Errorf("record %x: %w", rec.Key, err)
	}
	return f, id, err
}
