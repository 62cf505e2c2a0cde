package trust

import (
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

var (
	ours   = row.Standing{Owner: "ours", Rank: 1}
	theirs = row.Standing{Owner: "theirs", Rank: 1}
	chief  = row.Standing{Owner: "chief", Rank: 2}
)

func from(s row.Standing, url string) *row.Loaded {
	return &row.Loaded{Source: row.Source{URL: url, Standing: s}}
}

func TestRelate(t *testing.T) {
	claimed := from(ours, "a")
	claimed.Claim = &chief
	for what, c := range map[string]struct {
		s    row.Standing
		url  string
		p    *row.Loaded
		want Relation
	}{
		"same owner":                   {ours, "b", from(ours, "a"), Own},
		"same object":                  {theirs, "a", from(ours, "a"), Own},
		"higher rank":                  {chief, "b", from(ours, "a"), Above},
		"equal rank":                   {theirs, "b", from(ours, "a"), below},
		"own load, artifact of others": {ours, "b", claimed, guest},
	} {
		if got := Relate(c.s, c.url, c.p); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
}

func TestDecide(t *testing.T) {
	load := func(rank symbol.Rank, digest byte) *row.Loaded {
		l := from(ours, "a")
		l.Rank, l.Digest, l.Artifact.Kind = rank, [32]byte{digest}, symbol.ELF
		return l
	}
	same := func(l *row.Loaded) *row.Loaded {
		l.Artifact.Canonical = "sha256:1"
		return l
	}
	for what, c := range map[string]struct {
		r    Relation
		p, l *row.Loaded
		want Verdict
	}{
		"above, equal content":        {Above, load(1, 1), load(1, 1), Confirm},
		"above, other content":        {Above, load(1, 1), load(1, 2), Load},
		"below, equal content":        {below, load(1, 1), load(1, 1), Keep},
		"below, other image":          {below, load(1, 1), load(1, 2), Dispute},
		"below, better, same image":   {below, same(load(2, 1)), same(load(1, 2)), Extend},
		"below, worse, same image":    {below, same(load(1, 1)), same(load(2, 2)), Keep},
		"guest, own object, the same": {guest, same(load(1, 1)), same(load(1, 2)), Extend},
	} {
		if got := Decide(c.r, c.p, c.l); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
}

// Each rule decides only if those before it do not.
func TestBeats(t *testing.T) {
	order := []func(l *row.Loaded){
		func(l *row.Loaded) { l.Source.URL = "a" },
		func(l *row.Loaded) { l.Digest = [32]byte{1} },
		func(l *row.Loaded) { l.Quality.WithLine = 10 },
		func(l *row.Loaded) { l.Parser = 3 },
		func(l *row.Loaded) { l.Rank = 1 },
	}
	plain := func() *row.Loaded {
		return &row.Loaded{Format: "elf", Rank: 2, Parser: 2, Digest: [32]byte{2}, Source: row.Source{URL: "b"}}
	}
	for i, better := range order {
		l, p := plain(), plain()
		better(l)
		for _, lesser := range order[:i] {
			lesser(p)
		}
		if !Beats(l, p) || Beats(p, l) {
			t.Errorf("rule %d does not decide over the rules after it", i)
		}
	}
}
