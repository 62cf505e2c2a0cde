package callframes

import (
	"container/heap"
	"context"
	"encoding/binary"
	"math"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/scratch"
)

// maxOverlap bounds the ranges that begin before a position and end behind it. Real files have two.
const maxOverlap = 1 << 16

// source gives sorted pieces: of memory, or of a segment.
type source struct {
	pieces  []piece // the unread ones in memory
	file    *scratch.File
	segment segment
	room    []piece
	page    []byte
}

// next makes pieces[0] the next one; false: there is none.
func (s *source) next() (bool, error) {
	if len(s.pieces) > 0 {
		return true, nil
	}
	if s.segment.pieces == 0 {
		return false, nil
	}
	n := min(s.segment.pieces, pagePieces)
	if s.page == nil {
		s.page, s.room = make([]byte, scratch.PageBytes), make([]piece, pagePieces)
	}
	b := s.page[:n*pieceBytes]
	if err := s.file.Read(s.segment.pages[0], b); err != nil {
		return false, err
	}
	s.segment.pages, s.segment.pieces = s.segment.pages[1:], s.segment.pieces-n
	s.pieces = s.room[:n]
	for i := range s.pieces {
		s.pieces[i] = piece{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint32(b[16:]), binary.LittleEndian.Uint32(b[20:])}
		b = b[pieceBytes:]
	}
	return true, nil
}

// sources is a heap of sources that have a piece.
type sources []*source

func (h sources) Len() int           { return len(h) }
func (h sources) Less(i, j int) bool { return compare(h[i].pieces[0], h[j].pieces[0]) < 0 }
func (h sources) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *sources) Push(x any)        { *h = append(*h, x.(*source)) }
func (h *sources) Pop() any {
	s := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return s
}

// merge gives the pieces of all sources in order.
func merge(from []*source, emit func(piece) error) error {
	var h sources
	for _, s := range from {
		if len(from) == 1 && s.file == nil {
			for _, p := range s.pieces {
				if err := emit(p); err != nil {
					return err
				}
			}
			return nil
		}
		ok, err := s.next()
		if err != nil {
			return err
		}
		if ok {
			h = append(h, s)
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		s := h[0]
		p := s.pieces[0]
		s.pieces = s.pieces[1:]
		ok, err := s.next()
		switch {
		case err != nil:
			return err
		case !ok:
			heap.Pop(&h)
		case len(h) > 1:
			heap.Fix(&h, 0)
		}
		if err := emit(p); err != nil {
			return err
		}
	}
	return nil
}

// Each emits the ranges, ascending and apart from each other. Neighbors have unlike rules, and none has rules 0. The errors are
// emit's, ctx's, and the scratch file's.
func (s *Sorter) Each(ctx context.Context, emit func(symbol.UnwindRange) error) error {
	s.Sort()
	all := []*source{{pieces: s.pieces}}
	for _, g := range s.segments {
		all = append(all, &source{file: s.file, segment: g})
	}
	w := sweep{emit: emit}
	n, left := 0, s.Left
	err := merge(all, func(p piece) error {
		if n++; n%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return w.add(p)
	})
	if err == nil {
		err = w.end()
	}
	s.Left = left + w.left - s.overlapped
	s.overlapped = w.left
	return err
}

// sweep makes sorted pieces disjoint.
type sweep struct {
	emit func(symbol.UnwindRange) error
	open active             // pieces that may count from at on
	at   uint64             // all before is emitted
	last symbol.UnwindRange // not emitted yet; rules 0: none
	left uint64
}

// active is a heap of pieces: the first counts before the others.
type active []piece

func (h active) Len() int           { return len(h) }
func (h active) Less(i, j int) bool { return h[i].order < h[j].order }
func (h active) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *active) Push(x any)        { *h = append(*h, x.(piece)) }
func (h *active) Pop() any {
	p := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return p
}

func (w *sweep) add(p piece) error {
	if err := w.advance(p.start); err != nil {
		return err
	}
	if len(w.open) == 1 && w.open[0].end <= w.at { // the usual case
		w.open = w.open[:0]
	}
	switch {
	case len(w.open) == 0:
		w.open = append(w.open, p)
	case w.open[0].order < p.order && w.open[0].end >= p.end: // it never counts
	case len(w.open) == maxOverlap:
		w.left++
	default:
		heap.Push(&w.open, p)
	}
	return nil
}

// advance emits what counts up to a position.
func (w *sweep) advance(to uint64) error {
	for len(w.open) > 0 && w.at < to {
		top := &w.open[0]
		if top.end <= w.at {
			heap.Pop(&w.open)
			continue
		}
		end := min(top.end, to)
		if err := w.put(symbol.UnwindRange{Start: w.at, End: end, Rules: top.rules}); err != nil {
			return err
		}
		w.at = end
	}
	w.at = max(w.at, to)
	return nil
}

// put joins a range with the one before, if they are neighbors with equal rules.
func (w *sweep) put(g symbol.UnwindRange) error {
	if w.last.Rules == g.Rules && w.last.End == g.Start {
		w.last.End = g.End
		return nil
	}
	last := w.last
	w.last = g
	if last.Rules == 0 {
		return nil
	}
	return w.emit(last)
}

func (w *sweep) end() error {
	if err := w.advance(math.MaxUint64); err != nil || w.last.Rules == 0 {
		return err
	}
	return w.emit(w.last)
}
