package stored

import (
	"context"
	"errors"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/loads"
)

// Export writes the ranges and classes of a load to to, one range a run.
func Export(ctx context.Context, s *sinks.Store, k *row.Keyring, id symbol.ID, l *row.Loaded, to sinks.LakeRows) error {
	runs := newRunMaker(l.Rank, to)
	return blocks(ctx, s, k, id, l, func(b *loads.Block) error {
		if err := eachClass(b, to.WriteClass); err != nil {
			return err
		}
		return runs.block(b)
	})
}

// Classes emits the classes of a load.
func Classes(ctx context.Context, s *sinks.Store, k *row.Keyring, id symbol.ID, l *row.Loaded, emit func(*symbol.Class) error) error {
	return blocks(ctx, s, k, id, l, func(b *loads.Block) error { return eachClass(b, emit) })
}

// blocks reads and verifies the blocks of a load.
func blocks(ctx context.Context, s *sinks.Store, k *row.Keyring, id symbol.ID, l *row.Loaded, each func(*loads.Block) error) error {
	opened, err := loads.Open(k, id, l)
	if err != nil {
		return err
	}
	check := opened.Verify()
	err = s.Blocks.Scan(ctx, Span(id, l.Load), func(rw sinks.Row) error {
		block, err := check.Add(rw)
		if err != nil || block == nil {
			return err
		}
		return each(block)
	})
	if err == nil {
		_, err = check.Digest()
	}
	return errors.Join(err, opened.Err())
}

// eachClass emits the classes of a block.
func eachClass(b *loads.Block, emit func(*symbol.Class) error) error {
	for i := range b.Classes.Len() {
		c, err := b.Classes.At(i)
		if err == nil {
			err = emit(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runMaker makes one run of each range. All runs share one table of strings.
type runMaker struct {
	to      sinks.LakeRows
	run     symbol.Script // of code: without marks
	numbers map[string]uint32
}

func newRunMaker(rank symbol.Rank, to sinks.LakeRows) *runMaker {
	return &runMaker{to: to, numbers: map[string]uint32{"": 0}, run: symbol.Script{Run: symbol.Run{Rank: rank, Strings: []string{""}}}}
}

func (m *runMaker) block(b *loads.Block) error {
	return b.Each(func(start, end uint64, chain []symbol.Frame) error {
		r := &m.run
		r.Scopes, r.Ranges = r.Scopes[:0], r.Ranges[:0]
		for i := len(chain) - 1; i >= 0; i-- { // parents first
			s := symbol.Scope{Parent: int32(len(r.Scopes) - 1), Function: m.number(chain[i].Linkage)}
			if i+1 < len(chain) {
				s.Call = m.site(&chain[i+1])
			}
			r.Scopes = append(r.Scopes, s)
		}
		if len(chain) == 0 {
			return nil
		}
		r.Ranges = append(r.Ranges, symbol.Range{Start: start, End: end, Scope: int32(len(r.Scopes) - 1), At: m.site(&chain[0])})
		if r.Rank != symbol.RankScript {
			return m.to.Write(&r.Run)
		}
		mark := symbol.Mark{Name: m.number(chain[0].Name)}
		if chain[0].Ignored {
			mark.Flags |= symbol.Ignored
		}
		r.Marks = append(r.Marks[:0], mark)
		return m.to.WriteScript(r)
	})
}

func (m *runMaker) site(f *symbol.Frame) symbol.Site {
	return symbol.Site{File: m.number(f.File), Line: f.Line, Column: f.Column}
}

func (m *runMaker) number(s string) uint32 {
	n, ok := m.numbers[s]
	if !ok {
		n = uint32(len(m.run.Strings))
		m.run.Strings = append(m.run.Strings, s)
		m.numbers[s] = n
	}
	return n
}
