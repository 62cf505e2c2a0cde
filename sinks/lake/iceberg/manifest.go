package iceberg

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/symlake/symlake/sinks/bucket"
)

// maxManifest bounds the bytes of a manifest or of a list of manifests.
const maxManifest = 256 << 20

// manifest is a manifest of a snapshot.
type manifest struct {
	listed
	entries []entry
	read    bool // entries has them
	changed bool // it must be written
}

// newManifest returns a manifest that is to be written.
func newManifest(content int32, sequence int64, entries []entry) *manifest {
	return &manifest{listed: listed{Content: content, Sequence: sequence}, entries: entries, read: true, changed: true}
}

// alive returns how many entries count.
func (m *manifest) alive() (n int) {
	if !m.read {
		return int(m.Added) + int(m.Existing)
	}
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
	return readEntry(ctx, b, e, limit)
}

// readEntry reads an object that was found, of at most limit bytes.
func readEntry(ctx context.Context, b bucket.Bucket, e bucket.Entry, limit int64) ([]byte, error) {
	if e.Size > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", b.URL(e.Key), e.Size, limit)
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

// listed reads which manifests a snapshot has, the oldest first. nil has none.
func (t *Tables) listed(ctx context.Context, s *snapshot) (all []*manifest, err error) {
	if s == nil {
		return nil, nil
	}
	err = t.avro(ctx, s.List, func(text []byte) error {
		rows, err := readAvro[listed](lists(), text)
		for _, r := range rows {
			all = append(all, &manifest{listed: r})
		}
		return err
	})
	slices.SortStableFunc(all, func(a, b *manifest) int { return cmp.Compare(a.Sequence, b.Sequence) })
	return all, err
}

// fill reads the entries of a manifest, but for removed ones.
func (t *Tables) fill(ctx context.Context, m *manifest) error {
	if m.read {
		return nil
	}
	err := t.avro(ctx, m.Path, func(text []byte) (err error) {
		m.entries, err = readAvro[entry](entries(), text)
		return err
	})
	if err != nil {
		return err
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
	m.read = true
	return nil
}

// manifests reads the manifests of a snapshot with their entries, the oldest first. nil has none.
func (t *Tables) manifests(ctx context.Context, s *snapshot) ([]*manifest, error) {
	all, err := t.listed(ctx, s)
	for _, m := range all {
		if err == nil {
			err = t.fill(ctx, m)
		}
	}
	return all, err
}

// errMissing says that a list or a manifest of a snapshot is gone: later commits have deleted it.
var errMissing = errors.New("a file of its metadata is missing")

// avro reads a file by its location.
func (t *Tables) avro(ctx context.Context, location string, take func([]byte) error) error {
	key, ok := t.key(location)
	if !ok {
		return fmt.Errorf("%s is outside the lake at %s", location, t.at)
	}
	text, err := read(ctx, t.o.Bucket, key, maxManifest)
	if errors.Is(err, bucket.ErrNotFound) {
		return fmt.Errorf("%w: %s", errMissing, location)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", location, err)
	}
	if err := take(text); err != nil {
		return fmt.Errorf("read %s: %w", location, err)
	}
	return nil
}

// put writes a new file of metadata for a commit and returns its location and key.
func (t *Tables) put(ctx context.Context, table, kind string, sequence int64, text []byte) (location, key string, err error) {
	key = t.metadataKey(table, kind, sequence)
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
	list, key, err := t.put(ctx, s.table.Name, listKind, sequence, text)
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
	if l.Path, key, err = t.put(ctx, s.table.Name, manifestKind, sequence, text); err != nil {
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
// many entries. So there are few manifests, an entry is written again only while the table doubles, and most manifests are not
// even read.
func (t *Tables) merge(ctx context.Context, all []*manifest) ([]*manifest, error) {
	var out []*manifest
	for _, m := range all {
		if m.read && len(m.entries) == 0 {
			continue
		}
		out = append(out, m)
		for len(out) > 1 && out[len(out)-2].alive() <= 2*out[len(out)-1].alive() {
			a, b := out[len(out)-2], out[len(out)-1]
			for _, x := range []*manifest{a, b} {
				if err := t.fill(ctx, x); err != nil {
					return nil, err
				}
			}
			joined := newManifest(a.Content, b.Sequence, append(slices.Clone(a.entries), b.entries...))
			out = append(out[:len(out)-2], joined)
		}
	}
	return out, nil
}
