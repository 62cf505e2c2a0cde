package sourcemap

import (
	"context"
	"errors"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/symbol"
)

// openMap opens a map; script is what it stands in, or nil.
func openMap(ctx context.Context, in, script *formats.Input) (*formats.Object, error) {
	l, _, err := mapfile.Read(in, 0, 0)
	if err != nil {
		return nil, err
	}
	o := &object{in: in, script: script, layout: l}
	kept, err := o.pair(ctx)
	if err != nil || !kept {
		return o.leave(), errors.Join(err, o.close())
	}
	a := formats.Artifact{Artifact: symbol.Artifact{Kind: symbol.SourceMap}, Rank: symbol.RankScript, Parts: 1 + len(l.Segments)}
	if len(l.DebugIDs) > 0 {
		a.Canonical = l.DebugIDs[0]
	} else if a.Canonical, err = o.digest(ctx); err != nil {
		return nil, errors.Join(err, o.close())
	}
	a.ID = symbol.NewID(symbol.SourceMap, a.Canonical)
	a.Names = o.names()
	if len(l.DebugIDs) == 0 {
		a.Names = append(a.Names, symbol.Name{Kind: symbol.NameHash, Text: a.Canonical})
	}
	a.End = endOf(l, 0)
	for _, s := range l.Segments {
		a.End = max(a.End, endOf(s.Layout, s.Number))
	}
	if l.HermesOffsets != (mapfile.Span{}) || l.ModuleOffsets != (mapfile.Span{}) || len(l.Segments) > 0 {
		a.End = max(a.End, symbol.TablesEnd)
	}
	a.ExplodeScript, a.Texts, a.Ordered, a.Few = o.explode, o.texts, o.ordered(), l.Mappings.To-l.Mappings.From < fewBytes
	obj := &formats.Object{Artifacts: []formats.Artifact{a}}
	obj.Close = o.close
	return obj, nil
}

// endOf returns the end of the script of a map, which is that segment of its program.
func endOf(l *mapfile.Layout, segment uint32) uint64 {
	lines := l.Lines
	if l.HasRanges() {
		lines = symbol.MaxLine
	}
	return uint64(segment*symbol.MaxLine+lines) << 32
}

// fewBytes is how many bytes of mappings have few ranges. A map of as many or more has enough ranges for all its strings to
// be worth sharing.
const fewBytes = 64 << 10

// ordered reports whether the map's segments are all that it says, and come as they answer.
func (o *object) ordered() bool {
	l := o.layout
	return l.Sections == nil && len(l.Segments) == 0 &&
		l.HermesOffsets == (mapfile.Span{}) && l.ModuleOffsets == (mapfile.Span{}) && !l.IsCompilers()
}

// explode emits part 0, the map itself and its tables, or the part of a segment.
func (o *object) explode(ctx context.Context, part int, emit func(*symbol.Script) error) (q symbol.Quality, err error) {
	if err := ctx.Err(); err != nil {
		return q, err
	}
	if part > 0 {
		s := &o.layout.Segments[part-1]
		e := newEmitter(ctx, o.in.Limits, uint64(s.Number*symbol.MaxLine)<<32, emit)
		return o.each(e, s.Layout, s.Number, nil)
	}
	e := newEmitter(ctx, o.in.Limits, 0, emit)
	var under *packed
	var found *formats.Input
	var below *mapfile.Layout
	if o.layout.IsCompilers() {
		if found, below, err = findPackagers(ctx, o.in, o.layout); err != nil {
			return q, err
		}
		if found != nil {
			if found.Release != nil {
				defer func() { err = errors.Join(err, found.Release()) }()
			}
			if under, err = e.pack(found, below); err != nil {
				return q, err
			}
		}
	}
	if o.wantsScript(under) {
		if err := o.readScript(ctx, e, under); err != nil {
			return q, err
		}
	}
	if under != nil && under.functions == nil {
		if err := e.packOrigins(found, below, under); err != nil {
			return q, err
		}
	}
	return o.each(e, o.layout, 0, under)
}

// each explodes all maps of a layout.
func (o *object) each(e *emitter, l *mapfile.Layout, segment uint32, under *packed) (q symbol.Quality, err error) {
	defer e.end()
	t := json.NewReader(mapfile.Name, o.in, 0)
	err = l.Each(mapfile.Position{}, end, func(l *mapfile.Layout, from, to mapfile.Position) error {
		q.Units++
		if err := e.ctx.Err(); err != nil {
			return err
		}
		return e.explodeMap(t, l, from, to, under)
	})
	if err != nil {
		return q, err
	}
	if err := e.explodeTables(t, l, segment); err != nil {
		return q, err
	}
	return q, e.flush()
}
