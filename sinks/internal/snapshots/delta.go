package snapshots

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks/internal/icemeta"
	"github.com/symlake/symlake/sinks/internal/opentable"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// deltaTable is a Delta table as its next version has it.
type deltaTable struct {
	protocol *opentable.DeltaProtocol // nil: as it is
	metadata *opentable.DeltaMetadata // nil: as it is
	columns  []string                 // of partitions, as files call them
}

// app is the id under which a Delta table notes the version of the source.
func (t *Table) app() string { return ownPrefix + t.source }

func (t *Table) notedDelta() *int64 {
	if v, ok := t.base.Delta.Versions[t.app()]; ok {
		return &v
	}
	return nil
}

// deltaField is a column of a Delta table.
type deltaField struct {
	Name     string         `json:"name"`
	Type     any            `json:"type"`
	Nullable bool           `json:"nullable"`
	Metadata map[string]any `json:"metadata"`
}

type deltaSchema struct {
	Type   string       `json:"type"`
	Fields []deltaField `json:"fields"`
}

func parseDelta(text string) (*deltaSchema, error) {
	var s deltaSchema
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Type != "struct" {
		return nil, fmt.Errorf("%w: a schema of Delta cannot be read: %v", ErrTable, err)
	}
	return &s, nil
}

// describeDelta returns what the next version must say of the table.
func (t *Table) describeDelta() (*deltaTable, error) {
	from := &t.o.Source.Delta.Metadata
	source, err := parseDelta(from.Schema)
	if err != nil {
		return nil, err
	}
	for i := range source.Fields {
		source.Fields[i].Metadata = plainMetadata(source.Fields[i].Metadata)
	}
	mode, err := from.Mapping()
	if err != nil {
		return nil, err
	}
	d := &deltaTable{columns: source.physical(from.PartitionColumns)}
	now, partitions := &deltaSchema{Type: "struct"}, from.PartitionColumns
	if t.base != nil {
		if err := t.writable(mode); err != nil {
			return nil, err
		}
		if now, err = parseDelta(t.base.Delta.Metadata.Schema); err != nil {
			return nil, err
		}
		if have := now.physical(t.base.Delta.Metadata.PartitionColumns); !slices.Equal(have, d.columns) {
			return nil, fmt.Errorf("%w: it is partitioned by %q, the input by %q", ErrTable, t.base.Delta.Metadata.PartitionColumns, partitions)
		}
	}
	last := 0
	if mode != "" {
		if last, err = t.number(now, source); err != nil {
			return nil, err
		}
	}
	changed, err := now.evolve(source.Fields, deltaFields(t.added.Columns), t.base != nil)
	if err != nil {
		return nil, err
	}
	for _, f := range now.Fields {
		if !f.Nullable && source.find(&f) == nil {
			return nil, fmt.Errorf("%w: its column %s wants a value, which the input does not have", ErrTable, f.Name)
		}
	}
	if !changed {
		return d, nil
	}
	text, err := json.Marshal(now)
	if err != nil {
		return nil, err
	}
	if t.base != nil {
		m := t.base.Delta.Metadata
		m.Schema, m.PartitionColumns = string(text), now.logical(d.columns)
		m.Configuration = maps.Clone(m.Configuration)
		d.metadata = &m
	} else {
		t.newDelta(d, string(text), mode)
	}
	if mode != "" {
		d.metadata.Configuration[maxColumnID] = strconv.Itoa(last)
	}
	return d, nil
}

// evolve adds the columns that s lacks, of the source and of added. older says that s has rows already, which have NULL there.
func (s *deltaSchema) evolve(source, added []deltaField, older bool) (changed bool, err error) {
	for i, f := range slices.Concat(source, added) {
		have := s.find(&f)
		switch {
		case have == nil && s.called(f.Name) != nil:
			return false, fmt.Errorf("%w: it has another column %s already; --prefix gives the added columns other names", ErrTable, f.Name)
		case have == nil:
			f.Nullable = f.Nullable || older
			s.Fields = append(s.Fields, f)
			changed = true
		case !have.alike(&f):
			return false, fmt.Errorf("%w: column %s is %s, and the rows have %s of %s; --prefix gives the added columns other names", ErrTable, have.Name, textOf(have.Type), f.Name, textOf(f.Type))
		case have.Name != f.Name && i < len(source): // the input has renamed it
			if s.called(f.Name) != nil {
				return false, fmt.Errorf("%w: the input calls column %s %s now, and it has another one of this name. Write to a new folder", ErrTable, have.Name, f.Name)
			}
			have.Name, changed = f.Name, true
		}
	}
	return changed, nil
}

// newDelta describes a new table like the source.
func (t *Table) newDelta(d *deltaTable, schema, mode string) {
	from, made := &t.o.Source.Delta.Metadata, t.o.Now().UnixMilli()
	d.metadata = &opentable.DeltaMetadata{ID: icemeta.NewUUID(), Name: from.Name, Description: from.Description, Format: opentable.DeltaForm{Provider: "parquet", Options: map[string]string{}},
		Schema: schema, PartitionColumns: append([]string{}, from.PartitionColumns...), Configuration: map[string]string{}, Created: &made}
	d.protocol = &opentable.DeltaProtocol{Reader: 1, Writer: 2}
	for _, f := range t.o.Source.Delta.Protocol.ReaderFeatures {
		if f == "timestampNtz" || strings.HasPrefix(f, "typeWidening") { // the schema may need them
			d.protocol.ReaderFeatures = append(d.protocol.ReaderFeatures, f)
		}
	}
	if mode != "" {
		d.metadata.Configuration[mappingMode] = mode
		d.protocol.ReaderFeatures = append(d.protocol.ReaderFeatures, "columnMapping")
	}
	if features := d.protocol.ReaderFeatures; features != nil {
		d.protocol.Reader, d.protocol.Writer, d.protocol.WriterFeatures = 3, 7, features
	}
}

// plainMetadata leaves out of a column's metadata how writers of the input make its values.
func plainMetadata(m map[string]any) map[string]any {
	plain := map[string]any{}
	for name, v := range m {
		if !strings.HasPrefix(name, "delta.") && !strings.HasSuffix(name, "_DEFAULT") || name == "delta.typeChanges" || name == mappedID || name == mappedName {
			plain[name] = v
		}
	}
	return plain
}

// writerFeatures are the features of Delta that ask nothing of a commit that adds and removes whole files.
var writerFeatures = []string{"appendOnly", "invariants", "checkConstraints", "generatedColumns", "identityColumns", "allowColumnDefaults", "changeDataFeed", "deletionVectors",
	"timestampNtz", "vacuumProtocolCheck", "typeWidening", "typeWidening-preview", "domainMetadata", "columnMapping", "v2Checkpoint"}

// writable refuses a table that asks more of writers than this package does. mode is the column mapping of the source.
func (t *Table) writable(mode string) error {
	d := t.base.Delta
	switch have, err := d.Metadata.Mapping(); {
	case err != nil:
		return err
	case have != mode:
		return fmt.Errorf("%w: its %s is %q, and the input's is %q. Write to a new folder", ErrTable, mappingMode, have, mode)
	}
	if d.Protocol.Writer > 7 {
		return fmt.Errorf("%w: it wants writers of version %d, and symlake writes up to 7", ErrTable, d.Protocol.Writer)
	}
	for _, f := range d.Protocol.WriterFeatures {
		if !slices.Contains(writerFeatures, f) {
			return fmt.Errorf("%w: it uses %s, which symlake does not write", ErrTable, f)
		}
	}
	for name := range d.Metadata.Configuration {
		if strings.HasPrefix(name, "delta.constraints.") {
			return fmt.Errorf("%w: it has the constraint %s, which symlake does not check", ErrTable, name)
		}
	}
	if d.Metadata.Configuration["delta.appendOnly"] == "true" && len(t.gone) > 0 {
		return fmt.Errorf("%w: delta.appendOnly is set, and files of the input that are gone must leave it", ErrTable)
	}
	for _, word := range []string{`"delta.generationExpression"`, `"delta.identity.`, `"delta.invariants"`} {
		if strings.Contains(d.Metadata.Schema, word) {
			return fmt.Errorf("%w: one of its columns has %s, which symlake does not keep", ErrTable, strings.Trim(word, `".`))
		}
	}
	return nil
}

// deltaFields describes columns for a schema of Delta.
func deltaFields(columns []pqfile.Column) (all []deltaField) {
	for _, c := range columns {
		f := deltaField{Name: c.Name, Type: "string", Nullable: true, Metadata: map[string]any{}}
		if c.Doc != "" {
			f.Metadata["comment"] = c.Doc
		}
		if c.ID != 0 {
			f.Metadata[mappedID], f.Metadata[mappedName] = c.ID, c.Name
		}
		switch {
		case c.List:
			f.Type = map[string]any{"type": "array", "containsNull": true, "elementType": deltaSchema{"struct", deltaFields(c.Fields)}}
		case c.Kind == pqfile.Integer:
			f.Type = "integer"
		}
		all = append(all, f)
	}
	return all
}

// bareType is a type without what does not change its values.
func bareType(t any) any {
	var x any
	if err := json.Unmarshal([]byte(textOf(t)), &x); err != nil {
		return t
	}
	var bare func(x any) any
	bare = func(x any) any {
		switch v := x.(type) {
		case map[string]any:
			for _, name := range []string{"nullable", "metadata", "containsNull", "valueContainsNull"} {
				delete(v, name)
			}
			for name := range v {
				v[name] = bare(v[name])
			}
		case []any:
			for i := range v {
				v[i] = bare(v[i])
			}
		}
		return x
	}
	return bare(x)
}

func textOf(t any) string {
	text, err := json.Marshal(t)
	if err != nil {
		return fmt.Sprint(t)
	}
	return string(text)
}

// deltaAdd and deltaRemove are actions of a commit.
type deltaAdd struct {
	Path       string             `json:"path"`
	Partition  map[string]*string `json:"partitionValues"`
	Size       int64              `json:"size"`
	Modified   int64              `json:"modificationTime"`
	DataChange bool               `json:"dataChange"`
	Stats      string             `json:"stats"`
}

type deltaRemove struct {
	Path       string             `json:"path"`
	Deleted    int64              `json:"deletionTimestamp"`
	DataChange bool               `json:"dataChange"`
	Extended   bool               `json:"extendedFileMetadata"`
	Partition  map[string]*string `json:"partitionValues"`
	Size       int64              `json:"size"`
}

// commitDelta writes the next version of the log. bucket.ErrChanged: another writer has written it.
func (t *Table) commitDelta(ctx context.Context, d *deltaTable, files []measured) (int64, error) {
	version, now := int64(0), t.o.Now().UnixMilli()
	if t.base != nil {
		version = t.base.Version + 1
	}
	rows := int64(0)
	for i := range files {
		rows += files[i].Rows
	}
	mode := "Append"
	if len(t.gone) > 0 {
		mode = "Overwrite"
	}
	actions := []map[string]any{{"commitInfo": map[string]any{"timestamp": now, "operation": "WRITE", "operationParameters": map[string]string{"mode": mode}, "engineInfo": "symlake",
		"userMetadata": fmt.Sprintf("symlake run %s, version %d of %s", t.o.Run, t.o.Source.Version, t.o.From.URL("")), "isBlindAppend": len(t.gone) == 0,
		"operationMetrics": map[string]string{"numFiles": fmt.Sprint(len(files)), "numOutputRows": fmt.Sprint(rows)}}}}
	if d.protocol != nil {
		actions = append(actions, map[string]any{"protocol": d.protocol})
	}
	if d.metadata != nil {
		actions = append(actions, map[string]any{"metaData": d.metadata})
	}
	actions = append(actions, map[string]any{"txn": map[string]any{"appId": t.app(), "version": t.o.Source.Version, "lastUpdated": now}})
	if t.base != nil {
		for i := range t.base.Files {
			f := &t.base.Files[i]
			if !t.gone[f.Key] {
				continue
			}
			e, _, err := t.o.Bucket.Stat(ctx, f.Key)
			if err != nil {
				return 0, fmt.Errorf("a file that leaves the table: %w", err)
			}
			actions = append(actions, map[string]any{"remove": deltaRemove{escape(f.Key), now, true, true, partitionValues(d.columns, f), e.Size}})
		}
	}
	for i := range files {
		f := &files[i]
		stats := f.Stats
		if stats == "" || f.Deleted() != "" {
			stats = fmt.Sprintf(`{"numRecords":%d}`, f.Rows)
		}
		actions = append(actions, map[string]any{"add": deltaAdd{escape(f.To), partitionValues(d.columns, &f.File.File), f.size, f.modified.UnixMilli(), true, stats}})
	}
	var log bytes.Buffer
	lines := json.NewEncoder(&log)
	for _, a := range actions {
		if err := lines.Encode(a); err != nil {
			return 0, err
		}
	}
	return version, t.o.Bucket.Create(ctx, opentable.DeltaVersionKey(version), "", &log)
}

// partitionValues returns the values of a file for all columns of partitions; nil is NULL.
func partitionValues(columns []string, f *opentable.File) map[string]*string {
	values, have := map[string]*string{}, f.Values
	if f.Physical != nil {
		have = f.Physical
	}
	for _, name := range columns {
		values[name] = nil
		if v := have[name]; v != "" {
			values[name] = &v
		}
	}
	return values
}

// escape encodes a key as the log has paths.
func escape(key string) string { return (&url.URL{Path: key}).EscapedPath() }
