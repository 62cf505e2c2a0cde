package icemeta

import (
	"encoding/json"
	"testing"
)

// Another writer may have taken schemas out: their ids come no second time while a higher one is there.
func TestNextSchema(t *testing.T) {
	m := &Metadata{}
	if id := m.NextSchema(); id != 0 {
		t.Errorf("the first schema has id %d", id)
	}
	m.Schemas = []json.RawMessage{[]byte(`{"schema-id":0}`), []byte(`{"schema-id":2}`)}
	if id := m.NextSchema(); id != 3 {
		t.Errorf("id %d after 0 and 2, want 3", id)
	}
}
