package lookup_test

import (
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
)

// TestFileOffset: a stored artifact answers offsets in its image's file by its segments. An artifact without them, and one
// of a debug file, say what to do.
func TestFileOffset(t *testing.T) {
	for _, c := range []struct {
		name     string
		segments []symbol.Segment
		mapped   *symbol.Mapping
		value    uint64
		status   symbol.Status
		reason   string
	}{
		{name: "a whole file", segments: []symbol.Segment{{Position: 0x40, Size: 0x1000, Offset: 0x10, Stored: 0x1000}}, value: 0x14, status: symbol.Found},
		{name: "outside its code", segments: []symbol.Segment{{Position: 0x40, Size: 0x1000, Offset: 0x10, Stored: 0x1000}}, value: 0xf, status: symbol.Outside, reason: "no code of the image"},
		{name: "an old load", value: 0x14, status: symbol.Hole, reason: "with --force"},
		{name: "a debug file", segments: []symbol.Segment{{Position: 0x40, Size: 0x1000}}, value: 0x14, status: symbol.Hole, reason: "a debug file"},
		{name: "an APK", segments: []symbol.Segment{{Position: 0x40, Size: 0x1000}}, mapped: &symbol.Mapping{Within: true}, value: 0x14, status: symbol.Hole, reason: "unknown offset"},
	} {
		im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 64)
		im.Segments = c.segments
		w := lookuptest.NewWorld(t)
		w.Publish(im)
		a := w.Client().Lookup(t.Context(), lookup.Query{Artifact: im.ID, Where: symbol.Where{Space: symbol.FileOffset, Value: c.value, Mapped: c.mapped}})
		if a.Status != c.status || !strings.Contains(a.Reason(), c.reason) {
			t.Errorf("%s: %s, %s", c.name, a.Status, a.Reason())
		}
	}
}
