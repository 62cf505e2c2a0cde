package wanted

import (
	"fmt"
	"testing"
	"time"

	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/mem"
	"github.com/symlake/symlake/sinks/row"
)

// The table of wanted names is bounded.
func TestBounds(t *testing.T) {
	s := mem.New()
	ring, err := row.CreateKeyring(t.Context(), s.Catalog, kek.Ephemeral())
	if err != nil {
		t.Fatal(err)
	}
	c, now := catalog.New(s.Catalog, ring), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var d Demand
	for n := range 6 {
		for i := range maxDemand + 100 {
			d.Missing(fmt.Sprintf("%d-%d", n, i), "", "", now)
		}
		if err := d.Note(t.Context(), c, now); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := All(t.Context(), c); err != nil || len(list) != maxWanted {
		t.Fatalf("%v %d", err, len(list))
	}
}

// A name has one key, in any case, with any dashes and any age.
func TestKey(t *testing.T) {
	for in, want := range map[string]string{"3F2504E0-4F89-11D3-9A0C-0305E82C3301": "3f2504e04f8911d39a0c0305e82c3301",
		"3f2504e04f8911d39a0c0305e82c33010": "3f2504e04f8911d39a0c0305e82c3301", "LibA.so": "liba.so", "3f2504e0-4f89-11d3-9a0c-0305e82c3301-1a": "3f2504e04f8911d39a0c0305e82c3301"} {
		if got := Key(in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
