package browse

import (
	"context"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/catalog"
)

// ArtifactQuery says which artifacts a page has.
type ArtifactQuery struct {
	App   string // APP@BUILD, by the index of names; "": any
	Text  string // in a name, or at the beginning of the artifact's own id, in any case; "": any
	Kind  symbol.Kind
	First []symbol.ID // the first page begins with these
	From  symbol.ID
	Limit int
}

// appStep is how many artifacts of an app are read at once.
const appStep = 256

// Artifacts emits artifacts, ascending by id, and q.First before them. Forgotten artifacts are left out.
func Artifacts(ctx context.Context, c *catalog.Catalog, q ArtifactQuery, emit func(*wire.Artifact) error) (End, error) {
	p := artifactPage{q: q, emit: emit}
	if q.From == (symbol.ID{}) {
		for _, id := range q.First {
			r, err := c.Artifacts.Get(ctx, id)
			if err != nil {
				return p.End, err
			}
			if r == nil || r.State == catalog.Forgotten || !q.Fits(r) {
				continue
			}
			if err := p.give(r); err != nil {
				return p.End, err
			}
		}
	}
	if q.App != "" {
		return p.End, ended(p.ofApp(ctx, c))
	}
	return p.End, ended(c.Artifacts.From(ctx, q.From, p.see))
}

// artifactPage is a page on its way.
type artifactPage struct {
	End
	q      ArtifactQuery
	listed int
	emit   func(*wire.Artifact) error
}

// ofApp sees the artifacts of the app.
func (p *artifactPage) ofApp(ctx context.Context, c *catalog.Catalog) error {
	for from := p.q.From; ; {
		ids, err := c.Names.Artifacts(ctx, p.q.App, from, appStep)
		if err != nil {
			return err
		}
		for _, id := range ids {
			r, err := c.Artifacts.Get(ctx, id)
			if err != nil {
				return err
			}
			if r == nil { // the name is a claim of a load on its way
				p.Passed++
				continue
			}
			if err := p.see(r); err != nil {
				return err
			}
		}
		if len(ids) < appStep {
			return nil
		}
		if from = after(ids[len(ids)-1]); from == (symbol.ID{}) {
			return nil
		}
	}
}

// after returns the next ID; zero: there is none.
func after(id symbol.ID) symbol.ID {
	for i := len(id) - 1; i >= 0; i-- {
		if id[i]++; id[i] != 0 {
			break
		}
	}
	return id
}

// see emits a record if the query wants it. The error is errFull if the page has no room.
func (p *artifactPage) see(r *catalog.Record) error {
	if p.listed >= p.q.Limit || p.Passed >= MaxPassed {
		p.Next = r.ID.String()
		return errFull
	}
	p.Passed++
	if r.State == catalog.Forgotten || slices.Contains(p.q.First, r.ID) || !p.q.Fits(r) {
		return nil
	}
	return p.give(r)
}

func (p *artifactPage) give(r *catalog.Record) error {
	p.listed++
	a := wire.NewArtifact(r)
	return p.emit(&a)
}

// Fits reports whether the query wants a record.
func (q *ArtifactQuery) Fits(r *catalog.Record) bool {
	if q.Kind != "" && (r.Published == nil || r.Published.Artifact.Kind != q.Kind) {
		return false
	}
	if q.App != "" && !r.HasName(symbol.NameApp, q.App) {
		return false
	}
	if q.Text == "" || slices.Contains(q.First, r.ID) {
		return true
	}
	text := strings.ToLower(q.Text)
	return strings.HasPrefix(hex.EncodeToString(r.ID[:]), text) ||
		slices.ContainsFunc(r.Names, func(n symbol.Name) bool { return strings.Contains(strings.ToLower(n.Text), text) })
}
