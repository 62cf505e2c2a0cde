package hbase

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/sinktest"
)

func TestMain(m *testing.M) { hbasetest.Main(m) }

var namespaces atomic.Int64

// namespace returns a namespace that no other test uses.
func namespace() string { return fmt.Sprintf("test%d", namespaces.Add(1)) }

func TestStore(t *testing.T) {
	var mu sync.Mutex
	made := map[testing.TB]string{} // rest of the URL
	sinktest.Run(t, func(t *testing.T) *sinks.Store {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		rest, ok := made[t]
		if !ok {
			rest = "//" + hbasetest.Shared(t).Master + "/" + namespace() + "?regions=3"
			made[t] = rest
			if err := Create(t.Context(), rest, Options{}); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Open(t.Context(), rest, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Notes) > 0 {
			t.Error(s.Notes)
		}
		return s
	})
}
