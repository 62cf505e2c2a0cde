package build

import (
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/ingest/publish"
	"github.com/symlake/symlake/sinks"
)

// A lake keeps strings when the object is closed.
func TestLastingIsCopiedForALake(t *testing.T) {
	for _, lake := range []sinks.Lake{nil, struct{ sinks.Lake }{}} {
		e := &encoding{of: &formats.Artifact{Lasting: true}, x: &object{b: &Builder{Publisher: &publish.Publisher{Lake: lake}}}}
		if e.lasting() != (lake == nil) {
			t.Errorf("with a lake %v they last: %v", lake, e.lasting())
		}
	}
}
