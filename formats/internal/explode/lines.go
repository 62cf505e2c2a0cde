package explode

import (
	"slices"

	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/internal/native"
)

func (l *lines) reset() {
	*l = lines{seq: -1}
}

// load runs the line number program, once.
func (l *lines) load(p *part) error {
	if l.table != nil {
		return nil
	}
	table, err := p.r.Lines(p.x.live, p.x.Apart)
	if err != nil {
		return err
	}
	l.table = table
	return nil
}

// seek moves to the first sequence that ends behind addr; false if there is
// none.
func (l *lines) seek(addr uint64) bool {
	s := l.table.Sequences
	i, _ := slices.BinarySearchFunc(s, addr, func(s dwarf.Sequence, addr uint64) int {
		if s.High <= addr {
			return -1
		}
		return 1
	})
	if i == len(s) {
		return false
	}
	l.enter(i, addr)
	return true
}

func (l *lines) enter(i int, addr uint64) {
	l.seq, l.rows = i, l.table.Rows(&l.table.Sequences[i])
	l.row, _ = slices.BinarySearchFunc(l.rows, addr, func(r dwarf.Row, addr uint64) int {
		if r.Addr <= addr {
			return -1
		}
		return 1
	})
	l.row = max(l.row-1, 0)
}

// lined cuts [low, high) of a node, -1 for code of no function, at the rows
// of the line table.
func (p *part) lined(low, high uint64, node int32) error {
	l, r := &p.lines, &p.run
	if err := r.enter(p, low, node); err != nil {
		return err
	}
	seqs, from := l.table.Sequences, uint64(0) // rows below from say nothing here
	if p.x.Apart && node >= 0 {
		from = p.tree.piece(p.tree.nodes[node].root, low).Start
	}
	for low < high {
		if l.seq < 0 || low < seqs[l.seq].Low || low >= seqs[l.seq].High || low < l.rows[l.row].Addr {
			if !l.seek(low) || seqs[l.seq].Low >= high {
				return r.add(p, low, high, r.unknown())
			}
			if from := seqs[l.seq].Low; from > low {
				if err := r.add(p, low, from, r.unknown()); err != nil {
					return err
				}
				low = from
			}
		}
		rows, i := l.rows, l.row
		for i+1 < len(rows) && rows[i+1].Addr <= low {
			i++
		}
		l.row = i
		end := min(high, seqs[l.seq].High)
		if i+1 < len(rows) {
			end = min(end, rows[i+1].Addr)
		}
		if rows[i].Addr < from {
			if err := r.add(p, low, end, r.unknown()); err != nil {
				return err
			}
			low = end
			continue
		}
		if place := rows[i].Place; place != l.place || !l.known {
			site, err := p.site(place.File(), place.Line(), place.Column())
			if err != nil {
				return err
			}
			l.place, l.site, l.known = place, site, true
		}
		if err := r.add(p, low, end, l.site); err != nil {
			return err
		}
		low = end
	}
	return nil
}

// between emits the code of the unit that lies in no function of it but has
// lines: assembly, units with line tables only. Its function is the symbol
// that covers it. own is what the unit says is its code; without that its
// line table, which other units may share, is no evidence.
func (p *part) between(own []native.Span) error {
	if p.x.Apart && len(p.covered) > 0 {
		return nil
	}
	live := own[:0]
	for _, s := range own {
		if p.x.live(s.Start, s.End) {
			live = append(live, s)
		}
	}
	if len(live) == 0 {
		return nil
	}
	if err := p.lines.load(p); err != nil {
		return err
	}
	seqs, covered := p.lines.table.Sequences, p.covered
	for _, s := range normal(live) {
		for len(seqs) > 0 && seqs[0].High <= s.Start {
			seqs = seqs[1:]
		}
		for i := 0; i < len(seqs) && seqs[i].Low < s.End; i++ {
			low, high := max(s.Start, seqs[i].Low), min(s.End, seqs[i].High)
			for len(covered) > 0 && covered[0].End <= low {
				covered = covered[1:]
			}
			for j := 0; j < len(covered) && covered[j].Start < high && low < high; j++ {
				if covered[j].Start > low {
					if err := p.unowned(low, covered[j].Start); err != nil {
						return err
					}
				}
				low = covered[j].End
			}
			if low < high {
				if err := p.unowned(low, high); err != nil {
					return err
				}
			}
		}
	}
	return p.run.end(p)
}

// unowned emits [low, high), cut at the symbols.
func (p *part) unowned(low, high uint64) error {
	syms := p.x.img.Symbols
	for low < high {
		name, end := p.x.covering(low)
		end = min(end, high)
		f := uint32(0)
		if name >= 0 {
			f = p.strings.symbol(name, syms)
		}
		if err := p.run.begin(p, f); err != nil {
			return err
		}
		if err := p.lined(low, end, -1); err != nil {
			return err
		}
		low = end
	}
	return nil
}
