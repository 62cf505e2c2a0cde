package snapshots

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks/internal/avro"
	"github.com/symlake/symlake/sinks/internal/icemeta"
	"github.com/symlake/symlake/sinks/internal/opentable"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// Values of status in entries of manifests, and of content.
const (
	existing int64 = iota
	added
	deleted

	contentData int64 = 0
)

// noPartition is the type of a partition without fields.
const noPartition = `{"type":"record","name":"r102","fields":[]}`

// manifests fills the list of the snapshot: manifests that there are, without the files that go, and new ones.
func (p *plan) manifests(ctx context.Context, files []measured) error {
	specs, err := specs(p.x.Metadata)
	if err != nil {
		return err
	}
	if err := p.old(ctx, specs); err != nil {
		return err
	}
	type group struct {
		spec      int64
		partition string
	}
	fresh := map[group][]map[string]any{}
	var order []group
	for i := range files {
		f := &files[i]
		g := group{f.Spec, f.Partition}
		if g.partition == "" {
			g.partition = noPartition
		}
		file, err := p.file(f)
		if err != nil {
			return err
		}
		if fresh[g] == nil {
			order = append(order, g)
		}
		fresh[g] = append(fresh[g], map[string]any{"status": added, "snapshot_id": p.snapshot.ID, "data_file": file})
		p.added++
		p.addedRows += f.Rows
		p.addedBytes += f.size
	}
	for _, g := range order {
		if err := p.manifest(ctx, g.spec, specs[g.spec], g.partition, fresh[g], nil); err != nil {
			return err
		}
	}
	return nil
}

// file describes a new data file: what the source says of its file's rows stays true.
func (p *plan) file(f *measured) (map[string]any, error) {
	if f.Entry["key_metadata"] != nil {
		return nil, fmt.Errorf("%w: %s is encrypted", ErrTable, f.Key)
	}
	e := maps.Clone(f.Entry)
	e["content"], e["file_path"], e["file_format"] = contentData, p.t.location()+"/"+f.To, "PARQUET"
	e["record_count"], e["file_size_in_bytes"] = f.Rows, f.size
	if f.Deleted() != "" { // they count rows that are gone
		e["value_counts"], e["null_value_counts"], e["nan_value_counts"] = nil, nil, nil
	}
	values, nulls := pairs(e["value_counts"]), pairs(e["null_value_counts"])
	sizes := []any{}
	ids := idsOf(p.t.added)
	for _, c := range f.Columns {
		id, ok := ids[c.Path]
		if !ok {
			continue
		}
		sizes = append(sizes, map[string]any{"key": id, "value": c.Bytes})
		if c.Values == f.Rows {
			values = append(values, map[string]any{"key": id, "value": c.Values})
			nulls = append(nulls, map[string]any{"key": id, "value": c.Nulls})
		}
	}
	splits := []any{}
	for _, at := range f.Splits {
		splits = append(splits, at)
	}
	e["value_counts"], e["null_value_counts"], e["split_offsets"] = values, nulls, splits
	e["column_sizes"] = append(without(pairs(e["column_sizes"]), ids), sizes...)
	e["equality_ids"], e["referenced_data_file"] = nil, nil
	return e, nil
}

// pairs returns a map of a manifest, which Avro has as an array.
func pairs(v any) []any {
	all, _ := v.([]any)
	return slices.Clone(all)
}

// without leaves out the pairs of some keys.
func without(all []any, ids map[string]int64) []any {
	return slices.DeleteFunc(all, func(v any) bool {
		pair, _ := v.(map[string]any)
		for _, id := range ids {
			if pair["key"] == id {
				return true
			}
		}
		return false
	})
}

// idsOf returns the ids of columns outside lists, by name.
func idsOf(t *pqfile.Table) map[string]int64 {
	ids := map[string]int64{}
	for _, c := range t.Columns {
		if !c.List {
			ids[c.Name] = int64(c.ID)
		}
	}
	return ids
}

// manifest writes a manifest and lists it. old is the record of the manifest that it replaces; nil: it is new.
func (p *plan) manifest(ctx context.Context, spec int64, fields []byte, partition string, entries []map[string]any, old map[string]any) error {
	content := contentData
	partitions := any(nil)
	if old != nil {
		content, partitions = number(old, "content"), old["partitions"]
	}
	name := "data"
	if content != contentData {
		name = "deletes"
	}
	schema := icemeta.EntrySchema(partition)
	location, size, err := p.put(ctx, "manifest", schema, map[string]string{"schema": string(p.x.schema), "schema-id": strconv.Itoa(p.x.schemaID), "partition-spec": string(fields),
		"partition-spec-id": strconv.FormatInt(spec, 10), "format-version": "2", "content": name}, entries)
	if err != nil {
		return err
	}
	r := map[string]any{"manifest_path": location, "manifest_length": size, "partition_spec_id": spec, "content": content, "sequence_number": p.snapshot.Sequence,
		"added_snapshot_id": p.snapshot.ID, "partitions": partitions}
	least := p.snapshot.Sequence
	counts := map[int64][2]int64{}
	for _, e := range entries {
		status := number(e, "status")
		file, _ := e["data_file"].(map[string]any)
		c := counts[status]
		counts[status] = [2]int64{c[0] + 1, c[1] + number(file, "record_count")}
		if n, ok := e["sequence_number"].(int64); ok && status != deleted {
			least = min(least, n)
		}
	}
	r["min_sequence_number"] = least
	for status, name := range []string{"existing", "added", "deleted"} {
		r[name+"_files_count"], r[name+"_rows_count"] = counts[int64(status)][0], counts[int64(status)][1]
	}
	p.list = append(p.list, r)
	return nil
}

func number(r map[string]any, field string) int64 {
	n, _ := r[field].(int64)
	return n
}

// old lists the manifests of the snapshot before. It writes those anew that have files which go.
func (p *plan) old(ctx context.Context, specs map[int64]jsonText) error {
	if p.t.base == nil || p.t.base.Iceberg.List == "" {
		return nil
	}
	text, err := opentable.Read(ctx, p.t.o.Bucket, p.t.base.Iceberg.List)
	if err != nil {
		return err
	}
	f, err := avro.Open(text)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrTable, p.t.base.Iceberg.List, err)
	}
	var rows []map[string]any
	if err := f.Each(func(r map[string]any) error { rows = append(rows, r); return nil }); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrTable, p.t.base.Iceberg.List, err)
	}
	for _, r := range rows {
		if err := complete(r); err != nil {
			return err
		}
		if len(p.t.gone) > 0 && number(r, "content") == contentData {
			rewritten, err := p.rewrite(ctx, r, specs)
			if err != nil {
				return err
			}
			if rewritten {
				continue
			}
		}
		p.list = append(p.list, r)
	}
	return nil
}

// complete gives a record of a list the fields of version 2: older writers call some by other names, or leave them out.
func complete(r map[string]any) error {
	path, _ := r["manifest_path"].(string)
	if r["key_metadata"] != nil {
		return fmt.Errorf("%w: its manifest %s is encrypted", ErrTable, path)
	}
	for _, name := range []string{"added", "existing", "deleted"} {
		if v, ok := r[name+"_data_files_count"]; ok && r[name+"_files_count"] == nil {
			r[name+"_files_count"] = v
		}
		for _, field := range []string{name + "_files_count", name + "_rows_count"} {
			if r[field] == nil {
				return fmt.Errorf("%w: the list of manifests does not say %s of %s: rewrite its manifests", ErrTable, field, path)
			}
		}
	}
	for _, field := range []string{"content", "sequence_number", "min_sequence_number"} { // version 1 has none
		if r[field] == nil {
			r[field] = int64(0)
		}
	}
	return nil
}

// rewrite writes a manifest again if it has files that go, with these marked as deleted.
func (p *plan) rewrite(ctx context.Context, r map[string]any, specs map[int64]jsonText) (bool, error) {
	path, _ := r["manifest_path"].(string)
	location := p.t.base.Iceberg.Location
	key, err := opentable.KeyOf(p.t.o.Bucket, location, path)
	if err != nil {
		return false, err
	}
	text, err := opentable.Read(ctx, p.t.o.Bucket, key)
	if err != nil {
		return false, err
	}
	f, err := avro.Open(text)
	if err != nil {
		return false, fmt.Errorf("%w: %s: %w", ErrTable, path, err)
	}
	var entries []map[string]any
	found := false
	err = f.Each(func(e map[string]any) error {
		if number(e, "status") == deleted {
			return nil // of an earlier snapshot
		}
		for field, inherited := range map[string]any{"snapshot_id": r["added_snapshot_id"], "sequence_number": r["sequence_number"], "file_sequence_number": r["sequence_number"]} {
			if e[field] == nil {
				e[field] = inherited
			}
		}
		e["status"] = existing
		file, _ := e["data_file"].(map[string]any)
		if file["content"] == nil { // version 1
			file["content"] = contentData
		}
		path, _ := file["file_path"].(string)
		key, err := opentable.KeyOf(p.t.o.Bucket, location, path)
		if err != nil {
			return err
		}
		if p.t.gone[key] {
			found = true
			e["status"], e["snapshot_id"] = deleted, p.snapshot.ID
			p.removed++
			p.removedRows += number(file, "record_count")
			p.removedBytes += number(file, "file_size_in_bytes")
		}
		entries = append(entries, e)
		return nil
	})
	if err != nil || !found {
		return false, err
	}
	spec := number(r, "partition_spec_id")
	partition := strings.TrimSpace(f.Schema.Field("data_file", "partition"))
	return true, p.manifest(ctx, spec, specs[spec], partition, entries, r)
}
