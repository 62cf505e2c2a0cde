package lookup_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
)

func TestClasses(t *testing.T) {
	w := lookuptest.NewWorld(t)
	all := lookuptest.MappingOf(3000)
	id := w.PublishClasses(all)
	c := w.Client()
	var names []string
	for _, class := range all {
		names = append(names, class.Name)
	}
	names = append(names, "not.There")
	for range 2 { // cold, then cached
		got, err := c.Classes(t.Context(), id, names)
		lookuptest.NoError(t, err)
		for i, class := range all {
			lookuptest.FailIf(t, !reflect.DeepEqual(got[i], class), "%q:\n got %+v\nwant %+v", class.Name, got[i], class)
		}
		lookuptest.FailIf(t, got[len(all)] != nil, "a class that nobody has: %+v", got[len(all)])
	}
	_, err := c.Classes(t.Context(), symbol.NewID(symbol.R8, "beef"), names)
	var why *lookup.ClassError
	lookuptest.FailIf(t, !errors.As(err, &why) || why.Status != symbol.NoArtifact, "no such mapping: %v", err)
}
