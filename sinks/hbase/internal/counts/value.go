package counts

import (
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"maps"

	"github.com/symlake/symlake/sinks"
)

// tally is counters: numbers that add up, and numbers that only grow.
type tally struct {
	Sums map[string]int64 `json:"sums,omitempty"`
	Most map[string]int64 `json:"most,omitempty"`
}

// add counts what changes count.
func (t *tally) add(list []sinks.Count) {
	for _, c := range list {
		if c.Most {
			t.most(c.Name, c.By)
		} else {
			t.sum(c.Name, c.By)
		}
	}
}

func (t *tally) sum(name string, by int64) {
	if t.Sums == nil {
		t.Sums = map[string]int64{}
	}
	if t.Sums[name] += by; t.Sums[name] == 0 {
		delete(t.Sums, name)
	}
}

func (t *tally) most(name string, n int64) {
	if t.Most == nil {
		t.Most = map[string]int64{}
	}
	t.Most[name] = max(t.Most[name], n)
}

// merge adds the counters of o.
func (t *tally) merge(o *tally) {
	for name, n := range o.Sums {
		t.sum(name, n)
	}
	for name, n := range o.Most {
		t.most(name, n)
	}
}

func (t *tally) clone() tally { return tally{maps.Clone(t.Sums), maps.Clone(t.Most)} }

// processRow is the row of a process. Durable, as JSON.
type processRow struct {
	Busy   bool  `json:"busy,omitempty"` // it changes records, or died while it did
	At     int64 `json:"at"`             // when it was written, milliseconds since 1970
	Number int   `json:"number"`         // of the value: no two of a row are equal
	tally
}

// baseRow is the base. Durable, as JSON.
type baseRow struct {
	Whole  bool              `json:"whole,omitempty"` // the rows together count all records
	Token  string            `json:"token,omitempty"` // of the Settle that counts records now
	Number int               `json:"number"`
	Merged map[string]uint64 `json:"merged,omitempty"` // rows that the base has, by id: the sum of the value that they had then
	tally
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of numbers have a form
	}
	return b
}

// decodeBase reads the base. One that is missing or damaged is not whole.
func decodeBase(value []byte) *baseRow {
	b := &baseRow{}
	if json.Unmarshal(value, b) != nil {
		return &baseRow{}
	}
	return b
}

// decodeProcess reads the row of a process. A damaged row is a dead process's.
func decodeProcess(value []byte) *processRow {
	r := &processRow{}
	if json.Unmarshal(value, r) != nil {
		return &processRow{Busy: true}
	}
	return r
}

// sumOf stands for a value in the base.
func sumOf(value []byte) uint64 {
	h := fnv.New64a()
	h.Write(value)
	return binary.BigEndian.Uint64(h.Sum(nil))
}
