package iceberg

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks/internal/icemeta"
)

// prepare writes what a commit to base needs. nil: base shows st. keys are the new files of metadata. from tells
// where base may stand.
func (t *Tables) prepare(ctx context.Context, s *shape, base *standing, st *State, from fact, dry bool) (c *change, keys []string, err error) {
	place := strings.TrimSuffix(t.location(t.folder(s.table.Name)), "/")
	moved := strings.TrimSuffix(base.Location, "/") != place
	c = &change{}
	schemaID := base.CurrentSchema
	if now, err := schemaNow(base.metadata); err != nil {
		return nil, nil, err
	} else if evolved := s.evolved(now, base.metadata); evolved != nil {
		c.schema, c.last, c.mapping = evolved, s.last, s.mapping
		schemaID = *evolved.ID
	}
	if moved {
		c.location = place
	}
	id, sequence := icemeta.NewID(), base.LastSequence+1
	p, err := t.plan(ctx, s, base, st, from, moved, id)
	if err != nil {
		return nil, nil, err
	}
	if !p.changed && !moved && c.schema == nil {
		return nil, nil, t.point(ctx, s, base, dry)
	}
	if dry || !p.changed && !moved {
		return c, nil, nil
	}
	all, err := t.next(ctx, s, p, id, sequence)
	if err != nil {
		return nil, nil, err
	}
	made := t.o.Now().UnixMilli()
	if last := base.Head(); last != nil {
		made = max(made, last.Made, base.LastUpdated)
	}
	snap := &snapshot{ID: id, Sequence: sequence, Made: made, Schema: &schemaID, Summary: p.summary(st)}
	if last := base.Head(); last != nil && !moved {
		snap.Parent = &last.ID
	}
	if snap.List, keys, err = t.write(ctx, s, schemaID, id, sequence, all); err != nil {
		return nil, keys, err
	}
	c.snapshot = snap
	c.expired = t.expired(base.metadata, snap, moved || st.Erase)
	return c, keys, nil
}

// plan finds what differs between base and st. Where base is known to stand at an entry of the log, it costs what changed since.
func (t *Tables) plan(ctx context.Context, s *shape, base *standing, st *State, from fact, moved bool, id int64) (*plan, error) {
	if st.Since != nil && !moved && from.of(base.Head(), st) {
		c, err := st.Since(ctx, from.Log, from.Mark)
		if err != nil {
			return nil, err
		}
		if kept, known := totalsOf(base.Head()); c != nil && known {
			manifests, err := t.listed(ctx, base.Head())
			if err != nil {
				return nil, err
			}
			p := t.grown(s, manifests, kept, c.Came)
			if ok, err := t.shrink(ctx, s, p, c, id); ok || err != nil {
				return p, err
			}
		}
	}
	var manifests []*manifest
	var all []File
	var err error
	if !moved {
		manifests, err = t.manifests(ctx, base.Head())
	}
	if err == nil && !st.Sealed {
		all, err = st.Files(ctx)
	}
	if err != nil {
		return nil, err
	}
	return t.compare(s, manifests, all, id), nil
}

// next returns the manifests after a plan.
func (t *Tables) next(ctx context.Context, s *shape, p *plan, id, sequence int64) ([]*manifest, error) {
	var data, dead []*manifest
	for _, m := range p.manifests {
		if m.Content == contentDeletes {
			dead = append(dead, m)
		} else {
			data = append(data, m)
		}
	}
	fresh, err := t.entries(ctx, s, p, id)
	if err != nil {
		return nil, err
	}
	deletions, err := t.deletions(ctx, p, id)
	if err != nil {
		return nil, err
	}
	for _, all := range [][]entry{fresh, deletions} {
		for i := range all {
			p.added.add(&all[i].File)
		}
	}
	if data, err = t.merge(ctx, append(data, newManifest(contentData, sequence, fresh))); err != nil {
		return nil, err
	}
	dead, err = t.merge(ctx, append(dead, newManifest(contentDeletes, sequence, deletions)))
	return append(data, dead...), err
}

// point repairs the hint of a commit that died before it wrote it.
func (t *Tables) point(ctx context.Context, s *shape, base *standing, dry bool) error {
	f, ok := t.catalog.(*files)
	if !ok || dry || base.hint == strconv.FormatUint(base.version, 10) {
		return nil
	}
	return icemeta.Point(ctx, f.b, f.folder(s.table.Name)+"metadata/", base.version)
}

// evolved returns the schema of a table that lacks columns; nil: it lacks none. Columns that others added stay.
func (s *shape) evolved(now *schema, m *metadata) *schema {
	have, mine := now.ids(), s.schema.ids()
	n := &schema{Type: "struct", Fields: slices.Clone(s.schema.Fields)}
	lacks := false
	for i := range n.Fields {
		if _, ok := have[n.Fields[i].Name]; !ok {
			lacks = true
			n.Fields[i].Required = false // older files do not have it
		}
	}
	if !lacks {
		return nil
	}
	for _, f := range now.Fields {
		if _, ok := mine[f.Name]; !ok {
			n.Fields = append(n.Fields, f)
		}
	}
	id := m.NextSchema()
	n.ID = &id
	return n
}
