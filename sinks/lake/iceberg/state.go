package iceberg

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/symlake/symlake/sinks/internal/pqfile"
)

// State is what the tables are to hold.
type State struct {
	Lake   string    // id of the lake: a lake that was made anew has another one
	Log    uint64    // number of the lake's log, for summaries
	Mark   string    // tells that entry of the log from others with its number
	Made   time.Time // when the lake came to this state
	Run    string    // id of the run that publishes; "": none
	Erase  bool      // older snapshots leave the history at once
	Sealed bool      // no engine can read the files: tables that are there become empty, and no table is made
	// Files returns the files of all tables. A path stands once.
	Files func(ctx context.Context) ([]File, error)
	// Since returns what changed after an entry of the log. nil: it is not known, or it is much. Then Files tells.
	Since func(ctx context.Context, log uint64, mark string) (*Changes, error)
}

// Changes are what changed in a lake between two states.
type Changes struct {
	Came []File            // with at least one row that counts
	Died map[string][]Span // rows of older files that count no more, by path: disjoint
	Gone []string          // paths of files that count no more
}

// File is a data file with at least one row that counts.
type File struct {
	Table string
	Path  string // key in the bucket
	Kind  string // its partition
	Day   string // its partition, as 2006-01-02
	Rows  uint64
	Bytes int64
	Live  []Span // rows that count, ascending and disjoint
}

// Span is neighboring rows of a file, which count from 0.
type Span struct{ First, Rows uint64 }

// dead returns the complement of the rows that count, ascending, and their number.
func (f *File) dead() (spans []Span, rows uint64) {
	at := uint64(0)
	add := func(to uint64) {
		if to > at {
			spans = append(spans, Span{at, to - at})
			rows += to - at
		}
	}
	for _, s := range f.Live {
		add(s.First)
		at = s.First + s.Rows
	}
	add(f.Rows)
	return spans, rows
}

// deletesKey names the file of a data file's dead rows: by the file and the rows, so that a second attempt finds it.
func deletesKey(location string, dead []Span) string {
	h := sha256.New()
	h.Write([]byte(location))
	for _, s := range dead {
		h.Write(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, s.First), s.Rows))
	}
	return "deletes/" + ownPrefix + hex.EncodeToString(h.Sum(nil)[:16]) + ".parquet"
}

// Reserved ids of the columns of a position delete file.
const (
	pathField     = 2147483546
	positionField = 2147483545
)

// deletesTable describes position delete files.
func deletesTable() *pqfile.Table {
	path := pqfile.NewColumn("file_path", "VARCHAR", "", pqfile.Text)
	position := pqfile.NewColumn("pos", "BIGINT", "", pqfile.Long)
	path.ID, position.ID = pathField, positionField
	return &pqfile.Table{Name: "deletes", Columns: []pqfile.Column{path, position}, Sorted: []string{"file_path", "pos"}}
}
