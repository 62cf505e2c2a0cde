package iceberg

import (
	"context"
	"slices"
	"strconv"
	"strings"
)

// prepare writes what a commit to base needs. nil: base is what st says. keys are the new files of metadata.
func (t *Tables) prepare(ctx context.Context, s *shape, base *standing, st *State, dry bool) (c *change, keys []string, err error) {
	place := strings.TrimSuffix(t.location(t.folder(s.table.Name)), "/")
	moved := strings.TrimSuffix(base.Location, "/") != place
	c = &change{}
	schemaID := base.CurrentSchema
	if now, err := base.schemaNow(); err != nil {
		return nil, nil, err
	} else if evolved := s.evolved(now, base.metadata); evolved != nil {
		c.schema, c.last, c.mapping = evolved, s.last, s.mapping
		schemaID = *evolved.ID
	}
	var manifests []*manifest
	if moved {
		c.location = place
	} else if manifests, err = t.manifests(ctx, base.current()); err != nil {
		return nil, nil, err
	}
	id, sequence := newID(), base.LastSequence+1
	p := t.compare(s, manifests, st, id)
	if !p.changed && !moved && c.schema == nil {
		return nil, nil, t.point(ctx, s, base, dry)
	}
	if dry {
		return c, nil, nil
	}
	if !p.changed && !moved {
		return c, nil, nil
	}
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
		return nil, nil, err
	}
	deletions, err := t.deletions(ctx, p, id)
	if err != nil {
		return nil, nil, err
	}
	data = merge(append(data, &manifest{listed: listed{Content: contentData, Sequence: sequence}, entries: fresh, changed: true}))
	dead = merge(append(dead, &manifest{listed: listed{Content: contentDeletes, Sequence: sequence}, entries: deletions, changed: true}))
	all := append(data, dead...)
	made := t.o.Now().UnixMilli()
	if last := base.current(); last != nil {
		made = max(made, last.Made, base.LastUpdated)
	}
	snap := &snapshot{ID: id, Sequence: sequence, Made: made, Schema: &schemaID, Summary: p.summary(all, st)}
	if last := base.current(); last != nil && !moved {
		snap.Parent = &last.ID
	}
	if snap.List, keys, err = t.write(ctx, s, schemaID, id, sequence, all); err != nil {
		return nil, keys, err
	}
	c.snapshot = snap
	c.expired = t.expired(base.metadata, snap, moved || st.Erase)
	return c, keys, nil
}

// point repairs the hint of a commit that died before it wrote it.
func (t *Tables) point(ctx context.Context, s *shape, base *standing, dry bool) error {
	f, ok := t.catalog.(*files)
	if !ok || dry || base.hint == strconv.FormatUint(base.version, 10) {
		return nil
	}
	return f.point(ctx, s.table.Name, base.version)
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
	id := len(m.Schemas)
	n.ID = &id
	return n
}
