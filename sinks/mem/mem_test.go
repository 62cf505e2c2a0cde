package mem

import (
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/sinktest"
)

func TestStore(t *testing.T) {
	stores := make(map[string]*sinks.Store)
	sinktest.Run(t, func(t *testing.T) *sinks.Store {
		if stores[t.Name()] == nil {
			stores[t.Name()] = New()
		}
		return stores[t.Name()]
	})
}
