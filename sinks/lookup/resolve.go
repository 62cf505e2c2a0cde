package lookup

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/row"
)

// maxNarrowed bounds how many records are read to narrow one name; above, it
// is ambiguous.
const maxNarrowed = 64

// Resolution is what a name leads to.
type Resolution struct {
	Status symbol.Status // Found, or why not
	// Record is the artifact's, read only: always when Found, and where it is known but
	// loading, pending, sealed or corrupt.
	Record     *catalog.Record
	Candidates []symbol.ID       // Ambiguous: the artifacts that fit, in order, at most 64
	Objects    []*catalog.Object // ledger entries behind pending, loading and rejected
	Err        error             // the reason, unless Found
}

// Resolve finds the artifact with a name, in any case: a full build-id, a
// debug-id or UUID (dashes or not), a Go build-id, a file name or path, APP@BUILD, or the
// artifact's own id. A name of content stands for itself; any other is never
// answered by an artifact of another kind or arch than n says, and if several
// are left they are narrowed by file name, then by app (artifacts that no app
// claims belong to all of them). Of artifacts that share a content id, or an app's file, the owner of
// the highest rank has the name.
func (c *Client) Resolve(ctx context.Context, name string, n Narrow) Resolution {
	all := spellings(name)
	if all == nil {
		return unresolved(lacking(symbol.NoArtifact, "no artifact is called %.64q", name))
	}
	var r Resolution
	told := false
	for _, s := range all {
		found, err := c.resolve(ctx, s, n)
		if err != nil {
			return unresolved(fmt.Errorf("name %q: %w", name, err))
		}
		if found.Status != symbol.NoArtifact {
			return found
		}
		if len(found.Objects) > 0 || found.Record != nil || isOthers(found.Err) {
			r, told = found, true // says more than "not known"
		}
	}
	if id, err := symbol.ParseID(all[0].text); err == nil { // an artifact's own id, last: build-ids may be as long
		e, err := c.record(ctx, id, c.o.Now())
		if err != nil {
			return unresolved(err)
		}
		if e.status != symbol.NoArtifact {
			return e.resolution()
		}
	}
	if !told {
		r = unresolved(lacking(symbol.NoArtifact, "no artifact is called %q", name))
	}
	return r
}

func unresolved(err error) Resolution {
	var lacks *absence
	if errors.As(err, &lacks) {
		return Resolution{Status: lacks.status, Err: err}
	}
	return Resolution{Status: statusOf(err), Err: err}
}

func (e *entry) resolution() Resolution {
	return Resolution{Status: e.status, Record: e.rec, Err: e.err}
}

func (c *Client) resolve(ctx context.Context, s spelling, n Narrow) (Resolution, error) {
	now := c.o.Now()
	if s.content { // most names in stacks are canonical ids: one read, of the record itself
		kind := n.Kind
		if kind == "" {
			kind = symbol.ELF
		}
		e, err := c.record(ctx, symbol.NewID(kind, s.text), now)
		if err != nil || e.status != symbol.NoArtifact {
			return e.orNone(), err
		}
	}
	found, err := c.named(ctx, s.text, now)
	if err != nil {
		return Resolution{}, err
	}
	ids := found.ids
	if found.more || len(ids) > maxNarrowed {
		if ids, err = c.alsoNamed(ctx, s.text, ids, found.more, n); err != nil {
			return Resolution{}, err
		}
		if len(ids) > maxNarrowed {
			return ambiguous(s.text, ids[:maxNarrowed]), nil
		}
	}
	var entries []*entry
	for _, id := range ids {
		e, err := c.record(ctx, id, now)
		if err == nil && found.direct && e.rec == nil && e.status == symbol.NoArtifact {
			e, err = c.dangling(ctx, s.text, id, e, n)
		}
		if err != nil {
			return Resolution{}, err
		}
		entries = append(entries, e)
	}
	r := choose(s, entries, n)
	if r.Status == symbol.NoArtifact && r.Record == nil && !isOthers(r.Err) {
		return fromLedger(s.text, found.objects), nil
	}
	return r, nil
}

func (e *entry) orNone() Resolution {
	if e == nil {
		return Resolution{}
	}
	return e.resolution()
}

// alsoNamed keeps the artifacts that have the names n gives too, by asking
// for the pair: cheaper than reading many records. When the list is cut, the
// app's own list takes its place.
func (c *Client) alsoNamed(ctx context.Context, name string, ids []symbol.ID, cut bool, n Narrow) ([]symbol.ID, error) {
	k, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	others := []string{n.File, n.App}
	if cut {
		for _, other := range []string{n.App, n.File} {
			if other == "" {
				continue
			}
			list, err := c.named(ctx, strings.ToLower(other), c.o.Now())
			if err != nil {
				return nil, err
			}
			if !list.more {
				ids, others = list.ids, append(others, name)
				break
			}
		}
	}
	for _, other := range others {
		if other == "" {
			continue
		}
		var kept []symbol.ID
		for _, id := range ids {
			has, err := k.catalog.Names.Has(ctx, other, id)
			if err != nil {
				return nil, err
			}
			if has {
				kept = append(kept, id)
			}
		}
		if len(kept) > 0 {
			ids = kept
		}
	}
	return ids, nil
}

// isOthers: there are artifacts of that name, of another kind, arch or app.
func isOthers(err error) bool {
	var lacks *absence
	return errors.As(err, &lacks) && lacks.others
}

// choose picks the one artifact of several that share a name.
func choose(s spelling, entries []*entry, n Narrow) Resolution {
	var known, rest []*entry
	for _, e := range entries {
		switch {
		case e.status == symbol.Unavailable, e.lost:
			return e.resolution() // it might be the one
		case e.rec != nil && e.rec.Published != nil:
			known = append(known, e)
		default:
			rest = append(rest, e)
		}
	}
	fits := known
	if !s.content {
		fits = keep(fits, func(e *entry) bool {
			a := &e.rec.Published.Artifact
			return (n.Kind == "" || a.Kind == n.Kind) && n.runs(a.Arch)
		})
		fits = ofApp(fits, n.App)
		if len(fits) == 0 && len(known) > 0 && len(rest) == 0 {
			return Resolution{Status: symbol.NoArtifact, Err: &absence{symbol.NoArtifact, fmt.Sprintf("%d stored under the name %q, none with %s", len(known), s.text, n), true}}
		}
	}
	fits = preferred(fits, n)
	if s.content || n.App != "" {
		fits = trusted(fits)
	}
	switch {
	case len(fits) == 1:
		return fits[0].resolution()
	case len(fits) > 1:
		ids := make([]symbol.ID, len(fits))
		var known []string
		for i, e := range fits {
			ids[i] = e.rec.ID
			known = append(known, e.rec.Published.Artifact.Canonical)
		}
		r := ambiguous(s.text, ids)
		slices.Sort(known)
		r.Err = fmt.Errorf("%w: %s", r.Err, strings.Join(known[:min(len(known), 4)], ", "))
		return r
	}
	best := Resolution{Status: symbol.NoArtifact, Err: lacking(symbol.NoArtifact, "no artifact is called %q", s.text)}
	for _, e := range rest {
		if soon(e.status) > soon(best.Status) {
			best = e.resolution()
		}
	}
	return best
}

// preferred drops entries that suit n less than others do. At least one stays.
func preferred(fits []*entry, n Narrow) []*entry {
	prefer := func(fit func(*entry) bool) {
		if some := keep(fits, fit); len(fits) > 1 && len(some) > 0 {
			fits = some
		}
	}
	prefer(func(e *entry) bool { return !e.rec.State.Removed() })
	if n.File != "" {
		prefer(func(e *entry) bool { return e.rec.HasName(symbol.NameFile, n.File) })
	}
	if n.App != "" {
		prefer(func(e *entry) bool { return e.rec.HasName(symbol.NameApp, n.App) })
	}
	if n.Anchor != "" {
		prefer(func(e *entry) bool {
			_, has := e.rec.Published.Artifact.Anchors[n.Anchor]
			return has || e.rec.Published.Artifact.IsDart()
		})
	}
	if n.Path != "" && len(fits) > 1 {
		longest := 0
		for _, e := range fits {
			longest = max(longest, commonEnd(e.rec, n.Path))
		}
		prefer(func(e *entry) bool { return commonEnd(e.rec, n.Path) == longest })
	}
	return ofBundles(fits)
}

// soon orders the outcomes of unpublished artifacts: the outcome that will change
// first wins, then the outcome that says more.
func soon(s symbol.Status) int {
	return slices.Index([]symbol.Status{symbol.NoArtifact, symbol.Rejected, symbol.Sealed, symbol.Corrupt, symbol.Pending, symbol.Loading}, s)
}

func ambiguous(name string, ids []symbol.ID) Resolution {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b symbol.ID) int { return bytes.Compare(a[:], b[:]) })
	return Resolution{Status: symbol.Ambiguous, Candidates: ids, Err: fmt.Errorf("%d or more artifacts are called %q: name the build-id, or the app", len(ids), name)}
}

// trusted keeps the artifacts of the highest rank: two that claim one content id, or
// one file of one build, cannot both be meant.
func trusted(all []*entry) []*entry {
	if len(all) < 2 {
		return all
	}
	rank := func(e *entry) int { return e.rec.Published.Claimed().Rank }
	most := rank(all[0])
	for _, e := range all {
		most = max(most, rank(e))
	}
	return keep(all, func(e *entry) bool { return rank(e) == most })
}

func keep(all []*entry, fit func(*entry) bool) (kept []*entry) {
	for _, e := range all {
		if fit(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// ofApp keeps the artifacts of an app's build and the artifacts of no app.
func ofApp(all []*entry, app string) []*entry {
	if app == "" {
		return all
	}
	return keep(all, func(e *entry) bool {
		return e.rec.HasName(symbol.NameApp, app) || !slices.ContainsFunc(e.rec.Names, func(n symbol.Name) bool { return n.Kind == symbol.NameApp })
	})
}

// fromLedger answers for a name from its objects, none of which is loaded.
func fromLedger(name string, objects []*catalog.Object) Resolution {
	r := Resolution{Status: symbol.NoArtifact, Err: lacking(symbol.NoArtifact, "no artifact is called %q", name)}
	for _, o := range objects {
		status, why := symbol.NoArtifact, o.Reason
		switch o.State {
		case catalog.ObjectPending:
			status = symbol.Pending
		case catalog.ObjectLoading:
			status = symbol.Loading
		case catalog.ObjectFailed:
			status = symbol.Pending // the next run tries again
		case catalog.ObjectRejected:
			status = symbol.Rejected
		}
		if why == "" {
			why = "no reason is noted"
		}
		if soon(status) > soon(r.Status) || len(r.Objects) == 0 {
			r.Status, r.Err = status, lacking(status, "object %s is %s: %s", o.URL, o.State, why)
		}
		r.Objects = append(r.Objects, o)
	}
	return r
}

// ofBundles keeps one of two maps of a script: the map that stands in the script itself, or the map in the file beside
// it. A run that reads both at once stores one alone. Where they came in different runs, the map that says more answers.
func ofBundles(all []*entry) []*entry {
	if len(all) < 2 {
		return all
	}
	at := make(map[string]*entry, len(all))
	for _, e := range all {
		if p := e.rec.Published; p.Artifact.Kind == symbol.SourceMap {
			at[originOf(&p.Source)] = e
		}
	}
	return keep(all, func(e *entry) bool {
		p := e.rec.Published
		where := originOf(&p.Source)
		if at[where] != e {
			return true
		}
		if script, ok := strings.CutSuffix(where, ".map"); ok && at[script] != nil {
			return compareMaps(p, at[script].rec.Published) >= 0 // of equal maps the file's answers
		}
		if file := at[where+".map"]; file != nil {
			return compareMaps(p, file.rec.Published) > 0
		}
		return true
	})
}

// originOf is where a load was read from.
func originOf(s *row.Source) string {
	if s.Member == "" {
		return s.URL
	}
	return s.URL + "!" + s.Member
}

// compareMaps tells which of two loads says more: by ranges, then by bytes.
func compareMaps(a, b *row.Loaded) int {
	return cmp.Or(cmp.Compare(a.Ranges, b.Ranges), cmp.Compare(a.Bytes, b.Bytes))
}
