package hbase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

// Changes that travel together keep their answers, also where the connection breaks before or behind the call, and
// where the last change of a region wrote nothing, so that the server did not sync its log.
func TestSwapAllLost(t *testing.T) {
	server := hbasetest.Shared(t)
	rest := "//" + server.Master + "/" + namespace() + "?regions=2"
	if err := Create(t.Context(), rest, Options{}); err != nil {
		t.Fatal(err)
	}
	s, err := connect(rest, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var lose atomic.Int32
	s.c = client.New(client.Options{Servers: []string{server.Master}, Dial: func(ctx context.Context, address string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, "tcp", address)
		return &breaking{c, "Multi", &lose}, err
	}})
	defer s.c.Close()
	c := s.records
	const n = 60
	old := make([][]byte, n)
	for round := range 6 {
		lose.Store(int32(round % 3)) // 0: not at all
		changes, conflict := make([]sinks.Change, n), make([]bool, n)
		for i := range changes {
			ch := sinks.Change{Key: fmt.Appendf(nil, "%c%02d", 'a'+i%4*7, i), Old: old[i], New: fmt.Appendf(nil, "%d of round %d", i, round)}
			// The changes of a call stand in its order: the last ones of each region conflict.
			if conflict[i] = round >= 3 && i >= n/2; conflict[i] {
				ch.Old = []byte("never")
			} else {
				old[i] = ch.New
			}
			changes[i] = ch
		}
		for i, err := range c.SwapAll(t.Context(), changes) {
			if conflict[i] != errors.Is(err, sinks.ErrConflict) || !conflict[i] && err != nil {
				t.Errorf("round %d, change %d: %v", round, i, err)
			}
		}
		if lose.Load() != 0 {
			t.Errorf("round %d: no connection broke", round)
		}
		keys := make([][]byte, n)
		for i := range keys {
			keys[i] = changes[i].Key
		}
		values, err := c.GetAll(t.Context(), keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if !bytes.Equal(v, old[i]) {
				t.Errorf("round %d: %q is %q, want %q", round, keys[i], v, old[i])
			}
		}
	}

	// Records with one meaning carry no condition. They replace older records.
	for lost := range int32(3) {
		lose.Store(lost)
		var changes []sinks.Change
		for i := range n {
			changes = append(changes, sinks.Change{Key: fmt.Appendf(nil, "%c%02d", 'a'+i%4*7, i), New: fmt.Appendf(nil, "same %d", lost), Same: true})
		}
		if err := errors.Join(c.SwapAll(t.Context(), changes)...); err != nil {
			t.Errorf("%d connections broke: %v", lost, err)
		}
		if lose.Load() != 0 {
			t.Error("no connection broke")
		}
		for _, ch := range changes {
			if v, err := c.Get(t.Context(), ch.Key); err != nil || !bytes.Equal(v, ch.New) {
				t.Errorf("%q is %q, %v, want %q", ch.Key, v, err, ch.New)
			}
		}
	}
}
