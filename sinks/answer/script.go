package answer

import (
	"context"
	"slices"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/catalog"
	"github.com/symlake/symlake/sinks/lookup"
)

// tableOf is the question where the module or function begins that a frame's
// position counts from; false: it counts from the script's first. A script that only looks like a
// module of React Native, 33.js, has a map of its own.
func tableOf(f *report.Frame, r *catalog.Record) (lookup.Query, bool) {
	if f.Script == nil || f.Script.Module == nil || f.Script.Module.Table == report.NoTable {
		return lookup.Query{}, false
	}
	m := f.Script.Module
	at := symbol.Where{Space: symbol.Position, Value: symbol.ModuleOffset(m.Segment, m.Number)}
	if m.Table == report.Functions {
		pos, ok := symbol.HermesFunction(m.Segment, uint32(f.At.Value>>32)-m.Segment*symbol.MaxLine, m.Number)
		if at.Value = pos; !ok {
			at.Value = symbol.TablesEnd
		}
	} else if r.HasName(symbol.NameFile, lookup.FileName(f.File)) {
		return lookup.Query{}, false
	}
	return lookup.Query{Artifact: r.ID, Where: at}, true
}

// shift moves the questions that count from a table's answer. Where a map has tables
// and this answer is not in them, no position is right: the question goes to the table, which
// answers nothing. A map without tables maps the script itself.
func (b *stacks) shift(ctx context.Context) error {
	return b.c.Frames(ctx, b.tables, func(i int, a symbol.Answer) {
		q := &b.qs[b.shifted[i]]
		if a.Status == symbol.Outside {
			return
		}
		if a.Status != symbol.Found || len(a.Frames) == 0 {
			q.Where = b.tables[i].Where
			return
		}
		from := &a.Frames[0]
		line, column := uint32(q.Where.Value>>32), uint32(q.Where.Value)
		q.Where.Value = uint64(line+from.Line-1)<<32 | uint64(column+from.Column)
	})
}

// keepNames gives the function of a frame the name that the engine called it by, where its map knows less: none, or that it
// has no name.
func keepNames(s *report.Report, answers [][]symbol.Answer) {
	for t := range answers {
		for i := range answers[t] {
			script, a := s.Threads[t].Frames[i].Script, &answers[t][i]
			if script == nil || script.Function == "" || a.Status != symbol.Found || len(a.Frames) == 0 {
				continue
			}
			last := len(a.Frames) - 1 // the others are inlined into it
			switch a.Frames[last].Readable() {
			case "", "<anonymous>", "<global>":
				a.Frames = slices.Clone(a.Frames) // other answers may share them
				a.Frames[last].Function = script.Function
			}
		}
	}
}
