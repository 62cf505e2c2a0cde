package clr

import (
	"context"
	"fmt"
	"math"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/ecma335"
	"github.com/symlake/symlake/formats/internal/pefile"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	// partMethods is how many methods one part holds.
	partMethods = 4 << 10
	// unknownBytes is how far a method reaches behind its last place where nothing tells its size.
	unknownBytes = 1 << 16
)

// part reads methods, one after the other.
type part struct {
	o      *object
	window *pefile.Window
	run    symbol.Run
	files  map[int]uint32 // by row of Document
	points []ecma335.Point
	left   int // bytes of blobs that may still be read
}

func (o *object) explode(ctx context.Context, i, methods int, emit func(*symbol.Run) error) (symbol.Quality, error) {
	var q symbol.Quality
	first := i*partMethods + 1
	if i < 0 || first > methods {
		return q, fmt.Errorf("%s: part %d of %d", name, i, (methods+partMethods-1)/partMethods)
	}
	p := &part{o: o, files: map[int]uint32{0: 0}}
	p.run = symbol.Run{Rank: symbol.RankSymtab, Strings: []string{""}, Table: new(int), Scopes: []symbol.Scope{{Parent: -1}}}
	if o.pdb != nil {
		p.run.Rank = symbol.RankDWARF
		p.left = o.pdb.Work() / ((methods + partMethods - 1) / partMethods)
	}
	if o.assembly != nil {
		p.window = o.assembly.file.Window()
	}
	for row := first; row <= min(methods, first+partMethods-1); row++ {
		if row%256 == 0 && ctx.Err() != nil {
			return q, ctx.Err()
		}
		if err := p.method(row, &q, emit); err != nil {
			return q, err
		}
		if p.left < 0 {
			return q, &formats.Error{Format: name, Section: "#Blob", Want: "blobs that methods do not share without end", Err: formats.ErrLimit}
		}
	}
	if i == 0 && o.lacks != "" {
		q.Missing = append(q.Missing, o.lacks)
	}
	return q, ctx.Err()
}

// method emits the run of one method, if it has code.
func (p *part) method(row int, q *symbol.Quality, emit func(*symbol.Run) error) error {
	o := p.o
	p.points = p.points[:0]
	if o.pdb != nil {
		var ok bool
		if p.points, ok = o.pdb.Points(row, p.points, &p.left); !ok {
			q.LinesBroken++
		}
	}
	size, err := p.size(row)
	if size == 0 || err != nil {
		return err
	}
	q.Units++
	q.Text += uint64(size)

	r := &p.run
	r.Ranges, r.Scopes[0].Function = r.Ranges[:0], 0
	if o.names != nil {
		r.Scopes[0].Function = p.text(o.names.Method(row))
	}
	base := uint64(row) << 32
	last := symbol.Range{Start: base}
	for _, at := range p.points {
		if at.Offset >= size {
			break
		}
		if at.Line == 0 {
			continue
		}
		site := symbol.Site{File: p.file(at.Document), Line: at.Line, Column: at.Column}
		if site == last.At {
			continue
		}
		if last.End = base + uint64(at.Offset); last.End > last.Start {
			if err := p.add(last, emit); err != nil {
				return err
			}
		}
		last.Start, last.At = last.End, site
	}
	last.End = base + uint64(size)
	if err := p.add(last, emit); err != nil {
		return err
	}
	if len(r.Ranges) == 0 {
		return nil
	}
	return emit(r)
}

// add adds a range to the run.
func (p *part) add(g symbol.Range, emit func(*symbol.Run) error) error {
	r := &p.run
	if r.Scopes[0].Function == 0 && g.At == (symbol.Site{}) {
		return nil // before the first place of a method without a name
	}
	if len(r.Ranges) >= p.o.in.Limits.RunRanges {
		if err := emit(r); err != nil {
			return err
		}
		r.Ranges = r.Ranges[:0]
	}
	r.Ranges = append(r.Ranges, g)
	return nil
}

// size returns how much code a method has; 0: it has none that is known of.
func (p *part) size(row int) (uint32, error) {
	o := p.o
	if o.assembly != nil && row <= o.assembly.meta.Rows(ecma335.MethodDef) {
		size, err := o.assembly.size(p.window, row)
		if size > 0 || err != nil {
			return min(size, math.MaxInt32), err
		}
	}
	if len(p.points) == 0 {
		return 0, nil
	}
	if row < len(o.sizes) && o.sizes[row] > 0 {
		return o.sizes[row], nil
	}
	return min(p.points[len(p.points)-1].Offset+unknownBytes, math.MaxInt32), nil
}

func (p *part) file(document int) uint32 {
	i, ok := p.files[document]
	if !ok {
		i = p.text(p.o.pdb.Path(document, &p.left))
		p.files[document] = i
	}
	return i
}

func (p *part) text(s string) uint32 {
	if s == "" {
		return 0
	}
	s = symbol.ShortName(s, p.o.in.Limits.NameBytes)
	p.run.Strings = append(p.run.Strings, s)
	return uint32(len(p.run.Strings) - 1)
}
