package snapshots

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/avro"
	"github.com/symlake/symlake/sinks/internal/icemeta"
	"github.com/symlake/symlake/sinks/internal/opentable"
)

// icebergTable is an Iceberg table as its next snapshot has it, but for the snapshot.
type icebergTable struct {
	*icemeta.Metadata
	version  uint64 // of the metadata file that there is; 0: none
	change   icemeta.Change
	schema   json.RawMessage // of the next snapshot
	schemaID int
}

const (
	metadataFolder = "metadata/"
	// sourceSummary begins the names in summaries of snapshots that note up to which snapshot of a source the table has rows.
	sourceSummary   = "symlake.source."
	runSummary      = "symlake.run"
	mappingProperty = "schema.name-mapping.default"
	keepVersions    = 100 // entries of the metadata log
)

// notedIceberg looks into the snapshots from the newest one back: snapshots that were rolled back do not count. If the
// snapshots have expired, a property of the table tells.
func (t *Table) notedIceberg() (*int64, error) {
	m, err := t.read()
	if err != nil {
		return nil, err
	}
	for s := m.Head(); s != nil; {
		if v, err := strconv.ParseInt(s.Summary[sourceSummary+t.source], 10, 64); err == nil {
			return &v, nil
		}
		if s.Parent == nil {
			return nil, nil
		}
		parent := m.Find(*s.Parent)
		if parent == nil || parent.Sequence >= s.Sequence { // expired
			break
		}
		s = parent
	}
	if v, err := strconv.ParseInt(m.Properties[sourceSummary+t.source], 10, 64); err == nil && m.Head() != nil {
		return &v, nil
	}
	return nil, nil
}

// read reads the metadata of the table that there is.
func (t *Table) read() (*icemeta.Metadata, error) {
	m, err := icemeta.Read(t.base.Iceberg.Metadata)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrTable, t.base.Iceberg.Key, err)
	}
	return m, nil
}

// describeIceberg returns the table with a schema that has the columns of the source and the added ones.
func (t *Table) describeIceberg() (*icebergTable, error) {
	var source icemeta.Metadata
	if err := json.Unmarshal(t.o.Source.Iceberg.Metadata, &source); err != nil {
		return nil, fmt.Errorf("%w: the metadata of the input: %w", ErrTable, err)
	}
	text, err := source.Schema(t.o.Source.Iceberg.Schema)
	if err != nil {
		return nil, fmt.Errorf("%w: the input: %w", ErrTable, err)
	}
	from, err := parseSchema(text)
	if err != nil {
		return nil, err
	}
	if err := from.plain(); err != nil {
		return nil, err
	}
	if t.base == nil {
		return t.newIceberg(&source, from)
	}
	m, err := t.read()
	if err != nil {
		return nil, err
	}
	x := &icebergTable{Metadata: m, schemaID: m.CurrentSchema}
	name := strings.TrimPrefix(t.base.Iceberg.Key, metadataFolder)
	digits, ok := strings.CutSuffix(strings.TrimPrefix(name, "v"), ".metadata.json")
	if x.version, err = strconv.ParseUint(digits, 10, 62); !ok || err != nil || name != fmt.Sprintf("v%d.metadata.json", x.version) {
		return nil, fmt.Errorf("%w: its metadata is %s, which a catalog keeps. symlake adds to tables of the file system, with metadata/vN.metadata.json. Write to a new folder", ErrTable, name)
	}
	if here := t.location(); !opentable.SamePlace(m.Location, here) {
		return nil, fmt.Errorf("%w: its metadata says that it lies at %s", ErrTable, m.Location)
	}
	if err := sameSpecs(t.o.Source.Files, &source, m); err != nil {
		return nil, err
	}
	if x.schema, err = m.Schema(m.CurrentSchema); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTable, err)
	}
	now, err := parseSchema(x.schema)
	if err != nil {
		return nil, err
	}
	last := max(m.LastColumn, source.LastColumn)
	changed, err := now.evolve(from, t.added, &last)
	if err != nil || !changed {
		return x, err
	}
	x.schemaID = m.NextSchema()
	if x.schema, err = now.encode(x.schemaID); err != nil {
		return nil, err
	}
	x.change = icemeta.Change{Schema: x.schema, SchemaID: x.schemaID, LastColumn: last}
	x.change.Properties, err = now.mapping(m.Properties)
	return x, err
}

// newIceberg describes a new table like the source.
func (t *Table) newIceberg(source *icemeta.Metadata, s *schema) (*icebergTable, error) {
	if len(source.Specs) == 0 {
		return nil, fmt.Errorf("%w: the input has no partition specs: upgrade it to version 2 of its format", ErrTable)
	}
	m := &icemeta.Metadata{Format: 2, UUID: icemeta.NewUUID(), Location: t.location(), LastColumn: source.LastColumn, DefaultSpec: source.DefaultSpec, LastPartition: source.LastPartition,
		DefaultOrder: source.DefaultOrder, Orders: source.Orders, Properties: map[string]string{}, Snapshots: []icemeta.Snapshot{}, SnapshotLog: []icemeta.Logged{},
		MetadataLog: []icemeta.Written{}, Refs: map[string]icemeta.Ref{}}
	if _, err := s.evolve(s, t.added, &m.LastColumn); err != nil {
		return nil, err
	}
	for name, v := range source.Properties {
		if !foreignProperty(name) {
			m.Properties[name] = v
		}
	}
	mapping, err := s.mapping(m.Properties)
	if err != nil {
		return nil, err
	}
	maps.Copy(m.Properties, mapping)
	used := map[int64]bool{int64(source.DefaultSpec): true}
	for i := range t.o.Source.Files {
		used[t.o.Source.Files[i].Spec] = true
	}
	for _, text := range source.Specs { // others may name columns that are gone
		if id, _, err := specOf(text); err != nil {
			return nil, err
		} else if used[id] {
			m.Specs = append(m.Specs, text)
		}
	}
	x := &icebergTable{Metadata: m}
	if x.schema, err = s.encode(0); err != nil {
		return nil, err
	}
	m.Schemas = []json.RawMessage{x.schema}
	return x, nil
}

// foreignProperty reports whether a property is about the source's place or owner.
func foreignProperty(name string) bool {
	for _, prefix := range []string{"write.data.path", "write.metadata.path", "write.folder-storage", "write.object-storage", "write.location-provider", "write.metadata.compression-codec", "encryption.", "owner", "symlake.", "commit.", "gc.", "history."} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// specOf returns the id and the fields of a partition spec.
func specOf(text json.RawMessage) (int64, json.RawMessage, error) {
	var s struct {
		ID     int64           `json:"spec-id"`
		Fields json.RawMessage `json:"fields"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return 0, nil, fmt.Errorf("%w: a partition spec cannot be read: %w", ErrTable, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, s.Fields); err != nil {
		return 0, nil, fmt.Errorf("%w: a partition spec cannot be read: %w", ErrTable, err)
	}
	return s.ID, compact.Bytes(), nil
}

// specs returns the fields of partition specs by id.
func specs(m *icemeta.Metadata) (map[int64]json.RawMessage, error) {
	all := map[int64]json.RawMessage{}
	for _, text := range m.Specs {
		id, fields, err := specOf(text)
		if err != nil {
			return nil, err
		}
		all[id] = fields
	}
	return all, nil
}

// sameSpecs refuses files of a partition spec that the table does not have.
func sameSpecs(files []opentable.File, source, m *icemeta.Metadata) error {
	theirs, err := specs(source)
	if err != nil {
		return err
	}
	ours, err := specs(m)
	if err != nil {
		return err
	}
	for i := range files {
		id := files[i].Spec
		var a, b any
		if json.Unmarshal(theirs[id], &a) != nil || json.Unmarshal(ours[id], &b) != nil || textOf(a) != textOf(b) {
			return fmt.Errorf("%w: files of the input have the partition spec %d, %s, which the table does not have. Write to a new folder", ErrTable, id, theirs[id])
		}
	}
	return nil
}

// location is where the table lies, as Iceberg writes it.
func (t *Table) location() string {
	if t.base != nil {
		return strings.TrimSuffix(t.base.Iceberg.Location, "/")
	}
	return strings.TrimSuffix(icemeta.Location(t.o.Bucket.URL("")), "/")
}

// commitIceberg writes manifests and the next version of the metadata. bucket.ErrChanged: another writer has written it.
func (t *Table) commitIceberg(ctx context.Context, x *icebergTable, files []measured) (int64, error) {
	id, now := icemeta.NewID(), t.o.Now()
	snap := &icemeta.Snapshot{ID: id, Sequence: x.LastSequence + 1, Made: max(now.UnixMilli(), x.LastUpdated), Schema: &x.schemaID}
	head := x.Head()
	if head != nil {
		snap.Parent = &head.ID
	}
	p := &plan{t: t, x: x, snapshot: snap}
	if err := p.manifests(ctx, files); err != nil {
		return 0, err
	}
	snap.Summary = p.summary(head)
	var err error
	if snap.List, _, err = p.put(ctx, "list", icemeta.ListSchema, map[string]string{"format-version": "2", "snapshot-id": strconv.FormatInt(id, 10), "sequence-number": strconv.FormatInt(snap.Sequence, 10)}, p.list); err != nil {
		return 0, err
	}
	x.change.Snapshot = snap
	if x.change.Properties == nil {
		x.change.Properties = map[string]string{}
	}
	x.change.Properties[sourceSummary+t.source] = strconv.FormatInt(t.o.Source.Version, 10)
	next := x.With(&x.change, now)
	if x.version > 0 {
		log := append(slices.Clone(x.MetadataLog), icemeta.Written{At: x.LastUpdated, File: t.location() + "/" + icemeta.VersionKey(metadataFolder, x.version)})
		next.MetadataLog = log[max(0, len(log)-keepVersions):]
	}
	text, err := json.Marshal(next)
	if err != nil {
		return 0, err
	}
	if err := t.o.Bucket.Create(ctx, icemeta.VersionKey(metadataFolder, x.version+1), "", bytes.NewReader(text)); err != nil {
		if errors.Is(err, bucket.ErrChanged) {
			err = errors.Join(err, t.o.Bucket.Delete(ctx, p.keys))
		}
		return 0, err
	}
	return id, icemeta.Point(ctx, t.o.Bucket, metadataFolder, x.version+1)
}

// plan gathers what a snapshot lists.
type plan struct {
	t        *Table
	x        *icebergTable
	snapshot *icemeta.Snapshot
	list     []map[string]any
	keys     []string // of new files of metadata

	added, removed int
	addedRows      int64
	removedRows    int64
	addedBytes     int64
	removedBytes   int64
}

// put writes a new file of Avro and returns its location and size.
func (p *plan) put(ctx context.Context, kind, schema string, meta map[string]string, records []map[string]any) (location string, size int64, err error) {
	text, err := avro.Write(schema, meta, records)
	if err != nil {
		return "", 0, fmt.Errorf("encode a %s: %w", kind, err)
	}
	key := metadataFolder + ownPrefix + kind + "-" + strings.ToLower(rand.Text()) + ".avro"
	if err := p.t.o.Bucket.Create(ctx, key, "", bytes.NewReader(text)); err != nil {
		return "", 0, fmt.Errorf("write %s: %w", p.t.o.Bucket.URL(key), err)
	}
	p.keys = append(p.keys, key)
	return p.t.location() + "/" + key, int64(len(text)), nil
}

// summary describes the snapshot in words of the specification.
func (p *plan) summary(head *icemeta.Snapshot) map[string]string {
	s := map[string]string{"operation": "append", sourceSummary + p.t.source: strconv.FormatInt(p.t.o.Source.Version, 10), "symlake.input": p.t.o.From.URL(""), runSummary: p.t.o.Run}
	if p.removed > 0 {
		s["operation"] = "overwrite"
	}
	count := func(name string, added, removed int64) {
		if added > 0 {
			s["added-"+name] = strconv.FormatInt(added, 10)
		}
		if removed > 0 {
			gone := map[string]string{"data-files": "deleted-data-files", "records": "deleted-records", "files-size": "removed-files-size"}[name]
			s[gone] = strconv.FormatInt(removed, 10)
		}
		before := int64(0)
		if head != nil {
			n, err := strconv.ParseInt(head.Summary["total-"+name], 10, 64)
			if err != nil {
				return // the snapshot before does not say
			}
			before = n
		}
		s["total-"+name] = strconv.FormatInt(max(0, before+added-removed), 10)
	}
	count("data-files", int64(p.added), int64(p.removed))
	count("records", p.addedRows, p.removedRows)
	count("files-size", p.addedBytes, p.removedBytes)
	for _, name := range []string{"total-delete-files", "total-position-deletes", "total-equality-deletes"} {
		if s[name] = "0"; head != nil {
			if s[name] = head.Summary[name]; s[name] == "" {
				delete(s, name)
			}
		}
	}
	// Snapshots expire. The newest one tells of all sources.
	if head != nil {
		for name, v := range head.Summary {
			if _, ours := s[name]; !ours && strings.HasPrefix(name, sourceSummary) {
				s[name] = v
			}
		}
	}
	return s
}
