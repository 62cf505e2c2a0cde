package tables

import (
	"errors"
	"slices"
	"strings"
	"unsafe"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/internal/answers"
	"github.com/symlake/symlake/sinks/internal/pile"
)

// built is the answers of one segment: its distinct ones, and which one each row has. Its memory is used again.
type built struct {
	texts   []string
	local   pile.Ranks // number → rank of the answer
	numbers []uint32   // by row

	bodies   []byte // of the answers, one behind the other
	ends     []int
	statuses []uint32   // by answer: numbers of texts in the unit
	ids      pile.Ranks // numbers of texts in the unit → indices into texts
	arena    []byte
	answer   answers.Answer
}

// build reads the answers with these numbers, one a row.
func (b *built) build(u *unit, numbers []uint32) error {
	b.numbers = numbers
	b.local.Reset()
	for _, n := range numbers {
		b.local.Add(n)
	}
	uniq := b.local.Rank()
	if len(uniq) > 0 && uniq[0] == 0 {
		return errShort
	}
	b.bodies, b.ends, b.statuses = b.bodies[:0], b.ends[:0], b.statuses[:0]
	b.ids.Reset()
	b.ids.Add(0)
	err := u.answer.Read(uniq, func(_ int, body []byte) {
		b.bodies = append(b.bodies, body...)
		b.ends = append(b.ends, len(b.bodies))
		a := &b.answer
		decodeAnswer(body, a)
		b.statuses = append(b.statuses, a.Status)
		b.ids.Add(a.Status)
		b.ids.Add(a.Reason)
		b.ids.Add(a.Group)
		for i := range a.Lines {
			b.ids.Add(a.Lines[i].Function)
			b.ids.Add(a.Lines[i].File)
		}
	})
	if err != nil {
		return err
	}
	b.arena, b.texts = b.arena[:0], b.texts[:0]
	texts := b.ids.Rank()
	ends := make([]int, 0, len(texts))
	err = u.texts.Pile.Read(texts, func(_ int, s []byte) {
		b.arena = append(b.arena, s...)
		ends = append(ends, len(b.arena))
	})
	if err != nil {
		return err
	}
	from := 0
	for _, to := range ends {
		b.texts = append(b.texts, unsafe.String(unsafe.SliceData(b.arena[from:]), to-from))
		from = to
	}
	return nil
}

// at returns the answer of a rank, with indices into texts, valid until the next call.
func (b *built) at(rank uint32) *answers.Answer {
	from, a := 0, &b.answer
	if rank > 0 {
		from = b.ends[rank-1]
	}
	decodeAnswer(b.bodies[from:b.ends[rank]], a)
	a.Status, a.Reason, a.Group = b.ids.Index(a.Status), b.ids.Index(a.Reason), b.ids.Index(a.Group)
	for i := range a.Lines {
		l := &a.Lines[i]
		l.Function, l.File = b.ids.Index(l.Function), b.ids.Index(l.File)
	}
	return a
}

// segment builds the answers of a segment.
func (b *built) segment(u *unit, segment uint32) error {
	numbers, err := u.take(segment)
	if err != nil {
		return err
	}
	return b.build(u, numbers)
}

// tallies counts the rows by status.
func (b *built) tallies() (all []tally) {
	at := map[uint32]int{}
	for _, n := range b.numbers {
		status := b.statuses[b.local.Index(n)]
		k, ok := at[status]
		if !ok {
			k = len(all)
			at[status] = k
			all = append(all, tally{status: strings.Clone(b.texts[b.ids.Index(status)])})
		}
		all[k].rows++
	}
	return all
}

// isFinal reports whether a written status is final.
func isFinal(status string) bool { return final(symbol.Status(status)) }

// errShort: fewer answers than rows, which cannot be.
var errShort = errors.New("rows without an answer")

// tally is how many rows have a status.
type tally struct {
	status string
	rows   uint64
}

// rows puts all rows of the segment into to. It numbers answers as the rows come to them, so the file does not depend on the
// worker that answered first.
func (b *built) rows(to *answers.Rows) {
	to.Reset(b.texts)
	given := make([]int32, len(b.ends)) // by rank: the answer's number in to, plus 1
	for piece := range slices.Chunk(b.numbers, pieceRows) {
		to.Forget()
		clear(given)
		for _, n := range piece {
			rank := b.local.Index(n)
			if given[rank] == 0 {
				given[rank] = int32(to.Answer(b.at(rank))) + 1
			}
			to.Row(int(given[rank]) - 1)
		}
	}
}

// pieceRows is how many rows have their answers prepared together: answers that come again soon are prepared once, and few
// wait in memory.
const pieceRows = 1 << 17
