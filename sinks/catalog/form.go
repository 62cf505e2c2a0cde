package catalog

import (
	"encoding/hex"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

// recordForm is the stored form of a Record: JSON inside the seal. Its field names are durable; a
// field may be added, and reads as zero in older records.
type recordForm struct {
	ID        string          `json:"id"`
	State     State           `json:"state"`
	Published *row.LoadedForm `json:"published,omitempty"`
	Previous  *row.LoadedForm `json:"previous,omitempty"`
	Progress  []progressForm  `json:"progress,omitempty"`
	Names     []symbol.Name   `json:"names,omitempty"`
}

type progressForm struct {
	Load  string    `json:"load"`
	Owner string    `json:"owner"`
	Lease time.Time `json:"lease"`
}

// formOf returns the stored form of r; nil for nil.
func formOf(r *Record) *recordForm {
	if r == nil {
		return nil
	}
	f := &recordForm{ID: r.ID.String(), State: r.State, Names: r.Names,
		Published: row.FormOf(r.Published), Previous: row.FormOf(r.Previous)}
	for _, p := range r.Progress {
		f.Progress = append(f.Progress, progressForm{hex.EncodeToString(p.Load[:]), p.Owner, p.Lease})
	}
	return f
}

// record returns the record that f is the form of.
func (f *recordForm) record() (*Record, error) {
	id, err := symbol.ParseID(f.ID)
	if err != nil {
		return nil, err
	}
	r := &Record{ID: id, State: f.State, Names: f.Names}
	if r.Published, err = f.Published.Loaded(); err != nil {
		return nil, err
	}
	if r.Previous, err = f.Previous.Loaded(); err != nil {
		return nil, err
	}
	for _, p := range f.Progress {
		l, err := row.ParseLoad(p.Load)
		if err != nil {
			return nil, err
		}
		r.Progress = append(r.Progress, Progress{l, p.Owner, p.Lease})
	}
	return r, nil
}
