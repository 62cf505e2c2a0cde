package sourcemap

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/sourcemap/internal/lines"
	"github.com/symlake/symlake/formats/sourcemap/internal/mapfile"
	"github.com/symlake/symlake/formats/sourcemap/internal/origin"
	"github.com/symlake/symlake/formats/sourcemap/internal/script"
)

// maxBundleBytes is the largest script that is read for names. That takes a second, and memory for the names.
const maxBundleBytes = 32 << 20

// wantsScript reports whether the functions' names are to be taken from the script.
func (o *object) wantsScript(under *packed) bool {
	if under != nil {
		return under.functions == nil
	}
	return o.layout.LacksFunctions()
}

// script finds the script of a map; nil: it is missing.
func (o *object) findScript(ctx context.Context, under *packed) (*formats.Input, error) {
	if o.script != nil {
		shared := *o.script
		shared.Release = nil
		return &shared, nil
	}
	if o.beside != nil && under == nil && o.beside.Size <= maxBundleBytes {
		shared := *o.beside
		shared.Release = nil
		return &shared, nil
	}
	var names []string
	stem := strings.TrimSuffix(formats.Base(o.in.Name), ".map")
	if under != nil {
		stem = strings.TrimSuffix(strings.TrimSuffix(stem, ".compiler"), ".hbc")
	}
	for _, n := range []string{stem, formats.Base(pathOf(o.layout.File))} {
		if n != "" && n != "." && n != formats.Base(o.in.Name) && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return companion(ctx, o.in, names, func(c *formats.Input) bool { return c.Size <= maxBundleBytes })
}

// readScript names functions by the script. A fault of the script costs the names alone.
func (o *object) readScript(ctx context.Context, e *emitter, under *packed) (err error) {
	in, err := o.findScript(ctx, under)
	if err != nil || in == nil {
		return err
	}
	if in.Release != nil {
		defer func() { err = errors.Join(err, in.Release()) }()
	}
	b, err := in.View(0, in.Size)
	if err != nil {
		return err
	}
	var all *script.List
	failed := formats.Guard(mapfile.Name, func() error {
		all = script.Functions(b, in.Limits.Symbols)
		return nil
	})
	if failed != nil || all == nil {
		return nil
	}
	t, count := newTokenNames(b, all)
	if count < o.layout.Lines && under == nil {
		return nil // another script of that name
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if under != nil {
		t.fromPacked(under, e)
	} else if err := t.read(e, o.in, o.layout); err != nil {
		return err
	}
	t.nameAliases(all)
	borders := e.functionBorders(b, all, t)
	if under != nil {
		under.borders = borders
	} else {
		e.setBorders(borders)
	}
	return nil
}

// functionBorders makes nodes of functions, and lists where each begins and ends to answer. They
// nest as their extents do.
func (e *emitter) functionBorders(script []byte, all *script.List, t *tokenNames) []mapfile.Border {
	global := e.named(e.intern("<global>"))
	e.node = global
	borders := make([]mapfile.Border, 1, 2*len(all.Placed)+1)
	borders[0].Node = global
	p := lines.NewCounter(script)
	put := func(offset, n, of int32) uint64 {
		at := p.Of(int(offset))
		if k := len(borders); borders[k-1].At == at {
			borders[k-1].Node, borders[k-1].Of = n, of
		} else {
			borders = append(borders, mapfile.Border{At: at, Node: n, Of: of})
		}
		return at
	}
	type open struct{ end, node, of int32 }
	stack := []open{{math.MaxInt32, global, 0}}
	leave := func() {
		end := stack[len(stack)-1].end
		stack = stack[:len(stack)-1]
		put(end, stack[len(stack)-1].node, stack[len(stack)-1].of)
	}
	heads := headFinder{script: script}
	var name []byte
	for i := range all.Placed {
		f := &all.Placed[i]
		if f.End <= f.Start {
			continue
		}
		for f.Start >= stack[len(stack)-1].end {
			leave()
		}
		name = t.appendName(name[:0], all, f)
		n, of := e.named(e.internBytes(name)), int32(i+1)
		heads.add(int(f.Start), put(f.Start, n, of), of)
		stack = append(stack, open{f.End, n, of})
	}
	for len(stack) > 1 {
		leave()
	}
	e.script = &origin.Script{Borders: borders, Heads: heads.sorted(), Count: len(all.Placed) + 1}
	return borders
}
