package opentable

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
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

// deltaFile is a file of the log.
type deltaFile struct {
	File
	path   string // in the log
	vector *deltaVector
}

// deltaState is what actions of a log add up to.
type deltaState struct {
	files map[string]deltaFile // by fileID
	known bool                 // there is metadata
	whole bool                 // what the log says of rows is kept
	// sidecars are files with more of a checkpoint, as it names them.
	sidecars []string
	Delta
}

// openDelta reads the log of a Delta table.
func openDelta(ctx context.Context, b bucket.Bucket, version int64, whole bool) (*Table, error) {
	commits := map[int64]bool{}
	checkpoints := map[int64][]part{}
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
		case strings.HasPrefix(rest, "checkpoint."):
			if p, ok := partOf(e.Key, rest); ok {
				checkpoints[n] = append(checkpoints[n], p)
				newest = max(newest, n)
			}
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
	var parts []string
	for n, all := range checkpoints {
		if n > version || n < from {
			continue
		}
		if whole := wholeCheckpoint(all); whole != nil {
			from, parts = n+1, whole
		}
	}
	for _, key := range parts {
		if err := s.checkpoint(ctx, b, key); err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
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
	return s.table(ctx, b, version)
}

// deltaAction is a line of a commit.
type deltaAction struct {
	Add *struct {
		Path            string             `json:"path"`
		PartitionValues map[string]*string `json:"partitionValues"`
		DeletionVector  *deltaVector       `json:"deletionVector"`
		Stats           string             `json:"stats"`
	} `json:"add"`
	Remove *struct {
		Path           string       `json:"path"`
		DeletionVector *deltaVector `json:"deletionVector"`
	} `json:"remove"`
	Sidecar *struct {
		Path string `json:"path"`
	} `json:"sidecar"`
	Metadata *DeltaMetadata `json:"metaData"`
	Protocol *DeltaProtocol `json:"protocol"`
	Version  *struct {
		App     string `json:"appId"`
		Version int64  `json:"version"`
	} `json:"txn"`
}

func newDelta() *deltaState {
	return &deltaState{files: map[string]deltaFile{}, Delta: Delta{Versions: map[string]int64{}}}
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
		case a.Sidecar != nil:
			s.sidecars = append(s.sidecars, a.Sidecar.Path)
		case a.Version != nil:
			s.Versions[a.Version.App] = a.Version.Version
		case a.Remove != nil:
			delete(s.files, fileID(a.Remove.Path, a.Remove.DeletionVector))
		case a.Add != nil:
			values := map[string]string{}
			for name, v := range a.Add.PartitionValues {
				if v != nil {
					values[name] = *v
				}
			}
			s.add(a.Add.Path, File{Values: values, Stats: a.Add.Stats}, a.Add.DeletionVector)
		}
	}
	return nil
}

// readerFeatures are the features of Delta that are read, or that ask nothing of readers.
var readerFeatures = []string{"timestampNtz", "vacuumProtocolCheck", "deletionVectors", "columnMapping", "typeWidening", "typeWidening-preview", "v2Checkpoint"}

// protocol refuses features that change how files are read.
func (s *deltaState) protocol(p *DeltaProtocol) error {
	if p.Reader > 3 {
		return fmt.Errorf("%w: it wants readers of version %d, and symlake reads up to 3", ErrTable, p.Reader)
	}
	for _, f := range p.ReaderFeatures {
		if !slices.Contains(readerFeatures, f) {
			return fmt.Errorf("%w: it uses %s, which symlake does not read; write it as Parquet files with your engine", ErrTable, f)
		}
	}
	s.Protocol = *p
	return nil
}

func (s *deltaState) metadata(m *DeltaMetadata) error {
	if _, err := m.Mapping(); err != nil {
		return err
	}
	s.Metadata, s.known = *m, true
	return nil
}

func (s *deltaState) add(path string, f File, v *deltaVector) {
	if !s.whole {
		f.Stats = ""
	}
	s.files[fileID(path, v)] = deltaFile{f, path, v}
}

func (s *deltaState) table(ctx context.Context, b bucket.Bucket, version int64) (*Table, error) {
	if !s.known {
		return nil, fmt.Errorf("%w: its log has no metadata up to version %d", ErrTable, version)
	}
	t := &Table{Format: "delta", Version: version, ID: s.Metadata.ID, Delta: &s.Delta}
	mapped, err := s.Metadata.mapped()
	if err != nil {
		return nil, err
	}
	if mapped != nil {
		t.Names = mapped.names
	}
	for _, f := range s.files {
		var err error
		if f.Key, err = deltaKey(b, f.path); err != nil {
			return nil, err
		}
		if f.vector != nil {
			if f.Gone, err = f.vector.read(ctx, b); err != nil {
				return nil, fmt.Errorf("deleted rows of %s: %w", f.path, err)
			}
		}
		if mapped != nil {
			f.Values, f.Physical = mapped.partition(f.Values), f.Values
		}
		t.Files = append(t.Files, f.File)
	}
	return t, nil
}

// deltaKey returns the key of a path of the log.
func deltaKey(b bucket.Bucket, path string) (string, error) {
	key, err := unescape(path)
	if err == nil && (strings.Contains(key, ":/") || strings.HasPrefix(key, "/")) {
		key, err = KeyOf(b, b.URL(""), key)
	}
	return key, err
}
