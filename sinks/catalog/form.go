package catalog

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

// The stored forms of records: JSON inside the seal. Their field names are
// durable; a field may be added, and reads as zero in what was written before.

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

func marshalRecord(r *Record) ([]byte, error) {
	f := recordForm{ID: r.ID.String(), State: r.State, Names: r.Names,
		Published: row.FormOf(r.Published), Previous: row.FormOf(r.Previous)}
	for _, p := range r.Progress {
		f.Progress = append(f.Progress, progressForm{hex.EncodeToString(p.Load[:]), p.Owner, p.Lease})
	}
	return json.Marshal(&f)
}

func unmarshalRecord(b []byte) (*Record, error) {
	var f recordForm
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, err
	}
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
