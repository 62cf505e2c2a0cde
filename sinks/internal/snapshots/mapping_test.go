package snapshots

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks/internal/answers"
	"github.com/symlake/symlake/sinks/internal/opentable"
)

// mappedSchema is a schema of columns, each a name, a number and a name in files.
func mappedSchema(columns ...string) string {
	var fields []string
	for _, c := range columns {
		w := strings.Fields(c)
		fields = append(fields, fmt.Sprintf(`{"name":%q,"type":"string","nullable":true,"metadata":{"delta.columnMapping.id":%s,"delta.columnMapping.physicalName":%q}}`, w[0], w[1], w[2]))
	}
	return `{"type":"struct","fields":[` + strings.Join(fields, ",") + `]}`
}

func mappedTable(mode, schema string) *opentable.Table {
	m := opentable.DeltaMetadata{ID: "x", Schema: schema, PartitionColumns: []string{}, Configuration: map[string]string{mappingMode: mode, maxColumnID: "7"}}
	return &opentable.Table{Format: Delta, Delta: &opentable.Delta{Metadata: m}}
}

func describeMapped(source, base *opentable.Table) (*Table, *deltaTable, error) {
	t := &Table{o: Options{Source: source, Now: time.Now}, base: base, added: copyOf(answers.Columns("", true))}
	d, err := t.describeDelta()
	return t, d, err
}

// A table with column mapping gets numbers for the added columns, keeps them from then on, and follows the input's names.
func TestMappedDelta(t *testing.T) {
	source := mappedTable("name", mappedSchema("address 1 p1", "os 2 p2"))
	source.Delta.Metadata.PartitionColumns = []string{"os"}
	made, d, err := describeMapped(source, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := d.metadata
	last := fmt.Sprint(firstID + 7 + 6)
	if d.columns[0] != "p2" || m.Configuration[mappingMode] != "name" || m.Configuration[maxColumnID] != last || d.protocol.ReaderFeatures[0] != "columnMapping" || d.protocol.Writer != 7 {
		t.Errorf("columns of partitions %q, %+v, %+v", d.columns, m.Configuration, d.protocol)
	}
	base := mappedTable("name", m.Schema)
	base.Delta.Metadata.PartitionColumns, base.Delta.Metadata.Configuration = m.PartitionColumns, m.Configuration
	again, d, err := describeMapped(source, base)
	if err != nil || d.metadata != nil || again.signature() != made.signature() || !strings.Contains(made.signature(), "function 1000000") {
		t.Fatalf("again: %+v, %v, columns %s, before %s", d, err, again.signature(), made.signature())
	}
	// The input renames the column of partitions, drops one and adds one.
	source = mappedTable("name", mappedSchema("platform 2 p2", "app 3 p3"))
	source.Delta.Metadata.PartitionColumns = []string{"platform"}
	_, d, err = describeMapped(source, base)
	if err != nil || d.columns[0] != "p2" || d.metadata.PartitionColumns[0] != "platform" {
		t.Fatalf("renamed: %+v, %v", d, err)
	}
	for _, words := range []string{`"name":"platform"`, `"name":"address"`, `"name":"app"`, `"physicalName":"function"`} {
		if !strings.Contains(strings.ReplaceAll(d.metadata.Schema, "delta.columnMapping.", ""), words) {
			t.Errorf("the schema lacks %s: %s", words, d.metadata.Schema)
		}
	}
	if strings.Contains(d.metadata.Schema, `"name":"os"`) {
		t.Errorf("the schema has the name of before: %s", d.metadata.Schema)
	}
}

// What does not fit a table's column mapping is refused in words.
func TestMappedRefused(t *testing.T) {
	base := mappedTable("name", mappedSchema("address 1 p1", "other 5 p5"))
	for words, c := range map[string][2]*opentable.Table{
		`columnMapping.mode is "name", and the input's is "id"`: {mappedTable("id", mappedSchema("address 1 p1")), base},
		`columnMapping.mode is "name", and the input's is ""`:   {mappedTable("none", mappedSchema("address 1 p1")), base},
		"has the id 5":                          {mappedTable("name", mappedSchema("address 1 p1", "app 5 p6")), base},
		"it has another column other already":   {mappedTable("name", mappedSchema("address 1 p1", "other 6 p6")), base},
		"calls column address other":            {mappedTable("name", mappedSchema("other 1 p1")), base},
		"another column function already":       {mappedTable("name", mappedSchema("function 1 p1")), nil},
		"have another type under this name":     {mappedTable("name", mappedSchema("x 1 chain")), mappedTable("name", mappedSchema("x 1 chain"))},
		"column address is \"string\", and the": {mappedTable("name", mappedSchema("address 2 p1")), mappedTable("name", mappedSchema("address 1 p1"))},
	} {
		if _, _, err := describeMapped(c[0], c[1]); !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), words) {
			t.Errorf("the error is %v, want %q", err, words)
		}
	}
}
