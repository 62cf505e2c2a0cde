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
	testStore(t, hbasetest.Shared(t), func() Options { return Options{} }, func(string) {})
}

// testStore runs the suite of all stores in namespaces of its own. ready is called for each before Create. Each test of
// the suite asks for its options.
func testStore(t *testing.T, server *hbasetest.Server, options func() Options, ready func(namespace string)) {
	var mu sync.Mutex
	made := map[testing.TB]string{} // rest of the URL
	how := map[testing.TB]Options{}
	sinktest.Run(t, func(t *testing.T) *sinks.Store {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		rest, ok := made[t]
		if !ok {
			ns := namespace()
			ready(ns)
			rest = "//" + server.Master + "/" + ns + "?regions=3"
			made[t], how[t] = rest, options()
			if err := Create(t.Context(), rest, how[t]); err != nil {
				t.Fatal(err)
			}
		}
		s, err := Open(t.Context(), rest, how[t])
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Notes) > 0 {
			t.Error(s.Notes)
		}
		return s
	})
}
