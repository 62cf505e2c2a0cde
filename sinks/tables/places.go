package tables

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/internal/jsonline"
	"github.com/symlake/symlake/sinks/internal/pile"
	"github.com/symlake/symlake/sinks/lookup"
)

// invalid is the status of a row that names no place: it says nothing that symbols could answer.
const invalid symbol.Status = "invalid"

// place is what values of records count from: the base of an artifact, addresses of its file, one of its anchors; or
// an answer that needs no look-up.
type place struct {
	artifact symbol.ID
	space    symbol.Space
	anchor   string
	answer   *symbol.Answer // final, for all values
}

// places numbers the places of a unit. It is safe for concurrent use.
type places struct {
	mu    sync.Mutex
	all   []place
	known map[placeKey]uint32
}

type placeKey struct {
	artifact symbol.ID
	space    symbol.Space
	anchor   string
	status   symbol.Status
	reason   string
}

func (p *places) number(x place) (uint32, error) {
	k := placeKey{artifact: x.artifact, space: x.space, anchor: x.anchor}
	if x.answer != nil {
		k.status, k.reason = x.answer.Status, x.answer.Reason()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if n, ok := p.known[k]; ok {
		return n, nil
	}
	n := uint32(len(p.all))
	if n == pile.MaxPlaces {
		return 0, fmt.Errorf("the frames of one unit lie in more than %d artifacts", pile.MaxPlaces)
	}
	p.all = append(p.all, x)
	p.known[k] = n
	return n, nil
}

// names holds the values of a row, besides its address, that say where a frame lies.
type names struct{ artifact, app, build, platform, frame0 string }

// target is the artifact that names lead to.
type target struct {
	names  names
	at     [2]uint32 // places by symbol.Position and symbol.Unslid
	arch   string
	kind   symbol.Kind
	id     symbol.ID
	frame0 report.Frame0
	fixed  bool // at[0] answers every address
}

// cachedTargets is the size of a cache indexed by the address of the artifact's name.
const cachedTargets = 1 << 10

// placer finds the places of frames, for one worker.
type placer struct {
	ctx     context.Context
	o       *Options
	places  *places
	cache   [cachedTargets]*target
	targets map[names]*target
}

func newPlacer(ctx context.Context, o *Options, p *places) *placer {
	return &placer{ctx: ctx, o: o, places: p, targets: map[names]*target{}}
}

// target resolves names, which may be changed afterwards.
func (p *placer) target(n names) (*target, error) {
	at := &p.cache[addressHash(n.artifact)%cachedTargets]
	if *at != nil && (*at).names == n {
		return *at, nil
	}
	if t, ok := p.targets[n]; ok {
		*at = t
		return t, nil
	}
	own := names{strings.Clone(n.artifact), strings.Clone(n.app), strings.Clone(n.build), strings.Clone(n.platform), strings.Clone(n.frame0)}
	t, err := p.resolve(own)
	if err != nil {
		return nil, err
	}
	if len(p.targets) >= maxTargets {
		clear(p.targets)
	}
	p.targets[own] = t
	*at = t
	return t, nil
}

// maxTargets bounds the names that are remembered.
const maxTargets = 1 << 18

// addressHash tells names apart that stand at different places, such as words of a dictionary; equal texts at different places
// merely miss the cache.
func addressHash(s string) uint64 {
	if s == "" {
		return 0
	}
	n := len(s)
	h := uint64(s[n-1]) | uint64(s[n/2])<<8 | uint64(s[0])<<16 | uint64(s[n/4])<<24 | uint64(s[3*n/4])<<32
	return h * 0x9e3779b97f4a7c15 >> 40
}

// appBuild returns APP@BUILD of the row, or else of the options.
func (p *placer) appBuild(n names) string {
	switch {
	case n.app != "" && n.build != "":
		return n.app + "@" + n.build
	case strings.Contains(n.app, "@"):
		return n.app
	}
	return p.o.App
}

func (p *placer) resolve(n names) (*target, error) {
	t := &target{names: n, frame0: p.o.Stack.Frame0}
	fixed := func(a symbol.Answer) (*target, error) {
		var err error
		t.fixed = true
		t.at[0], err = p.places.number(place{answer: &a})
		return t, err
	}
	if n.frame0 != "" {
		f, err := report.ParseFrame0(n.frame0)
		if err != nil {
			return fixed(symbol.Answer{Status: invalid, Err: err})
		}
		t.frame0 = f
	}
	narrow := lookup.Narrow{Kind: p.platformKind(n), App: p.appBuild(n)}
	asked := []string{n.artifact}
	if n.artifact == "" {
		asked = p.o.Stack.Artifacts
		if len(asked) == 0 && narrow.App != "" {
			asked = []string{narrow.App}
		}
	}
	r := lookup.Resolution{Status: invalid, Err: fmt.Errorf("the row names no artifact")}
	for _, name := range asked {
		if r = p.o.Client.Resolve(p.ctx, name, narrow); r.Status != symbol.NoArtifact {
			break
		}
	}
	if err := p.ctx.Err(); err != nil {
		return nil, err
	}
	if r.Status != symbol.Found {
		return fixed(symbol.Answer{Status: r.Status, Err: r.Err})
	}
	a := &r.Record.Published.Artifact
	if a.Kind == symbol.R8 {
		return fixed(symbol.Answer{Status: invalid, Err: fmt.Errorf("%s is a mapping: it answers lines of Java and Kotlin in the text of a stack, no addresses", n.artifact)})
	}
	t.arch, t.id, t.kind = a.Arch, a.ID, a.Kind
	for i, space := range []symbol.Space{symbol.Position, symbol.Unslid} {
		var err error
		if t.at[i], err = p.places.number(place{artifact: t.id, space: space}); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// platformKind is the kind of artifacts that native frames of a row lie in; of a platform that is not known, as of none.
func (p *placer) platformKind(n names) symbol.Kind {
	platform := n.platform
	if platform == "" {
		platform = p.o.Platform
	}
	kind, _ := answer.PlatformKind(platform)
	return kind
}

// number gives place and value of an address: of the file, as a runtime reported it.
func (p *placer) number(t *target, address, frame uint64) (uint32, uint64) {
	if t.fixed {
		return t.at[0], 0
	}
	return t.at[1], t.step(address, frame)
}

// step moves a return address back into its call.
func (t *target) step(address, frame uint64) uint64 {
	if t.kind == symbol.SourceMap {
		return address
	}
	address = report.Strip(t.arch, address)
	if t.frame0 == report.Return || t.frame0 == report.AsFormat || t.frame0 == report.Exact && frame > 0 {
		return report.Step(t.arch, address)
	}
	return address
}

// text gives place and value of an address that is written.
func (p *placer) text(t *target, address string, frame uint64) (uint32, uint64, error) {
	if t.fixed {
		return t.at[0], 0, nil
	}
	address = strings.TrimSpace(address)
	w, err := symbol.ParseWhere(address)
	if err != nil {
		if v, ok := jsonline.Whole(address); ok {
			at, value := p.number(t, v, frame)
			return at, value, nil
		}
		return p.invalid(errors.New("the address is no 36864, 0x1f3a, +0x1f3a, NAME+0x1f3a or LINE:COLUMN of 64 bits"))
	}
	switch w.Space {
	case symbol.Unslid:
		at, value := p.number(t, w.Value, frame)
		return at, value, nil
	case symbol.Position:
		return t.at[0], t.step(w.Value, frame), nil
	}
	n, err := p.places.number(place{artifact: t.id, space: w.Space, anchor: strings.Clone(w.Anchor)})
	return n, t.step(w.Value, frame), err
}

// noAddress returns the place of rows without an address.
func (p *placer) noAddress() (uint32, error) {
	return p.places.number(place{answer: &symbol.Answer{Status: invalid, Err: fmt.Errorf("the row has no address")}})
}

// query returns the question of a record.
func (x *place) query(value uint64) lookup.Query {
	return lookup.Query{Artifact: x.artifact, Where: symbol.Where{Space: x.space, Value: value, Anchor: x.anchor}}
}

// invalid is the place of a row that says nothing; err tells why, and must not quote the row.
func (p *placer) invalid(err error) (uint32, uint64, error) {
	n, nerr := p.places.number(place{answer: invalidAnswer(err)})
	return n, 0, nerr
}

func invalidAnswer(err error) *symbol.Answer { return &symbol.Answer{Status: invalid, Err: err} }
