package journal

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Format is the version of the form of entries and checkpoints. Durable.
const Format = 1

// Folders of the log in the bucket of a lake. Durable.
const (
	EntryDir      = "_log/"
	CheckpointDir = "_checkpoint/"
	PartDir       = "_state/"
)

// File is a data file. Its field names are durable.
type File struct {
	Table string `json:"table"`
	Path  string `json:"path"` // key in the bucket: TABLE/kind=KIND/day=DAY/NAME.parquet
	Rows  uint64 `json:"rows"`
	Loads int    `json:"loads"` // it has rows of
	Bytes int64  `json:"bytes"`
	Key   uint32 `json:"key,omitempty"`   // version of the master key; 0: plain
	Bound bool   `json:"bound,omitempty"` // sealed to its path: it opens under no other name
}

// Span is where the rows of a load stand in a file: they lie together.
type Span struct {
	File  string // key in the bucket; "": the load has no rows of the table
	First uint64 // number of its first row in the file, from 0
	Rows  uint64
}

// Live says which load of an artifact counts, and where its rows are.
type Live struct {
	Load     sinks.Load
	Revision sinks.LakeRevision
	Rows     Span // of ranges or classes
	Facts    Span // of artifacts
	Names    Span // of names
}

// Named is a Live with its artifact.
type Named struct {
	Artifact symbol.ID
	Live
}

// Entry is what one commit changed.
type Entry struct {
	Format  int       `json:"format"`
	Number  uint64    `json:"number"`
	Lake    string    `json:"lake"`   // random id of the lake, hex
	Before  MAC       `json:"before"` // of the entry before; zero for the first
	Made    time.Time `json:"made"`
	Profile string    `json:"profile"` // of the lake from here on
	Run     string    `json:"run,omitempty"`
	// Forgotten says that entries up to this number may be gone.
	Forgotten uint64 `json:"forgotten,omitempty"`

	Files   []File   `json:"files,omitempty"`   // that count from here on
	Retired []string `json:"retired,omitempty"` // files that count no more, and stay for readers for the grace
	Deleted []string `json:"deleted,omitempty"` // retired files that may be gone
	Live    []Named  `json:"live,omitempty"`    // in place of what counted for their artifacts
	Gone    []ID     `json:"gone,omitempty"`    // artifacts that the lake names no more
}

// ID is an artifact as JSON has it.
type ID symbol.ID

// MarshalText implements encoding.TextMarshaler.
func (i ID) MarshalText() ([]byte, error) { return []byte(symbol.ID(i).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (i *ID) UnmarshalText(b []byte) error {
	id, err := symbol.ParseID(string(b))
	*i = ID(id)
	return err
}

// namedForm is the JSON of a Named. Its field names are durable.
type namedForm struct {
	Artifact   ID     `json:"artifact"`
	Load       string `json:"load"`
	Revision   string `json:"revision"`
	File       string `json:"file"`
	FileFirst  uint64 `json:"file_first"`
	FileRows   uint64 `json:"file_rows"`
	Facts      string `json:"facts"`
	FactsFirst uint64 `json:"facts_first"`
	FactsRows  uint64 `json:"facts_rows"`
	Names      string `json:"names"`
	NamesFirst uint64 `json:"names_first"`
	NamesRows  uint64 `json:"names_rows"`
}

// MarshalJSON implements json.Marshaler.
func (n Named) MarshalJSON() ([]byte, error) {
	return json.Marshal(namedForm{ID(n.Artifact), hex.EncodeToString(n.Load[:]), hex.EncodeToString(n.Revision[:]),
		n.Rows.File, n.Rows.First, n.Rows.Rows, n.Facts.File, n.Facts.First, n.Facts.Rows, n.Names.File, n.Names.First, n.Names.Rows})
}

// UnmarshalJSON implements json.Unmarshaler.
func (n *Named) UnmarshalJSON(b []byte) error {
	var f namedForm
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	return n.take(&f)
}

func (n *Named) take(f *namedForm) error {
	n.Artifact = symbol.ID(f.Artifact)
	n.Rows, n.Facts, n.Names = Span{f.File, f.FileFirst, f.FileRows}, Span{f.Facts, f.FactsFirst, f.FactsRows}, Span{f.Names, f.NamesFirst, f.NamesRows}
	if err := errors.Join(fromHex(n.Load[:], f.Load), fromHex(n.Revision[:], f.Revision)); err != nil {
		return fmt.Errorf("artifact %s: load %q, revision %q: %w", n.Artifact, f.Load, f.Revision, err)
	}
	return nil
}

// fromHex fills to with the bytes that text prints, all of them.
func fromHex(to []byte, text string) error {
	if len(text) != hex.EncodedLen(len(to)) {
		return hex.ErrLength
	}
	_, err := hex.Decode(to, []byte(text))
	return err
}

// check returns an error for an entry of another number or of a newer version.
func (e *Entry) check(number uint64) error {
	switch {
	case e.Format != Format:
		return fmt.Errorf("its form is %d, this program knows %d: use a newer symlake", e.Format, Format)
	case e.Number != number:
		return fmt.Errorf("it holds number %d: it was put there under a name that is not its own", e.Number)
	case e.Profile != sinks.LakeSealed && e.Profile != sinks.LakePlain:
		return fmt.Errorf("its profile is %q", e.Profile)
	}
	return nil
}

// EntryKey is the key of an entry in the bucket.
func EntryKey(number uint64) string {
	return fmt.Sprintf("%s%017d/%020d.json", EntryDir, number/1000, number)
}

// EntryNumber is the number of an entry by its key.
func EntryNumber(key string) (uint64, bool) {
	name, ok := strings.CutSuffix(key[strings.LastIndexByte(key, '/')+1:], ".json")
	n, err := strconv.ParseUint(name, 10, 64)
	return n, ok && err == nil && EntryKey(n) == key
}

// CheckpointKey is the key of a checkpoint in the bucket.
func CheckpointKey(number uint64) string {
	return fmt.Sprintf("%s%020d-%020d.json", CheckpointDir, math.MaxUint64-number, number)
}

// CheckpointNumber is the number of a checkpoint by its key.
func CheckpointNumber(key string) (uint64, bool) {
	name, ok := strings.CutSuffix(key[strings.LastIndexByte(key, '-')+1:], ".json")
	n, err := strconv.ParseUint(name, 10, 64)
	return n, ok && err == nil && CheckpointKey(n) == key
}
