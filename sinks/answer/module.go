package answer

import (
	"context"
	"slices"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
)

// try finds the artifact of a frame. A frame of WebAssembly is answered by its module if that has lines, else by the
// module's source map: that has one line, and its columns are the module's offsets.
func (c *Client) try(ctx context.Context, f *report.Frame, o Options) []Tried {
	tried := c.tryKind(ctx, f, o)
	last := tried[len(tried)-1]
	if f.Kind != symbol.Wasm || last.Status == symbol.Found && last.Record.Published.Rank == symbol.RankDWARF {
		return tried
	}
	of := *f
	of.Kind = symbol.SourceMap
	if maps := c.tryKind(ctx, &of, o); maps[len(maps)-1].Status == symbol.Found {
		return append(tried, maps...)
	}
	return tried
}

// mapped is the answer of a module's source map to a frame.
type mapped struct {
	to    *symbol.Answer
	names int // the module's own answer to the frame, among stacks.modules; -1: only the map is known
}

// viaMap notes a frame of WebAssembly that a source map answers.
func (b *stacks) viaMap(f *report.Frame, at *target, to *symbol.Answer) {
	if f.Kind != symbol.Wasm || at.is().Record.Published.Artifact.Kind != symbol.SourceMap {
		return
	}
	m := mapped{to, -1}
	for i := range at.tried {
		if r := &at.tried[i].Resolution; r.Status == symbol.Found && r.Record.Published.Artifact.Kind == symbol.Wasm {
			m.names = len(b.modules)
			b.modules = append(b.modules, lookup.Query{Artifact: r.Record.ID, Where: f.At})
			break
		}
	}
	b.mapped = append(b.mapped, m)
}

// settleMapped makes answers of maps answers of modules: columns count from 1, and the module names the function where the
// map does not, or where the frame has the number of a function alone.
func (b *stacks) settleMapped(ctx context.Context) error {
	if len(b.mapped) == 0 {
		return nil
	}
	names := make([]symbol.Answer, len(b.modules))
	if err := b.c.Frames(ctx, b.modules, func(i int, a symbol.Answer) { names[i] = a }); err != nil {
		return err
	}
	for _, m := range b.mapped {
		var own symbol.Answer
		if m.names >= 0 {
			own = names[m.names]
		}
		named := own.Status == symbol.Found && len(own.Frames) > 0
		if m.to.Status != symbol.Found || len(m.to.Frames) == 0 {
			if named {
				*m.to = own
			}
			continue
		}
		frames := slices.Clone(m.to.Frames) // other answers may share them
		for i := range frames {
			if frames[i].Line > 0 {
				frames[i].Column++
			}
		}
		if outer := &frames[len(frames)-1]; outer.Readable() == "" && named {
			module := &own.Frames[len(own.Frames)-1]
			outer.Function, outer.Linkage = module.Function, module.Linkage
		}
		m.to.Frames = frames
	}
	return nil
}
