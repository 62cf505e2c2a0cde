package iceberg

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
)

// maxManifest bounds the bytes of a manifest or of a list of manifests.
const maxManifest = 256 << 20

// manifest is a manifest of a snapshot with its entries.
type manifest struct {
	listed
	entries []entry
	changed bool // it must be written
}

// alive returns how many entries count.
func (m *manifest) alive() (n int) {
	for i := range m.entries {
		if m.entries[i].Status != deleted {
			n++
		}
	}
	return n
}

// read reads an object of at most limit bytes.
func read(ctx context.Context, b bucket.Bucket, key string, limit int64) ([]byte, error) {
	e, _, err := b.Stat(ctx, key)
	if err != nil {
		return nil, err
	}
	if e.Size > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", b.URL(key), e.Size, limit)
	}
	r, err := b.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	text := make([]byte, e.Size)
	_, err = io.ReadFull(io.NewSectionReader(r, 0, e.Size), text)
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return text, err
}

// manifests reads the manifests of a snapshot, the oldest first, without the entries that it removed. nil has none.
func (t *Tables) manifests(ctx context.Context, s *snapshot) ([]*manifest, error) {
	if s == nil {
		return nil, nil
	}
	var rows []listed
	if err := t.avro(ctx, s.List, func(text []byte) (err error) {
		rows, err = readAvro[listed](lists(), text)
		return err
	}); err != nil {
		return nil, err
	}
	var all []*manifest
	for _, r := range rows {
		m := &manifest{listed: r}
		if err := t.avro(ctx, r.Path, func(text []byte) (err error) {
			m.entries, err = readAvro[entry](entries(), text)
			return err
		}); err != nil {
			return nil, err
		}
		m.entries = slices.DeleteFunc(m.entries, func(e entry) bool { return e.Status == deleted })
		for i := range m.entries {
			e := &m.entries[i]
			if e.Snapshot == nil {
				e.Snapshot = &m.Snapshot
			}
			if e.Sequence == nil {
				e.Sequence = &m.Sequence
			}
			if e.FileSequence == nil {
				e.FileSequence = &m.Sequence
			}
			e.Status = existing
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b *manifest) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return all, nil
}

// avro reads a file by its location.
func (t *Tables) avro(ctx context.Context, location string, take func([]byte) error) error {
	key, ok := t.key(location)
	if !ok {
		return fmt.Errorf("%s is outside the lake at %s", location, t.at)
	}
	text, err := read(ctx, t.o.Bucket, key, maxManifest)
	if err != nil {
		return fmt.Errorf("read %s: %w", location, err)
	}
	if err := take(text); err != nil {
		return fmt.Errorf("read %s: %w", location, err)
	}
	return nil
}

// put writes a new file of metadata and returns its location and key.
func (t *Tables) put(ctx context.Context, table, kind string, text []byte) (location, key string, err error) {
	key = t.folder(table) + "metadata/" + ownPrefix + kind + "-" + strings.ToLower(rand.Text()) + ".avro"
	if err := t.o.Bucket.Create(ctx, key, "", bytes.NewReader(text)); err != nil {
		return "", "", fmt.Errorf("write %s: %w", t.location(key), err)
	}
	return t.location(key), key, nil
}

// write writes the manifests that changed, and the list of all, for a snapshot. It returns the location of the list, and the
// keys of the new files.
func (t *Tables) write(ctx context.Context, s *shape, schemaID int, id, sequence int64, all []*manifest) (list string, keys []string, err error) {
	var rows []listed
	for _, m := range all {
		if m.changed {
			key, err := t.writeManifest(ctx, s, schemaID, id, sequence, m)
			if err != nil {
				return "", keys, err
			}
			keys = append(keys, key)
		}
		rows = append(rows, m.listed)
	}
	text, err := writeAvro(lists(), map[string][]byte{"format-version": []byte("2"), "snapshot-id": []byte(strconv.FormatInt(id, 10)),
		"sequence-number": []byte(strconv.FormatInt(sequence, 10))}, rows)
	if err != nil {
		return "", keys, fmt.Errorf("encode the list of manifests: %w", err)
	}
	list, key, err := t.put(ctx, s.table.Name, "list", text)
	return list, append(keys, key), err
}

func (t *Tables) writeManifest(ctx context.Context, s *shape, schemaID int, id, sequence int64, m *manifest) (key string, err error) {
	plain := s.schema.plain()
	plain.ID = &schemaID
	schemaText, err := json.Marshal(plain)
	if err != nil {
		return "", err
	}
	specText, err := json.Marshal(s.spec().Fields)
	if err != nil {
		return "", err
	}
	content := "data"
	if m.Content == contentDeletes {
		content = "deletes"
	}
	text, err := writeAvro(entries(), map[string][]byte{"schema": schemaText, "schema-id": strconv.AppendInt(nil, int64(schemaID), 10), "partition-spec": specText,
		"partition-spec-id": []byte("0"), "format-version": []byte("2"), "content": []byte(content)}, m.entries)
	if err != nil {
		return "", fmt.Errorf("encode a manifest: %w", err)
	}
	l := listed{Content: m.Content, Bytes: int64(len(text)), Sequence: sequence, MinSequence: sequence, Snapshot: id}
	if l.Path, key, err = t.put(ctx, s.table.Name, "manifest", text); err != nil {
		return "", err
	}
	l.Partitions = make([]summary, 2)
	for i := range m.entries {
		e := &m.entries[i]
		switch e.Status {
		case added:
			l.Added++
			l.AddedRows += e.File.Rows
		case existing:
			l.Existing++
			l.ExistingRows += e.File.Rows
		default:
			l.Deleted++
			l.DeletedRows += e.File.Rows
		}
		if e.Sequence != nil && e.Status != deleted {
			l.MinSequence = min(l.MinSequence, *e.Sequence)
		}
		l.Partitions[0].add(e.File.Partition.kind(), bytes.Compare)
		l.Partitions[1].add(e.File.Partition.day(), compareInts)
	}
	m.listed, m.changed = l, false
	return key, nil
}

// add widens the bounds by a value; nil is null.
func (s *summary) add(v []byte, compare func(a, b []byte) int) {
	switch {
	case v == nil:
		s.Null = true
		return
	case s.Low == nil:
		s.Low, s.High = v, v
	}
	if compare(v, s.Low) < 0 {
		s.Low = v
	}
	if compare(v, s.High) > 0 {
		s.High = v
	}
}

func compareInts(a, b []byte) int {
	return cmp.Compare(int32(binary.LittleEndian.Uint32(a)), int32(binary.LittleEndian.Uint32(b)))
}

func (p *partition) kind() []byte {
	if p.Kind == nil {
		return nil
	}
	return []byte(*p.Kind)
}

func (p *partition) day() []byte {
	if p.Day == nil {
		return nil
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(*p.Day))
}

// newPartition returns the partition of a kind and a day.
func newPartition(kind, day string) (partition, error) {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return partition{}, fmt.Errorf("partition day=%s: %w", day, err)
	}
	n := int32(at.Unix() / (24 * 60 * 60))
	return partition{&kind, &n}, nil
}

// merge joins manifests of one content, the oldest first: two neighbors become one while the younger one has at least half as
// many entries. So there are few manifests, and an entry is written again only while the table doubles.
func merge(all []*manifest) []*manifest {
	var out []*manifest
	for _, m := range all {
		if len(m.entries) == 0 {
			continue
		}
		out = append(out, m)
		for len(out) > 1 && out[len(out)-2].alive() <= 2*out[len(out)-1].alive() {
			a, b := out[len(out)-2], out[len(out)-1]
			joined := &manifest{listed: listed{Content: a.Content, Sequence: b.Sequence}, changed: true}
			joined.entries = append(slices.Clone(a.entries), b.entries...)
			out = append(out[:len(out)-2], joined)
		}
	}
	return out
}
