package iceberg

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// maxMetadata bounds the bytes of a table's metadata.
const maxMetadata = 64 << 20

// metadata is the metadata of a table. Fields that this package does not know stay as they came.
type metadata struct {
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
	Snapshots     []snapshot        `json:"snapshots"`
	SnapshotLog   []logged          `json:"snapshot-log"`
	MetadataLog   []written         `json:"metadata-log"`
	Refs          map[string]ref    `json:"refs"`

	others map[string]json.RawMessage
}

// snapshot is a state of the table.
type snapshot struct {
	ID       int64             `json:"snapshot-id"`
	Parent   *int64            `json:"parent-snapshot-id,omitempty"`
	Sequence int64             `json:"sequence-number"`
	Made     int64             `json:"timestamp-ms"`
	List     string            `json:"manifest-list"`
	Summary  map[string]string `json:"summary"`
	Schema   *int              `json:"schema-id,omitempty"`

	others map[string]json.RawMessage
}

type logged struct {
	Snapshot int64 `json:"snapshot-id"`
	At       int64 `json:"timestamp-ms"`
}

type written struct {
	At   int64  `json:"timestamp-ms"`
	File string `json:"metadata-file"`
}

// ref is a branch or a tag.
type ref struct {
	Snapshot int64  `json:"snapshot-id"`
	Type     string `json:"type"`

	others map[string]json.RawMessage
}

// mainBranch is the branch that engines read.
const mainBranch = "main"

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
func (m *metadata) UnmarshalJSON(text []byte) (err error) {
	type bare metadata
	m.others, err = withOthers(text, (*bare)(m))
	return err
}

// MarshalJSON implements json.Marshaler.
func (m *metadata) MarshalJSON() ([]byte, error) {
	type bare metadata
	return joined((*bare)(m), m.others)
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *snapshot) UnmarshalJSON(text []byte) (err error) {
	type bare snapshot
	s.others, err = withOthers(text, (*bare)(s))
	return err
}

// MarshalJSON implements json.Marshaler.
func (s snapshot) MarshalJSON() ([]byte, error) {
	type bare snapshot
	return joined((*bare)(&s), s.others)
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *ref) UnmarshalJSON(text []byte) (err error) {
	type bare ref
	r.others, err = withOthers(text, (*bare)(r))
	return err
}

// MarshalJSON implements json.Marshaler.
func (r ref) MarshalJSON() ([]byte, error) {
	type bare ref
	return joined((*bare)(&r), r.others)
}

// errMetadata says that metadata is none of a table of version 2.
var errMetadata = errors.New("no metadata of an Iceberg table, version 2")

// readMetadata decodes and checks metadata.
func readMetadata(text []byte) (*metadata, error) {
	var m metadata
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%w: %w", errMetadata, err)
	}
	switch {
	case m.Format != 2:
		return nil, fmt.Errorf("%w: its format-version is %d", errMetadata, m.Format)
	case m.UUID == "" || m.Location == "":
		return nil, fmt.Errorf("%w: it has no table-uuid or location", errMetadata)
	case m.Current != nil && *m.Current != -1 && m.find(*m.Current) == nil:
		return nil, fmt.Errorf("%w: its current snapshot %d is missing", errMetadata, *m.Current)
	case m.LastSequence < 0 || m.LastSequence >= 1<<62:
		return nil, fmt.Errorf("%w: its last-sequence-number is %d", errMetadata, m.LastSequence)
	}
	return &m, nil
}

// find returns a snapshot; nil: there is none with such an id.
func (m *metadata) find(id int64) *snapshot {
	if i := slices.IndexFunc(m.Snapshots, func(s snapshot) bool { return s.ID == id }); i >= 0 {
		return &m.Snapshots[i]
	}
	return nil
}

// current returns the newest snapshot of the main branch; nil: the table is empty.
func (m *metadata) current() *snapshot {
	if m.Current == nil || *m.Current == -1 {
		return nil
	}
	return m.find(*m.Current)
}

// schemaNow returns the fields of the current schema.
func (m *metadata) schemaNow() (*schema, error) {
	for _, text := range m.Schemas {
		var s schema
		if err := json.Unmarshal(text, &s); err != nil || s.ID == nil {
			return nil, fmt.Errorf("%w: a schema cannot be read: %w", errMetadata, err)
		}
		if *s.ID == m.CurrentSchema {
			return &s, nil
		}
	}
	return nil, fmt.Errorf("%w: its current schema %d is missing", errMetadata, m.CurrentSchema)
}

// Properties and fields of summaries that this package sets. Durable.
const (
	versionProperty = "symlake.tables"
	version         = "1"
	mappingProperty = "schema.name-mapping.default"
	lakeSummary     = "symlake.lake"
	logSummary      = "symlake.log"
	madeSummary     = "symlake.log-made"
	runSummary      = "symlake.run"
)

// own reports whether this package wrote a snapshot.
func (s *snapshot) own() bool { return s.Summary[logSummary] != "" }

// empty is the metadata of a table without a snapshot.
func (s *shape) empty(location string, now time.Time) (*metadata, error) {
	sp, so := s.spec(), s.order()
	var texts []json.RawMessage
	for _, v := range []any{s.schema, sp, order{Fields: []transformed{}}, so} {
		text, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return &metadata{Format: 2, UUID: newUUID(), Location: location, LastUpdated: now.UnixMilli(), LastColumn: s.last,
		Schemas: texts[:1], Specs: texts[1:2], LastPartition: dayField, DefaultOrder: sortOrder, Orders: texts[2:],
		Properties: s.properties(), Snapshots: []snapshot{}, SnapshotLog: []logged{}, MetadataLog: []written{}, Refs: map[string]ref{}}, nil
}

// properties of the table. Engines that write it take its deletes as they are, and find columns of files without ids by name.
func (s *shape) properties() map[string]string {
	return map[string]string{
		versionProperty: version, mappingProperty: s.mapping, "comment": s.table.Doc, "write.format.default": "parquet",
		"write.metadata.previous-versions-max": strconv.Itoa(keepVersions), "write.metadata.delete-after-commit.enabled": "true",
	}
}

// keepVersions is how many versions of the metadata a table of the file system keeps. Readers open the newest one.
const keepVersions = 16

func newUUID() string {
	var b [16]byte
	rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// newID returns an id for a snapshot.
func newID() int64 {
	var b [8]byte
	rand.Read(b[:]) // it never fails
	return int64(binary.BigEndian.Uint64(b[:])>>1) | 1
}

// change is a commit.
type change struct {
	snapshot *snapshot // nil: only a schema or a place changes
	expired  []int64   // snapshots that leave the metadata
	location string    // "": as it was
	schema   *schema   // nil: as it was
	last     int       // the highest id of schema
	mapping  string    // of schema
}

// with returns the metadata after a commit. m stays as it is.
func (m *metadata) with(c *change, now time.Time) (*metadata, error) {
	n := *m
	n.LastUpdated = max(now.UnixMilli(), m.LastUpdated)
	n.Properties, n.Refs = maps.Clone(m.Properties), maps.Clone(m.Refs)
	if n.Properties == nil {
		n.Properties = map[string]string{}
	}
	if n.Refs == nil {
		n.Refs = map[string]ref{}
	}
	if c.location != "" {
		n.Location = c.location
	}
	if c.schema != nil {
		text, err := json.Marshal(c.schema)
		if err != nil {
			return nil, err
		}
		n.Schemas = append(slices.Clone(m.Schemas), text)
		n.CurrentSchema, n.LastColumn = *c.schema.ID, max(m.LastColumn, c.last)
		n.Properties[mappingProperty] = c.mapping
	}
	n.Snapshots = slices.DeleteFunc(slices.Clone(m.Snapshots), func(s snapshot) bool { return slices.Contains(c.expired, s.ID) })
	if s := c.snapshot; s != nil {
		n.Snapshots = append(n.Snapshots, *s)
		n.Current, n.LastSequence = &s.ID, s.Sequence
		n.SnapshotLog = append(slices.Clone(m.SnapshotLog), logged{s.ID, s.Made})
		r := n.Refs[mainBranch]
		r.Snapshot, r.Type = s.ID, "branch"
		n.Refs[mainBranch] = r
	}
	n.SnapshotLog = slices.DeleteFunc(slices.Clone(n.SnapshotLog), func(l logged) bool { return slices.Contains(c.expired, l.Snapshot) })
	return &n, nil
}
