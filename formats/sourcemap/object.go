package sourcemap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"path"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/symbol"
)

// object is an opened map.
type object struct {
	in     *formats.Input
	script *formats.Input // that the map stands in; nil: it is a file of its own
	layout *mapfile.Layout
}

// end is the end of every script.
var end = mapfile.Position{Line: symbol.MaxLine}

// openMap opens a map; script is what it stands in, or nil.
func openMap(ctx context.Context, in, script *formats.Input) (*formats.Object, error) {
	l, _, err := mapfile.Read(in, 0, 0)
	if err != nil {
		return nil, err
	}
	o := &object{in: in, script: script, layout: l}
	a := formats.Artifact{Artifact: symbol.Artifact{Kind: symbol.SourceMap}, Rank: symbol.RankScript, Parts: 1 + len(l.Segments)}
	if len(l.DebugIDs) > 0 {
		a.Canonical = l.DebugIDs[0]
	} else if a.Canonical, err = o.digest(ctx); err != nil {
		return nil, err
	}
	a.ID = symbol.NewID(symbol.SourceMap, a.Canonical)
	a.Names = o.names()
	if len(l.DebugIDs) == 0 {
		a.Names = append(a.Names, symbol.Name{Kind: symbol.NameHash, Text: a.Canonical})
	}
	a.End = uint64(l.Lines) << 32
	for _, s := range l.Segments {
		a.End = max(a.End, uint64(s.Number*symbol.MaxLine+s.Layout.Lines)<<32)
	}
	if l.HermesOffsets != (mapfile.Span{}) || l.ModuleOffsets != (mapfile.Span{}) || len(l.Segments) > 0 {
		a.End = max(a.End, symbol.TablesEnd)
	}
	a.ExplodeScript, a.Texts, a.Ordered = o.explode, o.texts, o.ordered()
	obj := &formats.Object{Artifacts: []formats.Artifact{a}}
	if script != nil && in.Release != nil {
		obj.Close = in.Release
	}
	return obj, nil
}

// orderedBytes is of how many bytes of mappings on a map has enough ranges for all its strings to be worth
// sharing: ingest does not count before it begins.
const orderedBytes = 64 << 10

// ordered reports whether the map's segments are all that it says, and come as they answer.
func (o *object) ordered() bool {
	l := o.layout
	return l.Mappings.To-l.Mappings.From >= orderedBytes && l.Sections == nil && len(l.Segments) == 0 &&
		l.HermesOffsets == (mapfile.Span{}) && l.ModuleOffsets == (mapfile.Span{}) && !l.IsCompilers()
}

// names are those of the script and of the map.
func (o *object) names() []symbol.Name {
	var names []symbol.Name
	add := func(k symbol.NameKind, text string) {
		for _, n := range names {
			if n.Kind == k && strings.EqualFold(n.Text, text) {
				return
			}
		}
		if text != "" && text != "." && text != "/" {
			names = append(names, symbol.Name{Kind: k, Text: text})
		}
	}
	for _, id := range o.layout.DebugIDs {
		add(symbol.NameDebugID, id)
	}
	where := pathOf(o.in.Name)
	if o.script != nil {
		where = pathOf(o.script.Name)
	}
	script := strings.TrimSuffix(where, ".map")
	add(symbol.NameFile, formats.Base(script))
	add(symbol.NameFile, formats.Base(where))
	if file := o.layout.File; file != "" {
		add(symbol.NameFile, formats.Base(pathOf(file)))
	}
	if strings.Contains(strings.Trim(script, "/"), "/") {
		add(symbol.NamePath, script)
	}
	return names
}

// pathOf is the path in an object's name or a URL, without query and fragment:
// that of the member in an archive.
func pathOf(file string) string {
	if i := strings.LastIndexByte(file, '!'); i >= 0 {
		return file[i+1:]
	}
	if scheme, rest, ok := strings.Cut(file, "://"); ok && !strings.ContainsAny(scheme, "/.") {
		if u, err := url.Parse(file); err == nil && scheme != "file" {
			return path.Clean(strings.TrimPrefix(u.Path, "/"))
		}
		return rest
	}
	return strings.TrimPrefix(file, "file:")
}

// digest is the id of a map without one.
func (o *object) digest(ctx context.Context) (string, error) {
	h := sha256.New()
	if err := o.layout.Hash(ctx, h, o.in); err != nil {
		return "", err
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)), nil
}

// explode emits part 0, the map itself and its tables, or that of a segment.
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
	if o.layout.IsCompilers() {
		found, below, err := findPackagers(ctx, o.in, o.layout)
		if err != nil {
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
	return o.each(e, o.layout, 0, under)
}

// each explodes all maps of a layout.
func (o *object) each(e *emitter, l *mapfile.Layout, segment uint32, under *packed) (q symbol.Quality, err error) {
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
