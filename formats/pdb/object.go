package pdb

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/codeview"
	"github.com/symlake/symlake/formats/internal/msf"
	"github.com/symlake/symlake/formats/internal/once"
	"github.com/symlake/symlake/formats/symbol"
)

// object is an opened file.
type object struct {
	in     *formats.Input
	file   *msf.File
	info   *info
	dbi    *dbi
	layout *layout
	groups [][]int // modules of each part but the last
	parts  sync.Pool

	shared  once.Work
	publics publics
	texts   []byte          // the string table: names of files
	ids     *codeview.Types // nil: there are none
	types   *codeview.Types

	mu     sync.Mutex
	tables []*table // that no part uses now
}

// groupBytes is how much of the streams of modules one part reads.
const groupBytes = 1 << 20

// group makes the parts.
func (o *object) group() {
	size := uint64(groupBytes)
	for i, m := range o.dbi.modules {
		if m.stream == noStream {
			continue
		}
		if size >= groupBytes {
			o.groups, size = append(o.groups, nil), 0
		}
		last := len(o.groups) - 1
		o.groups[last] = append(o.groups[last], i)
		size += uint64(m.symbols) + uint64(m.c13)
	}
}

// prepare reads what all parts need, once.
func (o *object) prepare(ctx context.Context) error {
	return o.shared.Do(name, func() error { return o.read(ctx) })
}

func (o *object) read(ctx context.Context) error {
	if n, ok := o.info.named["/names"]; ok {
		if err := o.readTexts(int(n)); err != nil {
			return err
		}
	}
	var err error
	if o.types, err = o.openTypes("types", streamTypes); err != nil {
		return err
	}
	if o.ids, err = o.openTypes("ids", streamIDs); err != nil {
		return err
	}
	return o.publics.read(ctx, o)
}

// readTexts reads the string table.
func (o *object) readTexts(n int) error {
	s, err := o.file.Stream("/names", n)
	if err != nil {
		return err
	}
	b, err := s.All(nil)
	if err != nil {
		return err
	}
	const head, signature = 12, 0xeffeeffe
	if len(b) < head || u32(b) != signature || uint64(u32(b[8:])) > uint64(len(b)-head) {
		return s.Corrupt(0, "a string table")
	}
	o.texts = b[head : head+u32(b[8:])]
	return nil
}

// openTypes opens a stream of types. A damaged one is as if it were not there: names are shorter without.
func (o *object) openTypes(what string, n int) (*codeview.Types, error) {
	s, err := o.file.Stream(what, n)
	if err == nil && s.Size == 0 {
		return nil, nil
	}
	var t *codeview.Types
	if err == nil {
		t, err = codeview.OpenTypes(&s, func(n int) (msf.Stream, error) { return o.file.Stream(what+" hash", n) })
	}
	if errors.Is(err, formats.ErrCorrupt) {
		return nil, nil
	}
	return t, err
}

func (o *object) explode(ctx context.Context, i int, emit func(*symbol.Run) error) (q symbol.Quality, err error) {
	if i < 0 || i > len(o.groups) {
		return q, fmt.Errorf("%s: part %d of %d", name, i, len(o.groups)+1)
	}
	if err := ctx.Err(); err != nil {
		return q, err
	}
	if err := o.prepare(ctx); err != nil {
		return q, err
	}
	p, _ := o.parts.Get().(*part)
	if p == nil {
		p = &part{o: o}
	}
	p.table, p.emit = o.takeTable(), emit
	if i == len(o.groups) {
		q.Text = o.layout.textBytes()
		err = p.publics(ctx)
	} else {
		err = p.modules(ctx, o.groups[i], &q)
	}
	o.giveTable(p.table)
	p.table, p.emit = nil, nil
	o.parts.Put(p)
	return q, err
}

// modules explodes some modules.
func (p *part) modules(ctx context.Context, list []int, q *symbol.Quality) error {
	for _, i := range list {
		if err := ctx.Err(); err != nil {
			return err
		}
		q.Units++
		err := p.explodeModule(ctx, i, q)
		if err == nil {
			continue
		}
		if p.failed != nil {
			return p.failed
		}
		if !errors.Is(err, formats.ErrCorrupt) {
			return err
		}
		q.UnitsBroken++
	}
	return nil
}
