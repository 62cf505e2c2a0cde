package iceberg

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/symlake/symlake/sinks/internal/icemeta"
)

type (
	metadata = icemeta.Metadata
	snapshot = icemeta.Snapshot
)

// schemaNow returns the fields of the current schema.
func schemaNow(m *metadata) (*schema, error) {
	text, err := m.Schema(m.CurrentSchema)
	if err != nil {
		return nil, err
	}
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("%w: a schema cannot be read: %w", icemeta.ErrMetadata, err)
	}
	return &s, nil
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
func own(s *snapshot) bool { return s.Summary[logSummary] != "" }

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
	return &metadata{Format: 2, UUID: icemeta.NewUUID(), Location: location, LastUpdated: now.UnixMilli(), LastColumn: s.last,
		Schemas: texts[:1], Specs: texts[1:2], LastPartition: dayField, DefaultOrder: sortOrder, Orders: texts[2:],
		Properties: s.properties(), Snapshots: []snapshot{}, SnapshotLog: []icemeta.Logged{}, MetadataLog: []icemeta.Written{}, Refs: map[string]icemeta.Ref{}}, nil
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

// change is a commit.
type change struct {
	snapshot *snapshot // nil: only a schema or a place changes
	expired  []int64   // snapshots that leave the metadata
	location string    // "": as it was
	schema   *schema   // nil: as it was
	last     int       // the highest id of schema
	mapping  string    // of schema
}

// with returns the metadata after a commit. It does not change m.
func with(m *metadata, c *change, now time.Time) (*metadata, error) {
	n := icemeta.Change{Snapshot: c.snapshot, Expired: c.expired, Location: c.location}
	if c.schema != nil {
		text, err := json.Marshal(c.schema)
		if err != nil {
			return nil, err
		}
		n.Schema, n.SchemaID, n.LastColumn = text, *c.schema.ID, c.last
		n.Properties = map[string]string{mappingProperty: c.mapping}
	}
	return m.With(&n, now), nil
}
