package hbase

import (
	"slices"
	"testing"

	"github.com/symlake/symlake/sinks/hbase/hbasetest"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
	"github.com/symlake/symlake/sinks/internal/hfile"
)

// TestBloom: in a region with 50 store files a look-up reads at most 1.1 of them, by the server's own metrics.
func TestBloom(t *testing.T) {
	server := hbasetest.Shared(t)
	const files, looks = 50, 400
	l := &library{rest: "//" + server.Master + "/" + namespace()}
	a, err := parse(l.rest, false)
	if err != nil {
		t.Fatal(err)
	}
	c := client.New(client.Options{Servers: []string{server.Master}})
	defer c.Close()
	if err := c.CreateNamespace(t.Context(), a.namespace); err != nil {
		t.Fatal(err)
	}
	for _, s := range a.schemas() {
		if s.Table == a.blocks() {
			s.Attributes["COMPACTION_ENABLED"] = "false"
		}
		if _, err := c.CreateTable(t.Context(), s, nil); err != nil {
			t.Fatal(err)
		}
	}
	l.Store, l.c = l.open(t, nil)
	for range files {
		b, err := l.Blocks.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range slices.Concat(someLoads(20, 5, 200)...) {
			if err := b.Write(r); err != nil {
				t.Fatal(err)
			}
			l.all = append(l.all, r)
		}
		if err := b.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	read := func() []float64 {
		return server.Metrics(t, "bloomFilterRequestsCount", "bloomFilterNegativeResultsCount", "bloomFilterEligibleRequestsCount",
			"blockCacheHitCount", "blockCacheMissCount")
	}
	before := read()
	for range looks {
		if err := l.ask(t.Context(), l.Store, 1); err != nil {
			t.Fatal(err)
		}
	}
	m := read()
	for i := range m {
		m[i] = (m[i] - before[i]) / looks
	}
	t.Logf("a look-up: filters of %.2f files asked, %.2f ruled out, %.2f had none; %.2f blocks read", m[0], m[1], m[2], m[3]+m[4])
	if m[0] < files*0.8 || m[0]-m[1] > 1.1 || m[2] > 0 {
		t.Errorf("%.2f files read a look-up, want at most 1.1 of %d", m[0]-m[1], files)
	}
}

func TestBloomOf(t *testing.T) {
	for _, tt := range []struct {
		kind, prefix string
		want         hfile.Bloom
	}{
		{"ROW", "", hfile.Bloom{Kind: hfile.BloomRow}},
		{"ROWCOL", "", hfile.Bloom{Kind: hfile.BloomRow}},
		{"NONE", "24", hfile.Bloom{}},
		{"", "", hfile.Bloom{}},
		{"ROWPREFIX_FIXED_LENGTH", "24", hfile.Bloom{Kind: hfile.BloomRowPrefix, Prefix: 24, ErrorRate: prefixErrors}},
		{"ROWPREFIX_FIXED_LENGTH", "16", hfile.Bloom{Kind: hfile.BloomRowPrefix, Prefix: 16, ErrorRate: prefixErrors}},
		{"ROWPREFIX_FIXED_LENGTH", "", hfile.Bloom{}},
		{"ROWPREFIX_FIXED_LENGTH", "0", hfile.Bloom{}},
		{"ROWPREFIX_FIXED_LENGTH", "99999", hfile.Bloom{}},
	} {
		f := client.Family{Attributes: map[string]string{"BLOOMFILTER": tt.kind}, Configuration: map[string]string{prefixLength: tt.prefix}}
		if got := bloomOf(f); got != tt.want {
			t.Errorf("%s %s: %+v, want %+v", tt.kind, tt.prefix, got, tt.want)
		}
	}
}
