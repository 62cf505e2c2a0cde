package projection

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/sinks"
)

// Table tells where an Iceberg table of the lake stands.
type Table struct {
	Table    string `json:"table"`
	Log      uint64 `json:"log"`    // number of the lake's log that it shows; 0: none
	Newest   uint64 `json:"newest"` // number of the log's last entry
	Snapshot int64  `json:"snapshot,omitempty"`
	Behind   string `json:"behind,omitempty"` // why it does not show what the lake names
}

// NewTables returns tables for a report. planned says that nothing was published, so a table that would change is behind.
func NewTables(all []sinks.LakeTable, planned bool) []Table {
	var list []Table
	for _, t := range all {
		x := Table{Table: t.Name, Log: t.Log, Newest: t.Newest, Snapshot: t.Snapshot}
		switch {
		case t.Err != nil:
			x.Behind = t.Err.Error()
		case planned && t.Changed:
			x.Behind = "it waits for symlake lake publish, or for the next ingest"
		}
		list = append(list, x)
	}
	return list
}

// Publish brings the Iceberg tables of a lake up to what it names. A catalog that refuses is no error: the tables say that they
// are behind.
func Publish(ctx context.Context, l sinks.Lake, o sinks.LakePublish) ([]Table, error) {
	if l == nil {
		return nil, nil
	}
	all, err := l.Publish(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("publish the lake's Iceberg tables: %w", err)
	}
	return NewTables(all, o.DryRun), nil
}
