// Package icemeta reads and changes the metadata of Apache Iceberg tables, version 2 of the format, and finds it in the file
// system.
//
// It leaves to sinks/lake/iceberg and sinks/internal/snapshots the schemas and manifests, and to catalogs which metadata counts.
// Invariant: a field that it does not know comes out as it came in.
package icemeta

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// MaxBytes bounds the bytes of a table's metadata.
const MaxBytes = 64 << 20

// Metadata is the metadata of a table. Fields that this package does not know stay as they came.
type Metadata struct {
	Format        int               `json:"format-version"`
	UUID          string            `json:"table-uuid"`
	Location      string            `json:"location"`
	LastSequence  int64             `json:"last-sequence-number"`
	LastUpdated   int64             `json:"last-updated-ms"`
	LastColumn    int               `json:"last-column-id"`
	CurrentSchema int               `json:"current-schema-id"`
	Schemas       []json.RawMessage `json:"schemas"`
	DefaultSpec   int               `json:"default-spec-id"`
	Specs         []json.RawMessage `json:"partition-specs"`
	LastPartition int               `json:"last-partition-id"`
	DefaultOrder  int               `json:"default-sort-order-id"`
	Orders        []json.RawMessage `json:"sort-orders"`
	Properties    map[string]string `json:"properties"`
	Current       *int64            `json:"current-snapshot-id"` // nil or -1: none
	Snapshots     []Snapshot        `json:"snapshots"`
	SnapshotLog   []Logged          `json:"snapshot-log"`
	MetadataLog   []Written         `json:"metadata-log"`
	Refs          map[string]Ref    `json:"refs"`

	others map[string]json.RawMessage
}

// Snapshot is a state of the table.
type Snapshot struct {
	ID       int64             `json:"snapshot-id"`
	Parent   *int64            `json:"parent-snapshot-id,omitempty"`
	Sequence int64             `json:"sequence-number"`
	Made     int64             `json:"timestamp-ms"`
	List     string            `json:"manifest-list"`
	Summary  map[string]string `json:"summary"`
	Schema   *int              `json:"schema-id,omitempty"`

	others map[string]json.RawMessage
}

// Logged tells when a snapshot became the newest one.
type Logged struct {
	Snapshot int64 `json:"snapshot-id"`
	At       int64 `json:"timestamp-ms"`
}

// Written is an earlier metadata file.
type Written struct {
	At   int64  `json:"timestamp-ms"`
	File string `json:"metadata-file"`
}

// Ref is a branch or a tag.
type Ref struct {
	Snapshot int64  `json:"snapshot-id"`
	Type     string `json:"type"`

	others map[string]json.RawMessage
}

// MainBranch is the branch that engines read.
const MainBranch = "main"

// withOthers decodes text into known, and returns the fields that known does not have.
func withOthers(text []byte, known any) (map[string]json.RawMessage, error) {
	if err := json.Unmarshal(text, known); err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	mine, err := json.Marshal(known)
	if err != nil {
		return nil, err
	}
	var have map[string]json.RawMessage
	if err := json.Unmarshal(mine, &have); err != nil {
		return nil, err
	}
	for name := range have {
		delete(all, name)
	}
	return all, nil
}

// joined encodes known with other fields beside its own.
func joined(known any, others map[string]json.RawMessage) ([]byte, error) {
	text, err := json.Marshal(known)
	if err != nil || len(others) == 0 {
		return text, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	maps.Copy(all, others)
	return json.Marshal(all)
}

// UnmarshalJSON implements json.Unmarshaler.
func (m *Metadata) UnmarshalJSON(text []byte) (err error) {
	type bare Metadata
	m.others, err = withOthers(text, (*bare)(m))
	return err
}

// MarshalJSON implements json.Marshaler.
func (m *Metadata) MarshalJSON() ([]byte, error) {
	type bare Metadata
	return joined((*bare)(m), m.others)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Snapshot) UnmarshalJSON(text []byte) (err error) {
	type bare Snapshot
	s.others, err = withOthers(text, (*bare)(s))
	return err
}

// MarshalJSON implements json.Marshaler.
func (s Snapshot) MarshalJSON() ([]byte, error) {
	type bare Snapshot
	return joined((*bare)(&s), s.others)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *Ref) UnmarshalJSON(text []byte) (err error) {
	type bare Ref
	r.others, err = withOthers(text, (*bare)(r))
	return err
}

// MarshalJSON implements json.Marshaler.
func (r Ref) MarshalJSON() ([]byte, error) {
	type bare Ref
	return joined((*bare)(&r), r.others)
}

// ErrMetadata says that metadata is none of a table of version 2.
var ErrMetadata = errors.New("no metadata of an Iceberg table, version 2")

// Read decodes and checks metadata.
func Read(text []byte) (*Metadata, error) {
	var m Metadata
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMetadata, err)
	}
	switch {
	case m.Format != 2:
		return nil, fmt.Errorf("%w: its format-version is %d", ErrMetadata, m.Format)
	case m.UUID == "" || m.Location == "":
		return nil, fmt.Errorf("%w: it has no table-uuid or location", ErrMetadata)
	case m.Current != nil && *m.Current != -1 && m.Find(*m.Current) == nil:
		return nil, fmt.Errorf("%w: its current snapshot %d is missing", ErrMetadata, *m.Current)
	case m.LastSequence < 0 || m.LastSequence >= 1<<62:
		return nil, fmt.Errorf("%w: its last-sequence-number is %d", ErrMetadata, m.LastSequence)
	}
	return &m, nil
}

// Find returns a snapshot; nil: there is none with such an id.
func (m *Metadata) Find(id int64) *Snapshot {
	if i := slices.IndexFunc(m.Snapshots, func(s Snapshot) bool { return s.ID == id }); i >= 0 {
		return &m.Snapshots[i]
	}
	return nil
}

// Head returns the newest snapshot of the main branch; nil: the table is empty.
func (m *Metadata) Head() *Snapshot {
	if m.Current == nil || *m.Current == -1 {
		return nil
	}
	return m.Find(*m.Current)
}

// Schema returns a schema by its id, as the metadata has it.
func (m *Metadata) Schema(id int) (json.RawMessage, error) {
	for _, text := range m.Schemas {
		var s struct {
			ID *int `json:"schema-id"`
		}
		if err := json.Unmarshal(text, &s); err != nil || s.ID == nil {
			return nil, fmt.Errorf("%w: a schema cannot be read: %w", ErrMetadata, err)
		}
		if *s.ID == id {
			return text, nil
		}
	}
	return nil, fmt.Errorf("%w: its schema %d is missing", ErrMetadata, id)
}

// NextSchema returns the id for a new schema: one more than the largest, or 0.
func (m *Metadata) NextSchema() (id int) {
	for _, text := range m.Schemas {
		var s struct {
			ID int `json:"schema-id"`
		}
		if json.Unmarshal(text, &s) == nil {
			id = max(id, s.ID+1)
		}
	}
	return id
}

// NewUUID returns an id for a table.
func NewUUID() string {
	var b [16]byte
	rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// NewID returns an id for a snapshot.
func NewID() int64 {
	var b [8]byte
	rand.Read(b[:]) // it never fails
	return int64(binary.BigEndian.Uint64(b[:])>>1) | 1
}

// Change is a commit.
type Change struct {
	Snapshot   *Snapshot       // nil: only a schema, a place or properties change
	Expired    []int64         // snapshots that leave the metadata
	Location   string          // "": as it was
	Schema     json.RawMessage // nil: as it was
	SchemaID   int             // of Schema
	LastColumn int             // the highest id of a column in Schema
	Properties map[string]string
}

// With returns the metadata after a commit. It does not change m.
func (m *Metadata) With(c *Change, now time.Time) *Metadata {
	n := *m
	n.LastUpdated = max(now.UnixMilli(), m.LastUpdated)
	n.Properties, n.Refs = maps.Clone(m.Properties), maps.Clone(m.Refs)
	if n.Properties == nil {
		n.Properties = map[string]string{}
	}
	if n.Refs == nil {
		n.Refs = map[string]Ref{}
	}
	maps.Copy(n.Properties, c.Properties)
	if c.Location != "" {
		n.Location = c.Location
	}
	if c.Schema != nil {
		n.Schemas = append(slices.Clone(m.Schemas), c.Schema)
		n.CurrentSchema, n.LastColumn = c.SchemaID, max(m.LastColumn, c.LastColumn)
	}
	expired := make(map[int64]bool, len(c.Expired)) // a table may lose thousands of snapshots at once
	for _, id := range c.Expired {
		expired[id] = true
	}
	n.Snapshots = slices.DeleteFunc(slices.Clone(m.Snapshots), func(s Snapshot) bool { return expired[s.ID] })
	if s := c.Snapshot; s != nil {
		n.Snapshots = append(n.Snapshots, *s)
		n.Current, n.LastSequence = &s.ID, s.Sequence
		n.SnapshotLog = append(slices.Clone(m.SnapshotLog), Logged{s.ID, s.Made})
		r := n.Refs[MainBranch]
		r.Snapshot, r.Type = s.ID, "branch"
		n.Refs[MainBranch] = r
	}
	n.SnapshotLog = slices.DeleteFunc(slices.Clone(n.SnapshotLog), func(l Logged) bool { return expired[l.Snapshot] })
	return &n
}
