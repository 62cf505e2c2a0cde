package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/compact"
	"github.com/symlake/symlake/sinks/row"
)

// recordForm is the JSON of a Record that earlier versions wrote. Its field names are durable.
type recordForm struct {
	ID        string          `json:"id"`
	State     State           `json:"state"`
	Published *row.LoadedForm `json:"published"`
	Previous  *row.LoadedForm `json:"previous"`
	Progress  []struct {
		Load  string    `json:"load"`
		Owner string    `json:"owner"`
		Lease time.Time `json:"lease"`
	} `json:"progress"`
	Names []symbol.Name `json:"names"`
}

// UnmarshalJSON reads the record of earlier versions.
func (r *Record) UnmarshalJSON(b []byte) error {
	var f recordForm
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	id, err := symbol.ParseID(f.ID)
	if err != nil {
		return err
	}
	if id != r.ID {
		return fmt.Errorf("it speaks of %s", id)
	}
	r.State, r.Names = f.State, f.Names
	if r.Published, err = f.Published.Loaded(); err != nil {
		return err
	}
	if r.Previous, err = f.Previous.Loaded(); err != nil {
		return err
	}
	for _, p := range f.Progress {
		l, err := row.ParseLoad(p.Load)
		if err != nil {
			return err
		}
		r.Progress = append(r.Progress, Progress{l, p.Owner, p.Lease})
	}
	return nil
}

// Bits of the parts of a record that need not be there. Durable.
const (
	recordPublished = 1 << iota
	recordPrevious
	recordProgress
	recordNames
	recordSameNames // as the published load has them
	recordBits      = iota
)

func (r *Record) write(w *compact.Writer) {
	var bits uint64
	if r.Published != nil {
		bits |= recordPublished
	}
	if r.Previous != nil {
		bits |= recordPrevious
	}
	if len(r.Progress) > 0 {
		bits |= recordProgress
	}
	if len(r.Names) > 0 {
		if bits |= recordNames; r.Published != nil && slices.Equal(r.Names, r.Published.Artifact.Names) {
			bits ^= recordNames | recordSameNames
		}
	}
	w.Uint(bits)
	w.Text(string(r.State))
	for _, l := range []*row.Loaded{r.Published, r.Previous} {
		if l != nil {
			l.Write(w, r.ID)
		}
	}
	if bits&recordProgress != 0 {
		w.Uint(uint64(len(r.Progress)))
		for _, p := range r.Progress {
			w.Raw(p.Load[:])
			w.Text(p.Owner)
			w.Base(time.Unix(0, 0))
			w.Time(p.Lease)
		}
	}
	if bits&recordNames != 0 {
		r.Published.Context().Write(w, r.Names)
	}
}

// read reads a record with the ID that it has already.
func (r *Record) read(from *compact.Reader) {
	bits := from.Bits(recordBits)
	r.State = State(from.Text())
	if bits&recordPublished != 0 {
		r.Published = row.ReadLoaded(from, r.ID)
	}
	if bits&recordPrevious != 0 {
		r.Previous = row.ReadLoaded(from, r.ID)
	}
	if bits&recordProgress != 0 {
		r.Progress = make([]Progress, from.Count())
		for i := range r.Progress {
			p := &r.Progress[i]
			copy(p.Load[:], from.Raw(len(p.Load)))
			p.Owner = from.Text()
			from.Base(time.Unix(0, 0))
			p.Lease = from.Time()
		}
	}
	switch {
	case bits&recordSameNames != 0 && r.Published != nil:
		r.Names = slices.Clone(r.Published.Artifact.Names)
	case bits&recordNames != 0:
		r.Names = r.Published.Context().Read(from)
	}
}
