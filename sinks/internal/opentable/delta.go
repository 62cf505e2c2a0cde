package opentable

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

const deltaLog = "_delta_log/"

// DeltaVersionKey returns the key of a version of a Delta table's log.
func DeltaVersionKey(version int64) string { return fmt.Sprintf("%s%020d.json", deltaLog, version) }

// Delta is what only Delta has.
type Delta struct {
	Protocol DeltaProtocol
	Metadata DeltaMetadata
	Versions map[string]int64 // that applications noted, by their ids
}

// DeltaProtocol says what readers and writers must know. It is an action of the log.
type DeltaProtocol struct {
	Reader         int64    `json:"minReaderVersion"`
	Writer         int64    `json:"minWriterVersion"`
	ReaderFeatures []string `json:"readerFeatures,omitempty"`
	WriterFeatures []string `json:"writerFeatures,omitempty"`
}

// DeltaMetadata describes a table. It is an action of the log.
type DeltaMetadata struct {
	ID               string            `json:"id"`
	Name             *string           `json:"name,omitempty"`
	Description      *string           `json:"description,omitempty"`
	Format           DeltaForm         `json:"format"`
	Schema           string            `json:"schemaString"`
	PartitionColumns []string          `json:"partitionColumns"`
	Configuration    map[string]string `json:"configuration"`
	Created          *int64            `json:"createdTime,omitempty"`
}

// DeltaForm is the form of data files.
type DeltaForm struct {
	Provider string            `json:"provider"`
	Options  map[string]string `json:"options"`
}

// deltaState is what actions of a log add up to.
type deltaState struct {
	files map[string]File // by the path in the log
	known bool            // there is metadata
	whole bool            // what the log says of rows is kept
	Delta
}

// openDelta reads the log of a Delta table.
func openDelta(ctx context.Context, b bucket.Bucket, version int64, whole bool) (*Table, error) {
	commits := map[int64]bool{}
	checkpoints := map[int64][]string{} // parts by version
	newest := int64(-1)
	err := b.List(ctx, deltaLog, "", func(e bucket.Entry) error {
		name := strings.TrimPrefix(e.Key, deltaLog)
		digits, rest, _ := strings.Cut(name, ".")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || len(digits) != 20 {
			return nil
		}
		switch {
		case rest == "json":
			commits[n] = true
			newest = max(newest, n)
		case strings.HasPrefix(rest, "checkpoint.") && strings.HasSuffix(rest, "parquet"):
			checkpoints[n] = append(checkpoints[n], e.Key)
			newest = max(newest, n)
		}
		return nil
	})
	if err != nil || newest < 0 {
		return nil, err
	}
	if version == Newest {
		version = newest
	}
	if version > newest {
		return nil, fmt.Errorf("%w: its newest version is %d, not %d", ErrTable, newest, version)
	}
	s := newDelta()
	s.whole = whole
	from := int64(0)
	for n, parts := range checkpoints {
		if n <= version && n >= from && wholeCheckpoint(parts) {
			from = n + 1
		}
	}
	if from > 0 {
		for _, key := range checkpoints[from-1] {
			if err := s.checkpoint(ctx, b, key); err != nil {
				return nil, fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	for n := from; n <= version; n++ {
		key := DeltaVersionKey(n)
		if !commits[n] {
			return nil, fmt.Errorf("%w: its log lacks %s, so version %d is not there any more", ErrTable, key, version)
		}
		text, err := Read(ctx, b, key)
		if err != nil {
			return nil, err
		}
		if err := s.commit(text); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return s.table(b, version)
}

// wholeCheckpoint reports whether all parts of a checkpoint are there: one file, or as many as the names say.
func wholeCheckpoint(parts []string) bool {
	name := strings.Split(parts[0], ".")
	if len(name) == 3 {
		return true
	}
	n, err := strconv.Atoi(name[len(name)-2])
	return len(name) == 5 && err == nil && n == len(parts)
}

// deltaAction is a line of a commit.
type deltaAction struct {
	Add *struct {
		Path            string             `json:"path"`
		PartitionValues map[string]*string `json:"partitionValues"`
		DeletionVector  json.RawMessage    `json:"deletionVector"`
		Stats           string             `json:"stats"`
	} `json:"add"`
	Remove *struct {
		Path string `json:"path"`
	} `json:"remove"`
	Metadata *DeltaMetadata `json:"metaData"`
	Protocol *DeltaProtocol `json:"protocol"`
	Version  *struct {
		App     string `json:"appId"`
		Version int64  `json:"version"`
	} `json:"txn"`
}

func newDelta() *deltaState {
	return &deltaState{files: map[string]File{}, Delta: Delta{Versions: map[string]int64{}}}
}

func (s *deltaState) commit(text []byte) error {
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var a deltaAction
		if err := json.Unmarshal(line, &a); err != nil {
			return fmt.Errorf("%w: a line is no action: %w", ErrTable, err)
		}
		switch {
		case a.Protocol != nil:
			if err := s.protocol(a.Protocol); err != nil {
				return err
			}
		case a.Metadata != nil:
			if err := s.metadata(a.Metadata); err != nil {
				return err
			}
		case a.Version != nil:
			s.Versions[a.Version.App] = a.Version.Version
		case a.Remove != nil:
			delete(s.files, a.Remove.Path)
		case a.Add != nil:
			values := map[string]string{}
			for name, v := range a.Add.PartitionValues {
				if v != nil {
					values[name] = *v
				}
			}
			if err := s.add(a.Add.Path, File{Values: values, Stats: a.Add.Stats}, len(a.Add.DeletionVector) > 0 && string(a.Add.DeletionVector) != "null"); err != nil {
				return err
			}
		}
	}
	return nil
}

// protocol refuses features that change how files are read.
func (s *deltaState) protocol(p *DeltaProtocol) error {
	if p.Reader > 3 {
		return fmt.Errorf("%w: it wants readers of version %d, and symlake reads up to 3", ErrTable, p.Reader)
	}
	for _, f := range p.ReaderFeatures {
		if !slices.Contains([]string{"timestampNtz", "vacuumProtocolCheck", "deletionVectors", "columnMapping", "typeWidening", "typeWidening-preview"}, f) {
			return fmt.Errorf("%w: it uses %s, which symlake does not read; write it as Parquet files with your engine", ErrTable, f)
		}
	}
	s.Protocol = *p
	return nil
}

func (s *deltaState) metadata(m *DeltaMetadata) error {
	if mapping := m.Configuration["delta.columnMapping.mode"]; mapping != "" && mapping != "none" {
		return fmt.Errorf("%w: its files have other names of columns (delta.columnMapping.mode is %s); write it as Parquet files with your engine", ErrTable, mapping)
	}
	s.Metadata, s.known = *m, true
	return nil
}

func (s *deltaState) add(path string, f File, deleted bool) error {
	if deleted {
		return fmt.Errorf("%w: rows of %s are deleted by a deletion vector, which symlake does not read; run REORG TABLE … APPLY (PURGE) first", ErrTable, path)
	}
	if !s.whole {
		f.Stats = ""
	}
	s.files[path] = f
	return nil
}

func (s *deltaState) table(b bucket.Bucket, version int64) (*Table, error) {
	if !s.known {
		return nil, fmt.Errorf("%w: its log has no metadata up to version %d", ErrTable, version)
	}
	t := &Table{Format: "delta", Version: version, ID: s.Metadata.ID, Delta: &s.Delta}
	for path, f := range s.files {
		key, err := unescape(path)
		if err != nil {
			return nil, err
		}
		if strings.Contains(key, ":/") || strings.HasPrefix(key, "/") {
			if key, err = KeyOf(b, b.URL(""), key); err != nil {
				return nil, err
			}
		}
		f.Key = key
		t.Files = append(t.Files, f)
	}
	return t, nil
}

// checkpoint reads the actions in a part of a checkpoint.
func (s *deltaState) checkpoint(ctx context.Context, b bucket.Bucket, key string) error {
	e, _, err := b.Stat(ctx, key)
	if err != nil {
		return err
	}
	r, err := b.Open(ctx, e)
	if err != nil {
		return err
	}
	defer r.Close()
	f, err := pqfile.OpenRows(ctx, r, e.Size, func() (sinks.LakeKeys, error) {
		return sinks.LakeKeys{}, fmt.Errorf("%w: a checkpoint is encrypted", ErrTable)
	})
	if err != nil {
		return err
	}
	defer f.Close()
	paths := []string{"add.path", "add.stats", "txn.appId", "txn.version", "metaData.name", "metaData.description", "metaData.format.provider", "metaData.format.options.key_value.key",
		"metaData.format.options.key_value.value", "metaData.schemaString", "metaData.createdTime", "protocol.minWriterVersion", "protocol.writerFeatures", "add.partitionValues.key_value.key", "add.partitionValues.key_value.value", "add.deletionVector.storageType",
		"metaData.partitionColumns", "metaData.configuration.key_value.key", "metaData.configuration.key_value.value", "metaData.id",
		"protocol.minReaderVersion", "protocol.readerFeatures", "sidecar.path"}
	var leaves []pqfile.Leaf
	at := map[string]int{}
	for _, l := range f.Leaves() {
		if slices.Contains(paths, l.Path) && l.Kind != pqfile.LeafOther {
			at[l.Path] = len(leaves)
			leaves = append(leaves, l)
		}
	}
	if _, ok := at["add.path"]; !ok {
		return fmt.Errorf("%w: the checkpoint has no column add.path", ErrTable)
	}
	for g := range f.Groups() {
		err := f.Scan(ctx, g, leaves, func(rows int, cells []pqfile.Cells) error {
			return s.actions(rows, func(path string) *pqfile.Cells {
				if i, ok := at[path]; ok {
					return &cells[i]
				}
				return nil
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// actions takes some rows of a checkpoint, by column.
func (s *deltaState) actions(rows int, column func(path string) *pqfile.Cells) error {
	text := func(path string, i int) string {
		c := column(path)
		if c == nil || i < len(c.Null) && c.Null[i] {
			return ""
		}
		return strings.Clone(c.Texts[i])
	}
	list := func(path string, i int) (all []string) {
		c := column(path)
		if c == nil {
			return nil
		}
		from := 0
		if i > 0 {
			from = c.Ends[i-1]
		}
		for k := from; k < c.Ends[i]; k++ {
			if k < len(c.Null) && c.Null[k] {
				all = append(all, "")
			} else {
				all = append(all, strings.Clone(c.Texts[k]))
			}
		}
		return all
	}
	number := func(path string, i int) *int64 {
		c := column(path)
		if c == nil || i < len(c.Null) && c.Null[i] {
			return nil
		}
		n := int64(c.Ints[i])
		return &n
	}
	pairs := func(path string, i int) map[string]string {
		keys, values := list(path+".key_value.key", i), list(path+".key_value.value", i)
		m := map[string]string{}
		for k := range min(len(keys), len(values)) {
			m[keys[k]] = values[k]
		}
		return m
	}
	for i := range rows {
		if text("sidecar.path", i) != "" {
			return fmt.Errorf("%w: its checkpoint has sidecars, which symlake does not read; write it as Parquet files with your engine", ErrTable)
		}
		if path := text("add.path", i); path != "" {
			f := File{Values: pairs("add.partitionValues", i), Stats: text("add.stats", i)}
			if err := s.add(path, f, text("add.deletionVector.storageType", i) != ""); err != nil {
				return err
			}
		}
		if app := text("txn.appId", i); app != "" {
			if v := number("txn.version", i); v != nil {
				s.Versions[app] = *v
			}
		}
		if id := text("metaData.id", i); id != "" {
			m := &DeltaMetadata{ID: id, Schema: text("metaData.schemaString", i), PartitionColumns: list("metaData.partitionColumns", i), Configuration: pairs("metaData.configuration", i),
				Format: DeltaForm{text("metaData.format.provider", i), pairs("metaData.format.options", i)}, Created: number("metaData.createdTime", i)}
			for to, path := range map[**string]string{&m.Name: "metaData.name", &m.Description: "metaData.description"} {
				if v := text(path, i); v != "" {
					*to = &v
				}
			}
			if err := s.metadata(m); err != nil {
				return err
			}
		}
		if reader := number("protocol.minReaderVersion", i); reader != nil {
			p := &DeltaProtocol{Reader: *reader, ReaderFeatures: list("protocol.readerFeatures", i), WriterFeatures: list("protocol.writerFeatures", i)}
			if writer := number("protocol.minWriterVersion", i); writer != nil {
				p.Writer = *writer
			}
			if err := s.protocol(p); err != nil {
				return err
			}
		}
	}
	return nil
}
