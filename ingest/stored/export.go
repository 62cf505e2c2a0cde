package stored

import (
	"context"
	"errors"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Export gives what the rows of a load say, a range or class a run.
func Export(ctx context.Context, s *sinks.Store, k *row.Keyring, id symbol.ID, l *row.Loaded, write func(*symbol.Run) error) error {
	opened, err := k.Open(id, l)
	if err != nil {
		return err
	}
	check := opened.Verify()
	runs := newRunMaker(l.Rank, write)
	prefix := row.LoadPrefix(id, l.Load)
	err = s.Blocks.Scan(ctx, sinks.Span{From: prefix, Stop: After(prefix)}, func(rw sinks.Row) error {
		block, err := check.Add(rw)
		if err != nil || block == nil {
			return err
		}
		for i := range block.Classes() {
			c, err := block.ClassAt(i)
			if err == nil {
				err = write(&symbol.Run{Class: c})
			}
			if err != nil {
				return err
			}
		}
		return runs.block(block)
	})
	if err == nil {
		_, err = check.Digest()
	}
	return errors.Join(err, opened.Err())
}

// runMaker makes runs of the ranges of blocks: one a range, all with one table of strings.
type runMaker struct {
	write   func(*symbol.Run) error
	run     symbol.Run
	numbers map[string]uint32
}

func newRunMaker(rank symbol.Rank, write func(*symbol.Run) error) *runMaker {
	return &runMaker{write: write, numbers: map[string]uint32{"": 0}, run: symbol.Run{Rank: rank, Strings: []string{""}}}
}

func (m *runMaker) block(b *row.Block) error {
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
		g := symbol.Range{Start: start, End: end, Scope: int32(len(r.Scopes) - 1), At: m.site(&chain[0]), Name: m.number(chain[0].Name)}
		if chain[0].Ignored {
			g.Flags |= symbol.Ignored
		}
		r.Ranges = append(r.Ranges, g)
		return m.write(r)
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
