package ingest

import (
	"testing"
	"time"
)

// A process on another host with a clock wrong by a year began to tell what it did, and died.
func TestToldByAWrongClock(t *testing.T) {
	for name, c := range map[string]struct {
		ahead time.Duration
		told  bool
	}{"a year ahead": {365 * 24 * time.Hour, true}, "a minute ahead": {time.Minute, false}} {
		t.Run(name, func(t *testing.T) {
			w := toldWorld(t)
			w.o.Host = "elsewhere"
			w.now = w.now.Add(c.ahead)
			w.run()
			w.now = w.now.Add(-c.ahead)
			o := w.o
			o.Host, o.Alive = "host", nil
			p, err := Outbox(o).Pending(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if told := p.Report != nil; told != c.told {
				t.Fatalf("told: %v", told)
			}
		})
	}
}
