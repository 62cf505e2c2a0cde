package opentable

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks/bucket"
	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// part is a file of a checkpoint.
type part struct {
	key string
	set string // of the parts of one checkpoint
	of  int    // how many there are
}

// partOf reads the name of a file of a checkpoint, behind its version. checkpoint.parquet, checkpoint.UUID.parquet and
// checkpoint.UUID.json are whole checkpoints, and checkpoint.N.M.parquet is a part of one.
func partOf(key, name string) (part, bool) {
	words := strings.Split(name, ".")
	form := words[len(words)-1]
	switch len(words) {
	case 2:
		return part{key, name, 1}, form == "parquet"
	case 3:
		return part{key, name, 1}, form == "parquet" || form == "json"
	case 4:
		n, err := strconv.Atoi(words[2])
		return part{key, words[2], n}, form == "parquet" && err == nil && n > 0
	}
	return part{}, false
}

// wholeCheckpoint returns the files of a checkpoint that has all of its parts; nil: there is none.
func wholeCheckpoint(all []part) []string {
	sets := map[string][]string{}
	for _, p := range all {
		if sets[p.set] = append(sets[p.set], p.key); len(sets[p.set]) == p.of {
			return sets[p.set]
		}
	}
	return nil
}

// checkpoint reads a part of a checkpoint, and the files with more actions that it names.
func (s *deltaState) checkpoint(ctx context.Context, b bucket.Bucket, key string) error {
	s.sidecars = nil
	if strings.HasSuffix(key, ".json") {
		text, err := Read(ctx, b, key)
		if err == nil {
			err = s.commit(text)
		}
		if err != nil {
			return err
		}
	} else if err := s.part(ctx, b, key); err != nil {
		return err
	}
	for _, path := range s.sidecars {
		name, err := unescape(path)
		if err != nil {
			return err
		}
		name = name[strings.LastIndexByte(name, '/')+1:] // they all lie in one folder
		if err := s.part(ctx, b, deltaLog+"_sidecars/"+name); err != nil {
			return fmt.Errorf("its sidecar %s: %w", name, err)
		}
	}
	return nil
}

// part reads the actions in a file of Parquet.
func (s *deltaState) part(ctx context.Context, b bucket.Bucket, key string) error {
	f, done, err := openRows(ctx, b, key)
	if err != nil {
		return err
	}
	defer done()
	paths := []string{"add.path", "add.stats", "txn.appId", "txn.version", "metaData.name", "metaData.description", "metaData.format.provider", "metaData.format.options.key_value.key",
		"metaData.format.options.key_value.value", "metaData.schemaString", "metaData.createdTime", "protocol.minWriterVersion", "protocol.writerFeatures", "add.partitionValues.key_value.key", "add.partitionValues.key_value.value", "add.deletionVector.storageType", "add.deletionVector.pathOrInlineDv", "add.deletionVector.offset",
		"add.deletionVector.sizeInBytes", "add.deletionVector.cardinality",
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
	_, adds := at["add.path"]
	if _, names := at["sidecar.path"]; !adds && !names {
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
		if path := text("sidecar.path", i); path != "" {
			s.sidecars = append(s.sidecars, path)
		}
		if path := text("add.path", i); path != "" {
			f := File{Values: pairs("add.partitionValues", i), Stats: text("add.stats", i)}
			s.add(path, f, vectorAt(text, number, i))
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

// vectorAt returns the deletion vector in row i of a checkpoint; nil: there is none.
func vectorAt(text func(path string, i int) string, number func(path string, i int) *int64, i int) *deltaVector {
	storage := text("add.deletionVector.storageType", i)
	if storage == "" {
		return nil
	}
	v := &deltaVector{Storage: storage, Path: text("add.deletionVector.pathOrInlineDv", i), Offset: number("add.deletionVector.offset", i)}
	for to, path := range map[*int64]string{&v.Bytes: "add.deletionVector.sizeInBytes", &v.Rows: "add.deletionVector.cardinality"} {
		if n := number(path, i); n != nil {
			*to = *n
		}
	}
	return v
}
