package tables

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/all"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/answer"
	"github.com/symlake/symlake/sinks/group"
	"github.com/symlake/symlake/sinks/internal/answers"
	"github.com/symlake/symlake/sinks/internal/pile"
	"github.com/symlake/symlake/sinks/lookup"
)

const (
	// batchFrames are looked up at once: then each block of theirs is read once.
	batchFrames = 1 << 17
	// batchBytes are the texts parsed at once.
	batchBytes = 32 << 20
)

// stackAnswerer gathers rows that are stacks, answers them together, and hands their answers out in order.
type stackAnswerer struct {
	ctx    context.Context
	j      *job
	key    string // of the file
	placer *placer
	places *places
	emit   func(a *answers.Answer) error

	rows    []stackRow
	queries []answer.Query
	pairs   []lookup.Query
	frames  int
	bytes   int
	table   textTable
	namer   group.Namer
	done    uint64
}

// stackRow is a row: stacks of its text, or pairs.
type stackRow struct {
	from, to int // queries
	pairs    []pair
	isPairs  bool
	invalid  error
}

// pair is a frame that is no text.
type pair struct {
	place place
	query int // -1: place.answer
}

// textTable numbers the texts of a row group.
type textTable struct {
	list  []string
	known map[string]uint32
	bytes int
}

func (t *textTable) number(s string) uint32 {
	if n, ok := t.known[s]; ok {
		return n
	}
	s = strings.Clone(s)
	n := uint32(len(t.list))
	t.list = append(t.list, s)
	t.known[s] = n
	t.bytes += len(s) + pile.TextCost
	return n
}

func (t *textTable) reset() {
	t.list = append(t.list[:0], "")
	t.known = map[string]uint32{"": 0}
	t.bytes = 0
}

func newStackAnswerer(ctx context.Context, j *job, key string) *stackAnswerer {
	a := &stackAnswerer{ctx: ctx, j: j, key: key, places: &places{known: map[placeKey]uint32{}}}
	a.placer = newPlacer(ctx, &j.o, a.places)
	a.table.reset()
	return a
}

// text takes a row of raw text.
func (a *stackAnswerer) text(n names, text string) error {
	row := stackRow{from: len(a.queries)}
	o := a.j.o.Stack
	if n.frame0 != "" {
		f, err := report.ParseFrame0(n.frame0)
		if err != nil {
			row.invalid = err
		}
		o.Frame0 = f
	}
	if n.artifact != "" {
		o.Artifacts = append([]string{n.artifact}, o.Artifacts...)
	}
	so := answer.Options{Artifacts: o.Artifacts, App: a.placer.appBuild(n), Kind: a.placer.platformKind(n)}
	none := errNoFrame
	if row.invalid == nil {
		err := report.Split(a.ctx, strings.NewReader(text), all.Dialects, o, func(s *report.Report) error {
			for i := range s.Unread {
				if u := &s.Unread[i]; !u.Named {
					a.j.unread.Add(1)
					none = fmt.Errorf("%w: %d frames at %q were not read: %s", errNoFrame, u.Frames, u.Path, u.Why)
				}
			}
			if found := s.Frames(); found > 0 {
				a.queries = append(a.queries, answer.Query{Stack: s, Options: so})
				a.frames += found
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if row.to = len(a.queries); row.to == row.from && row.invalid == nil {
		row.invalid = none
	}
	a.bytes += len(text)
	return a.row(row)
}

// pair takes a frame of the row that pairsEnd ends.
func (a *stackAnswerer) pair(n names, address func(t *target, frame uint64) (uint32, uint64, error), to *[]pair) error {
	t, err := a.placer.target(n)
	if err != nil {
		return err
	}
	at, value, err := address(t, uint64(len(*to)))
	if err != nil {
		return err
	}
	p := pair{place: a.places.all[at], query: -1}
	if p.place.answer == nil {
		p.query = len(a.pairs)
		a.pairs = append(a.pairs, p.place.query(value))
	}
	*to = append(*to, p)
	a.frames++
	return nil
}

// pairsEnd takes a row of pairs.
func (a *stackAnswerer) pairsEnd(pairs []pair) error {
	row := stackRow{pairs: pairs, isPairs: true}
	if len(pairs) == 0 {
		row.invalid = errors.New("the row has no frames")
	}
	return a.row(row)
}

func (a *stackAnswerer) row(r stackRow) error {
	a.rows = append(a.rows, r)
	if a.frames >= batchFrames || a.bytes >= batchBytes || len(a.rows) >= batchFrames {
		return a.flush()
	}
	return nil
}

var errNoFrame = errors.New("no line of the text is a frame")

var errNoStack = errors.New("the row has no stack")

// flush answers the gathered rows.
func (a *stackAnswerer) flush() error {
	texts := make([][][]symbol.Answer, len(a.queries))
	if err := a.j.o.Client.Stacks(a.ctx, a.queries, func(i int, answers [][]symbol.Answer) { texts[i] = answers }); err != nil {
		return err
	}
	pairs := make([]symbol.Answer, len(a.pairs))
	if err := a.j.o.Client.Frames(a.ctx, a.pairs, func(i int, x symbol.Answer) { pairs[i] = x }); err != nil {
		return err
	}
	a.j.distinct.Add(uint64(a.frames))
	for i := range a.rows {
		r := &a.rows[i]
		x := newStackAnswer(&a.table, &a.namer)
		switch {
		case r.invalid != nil:
			x.add(nil, &symbol.Answer{Status: invalid, Err: r.invalid})
		case r.isPairs:
			for k := range r.pairs {
				p := &r.pairs[k]
				if answer := p.place.answer; answer != nil {
					x.add(nil, answer)
				} else {
					x.add(nil, &pairs[p.query])
				}
			}
		default:
			for q := r.from; q < r.to; q++ {
				s := a.queries[q].Stack
				for t := range s.Threads {
					for f := range s.Threads[t].Frames {
						x.add(&s.Threads[t].Frames[f], &texts[q][t][f])
					}
				}
			}
		}
		if err := a.emit(x.end()); err != nil {
			return err
		}
	}
	a.done += uint64(len(a.rows))
	a.j.progress("write", a.key, a.done, 0)
	a.rows, a.queries, a.pairs, a.frames, a.bytes = a.rows[:0], a.queries[:0], a.pairs[:0], 0, 0
	return nil
}

// stackAnswer sums up the answers of a stack.
type stackAnswer struct {
	t      *textTable
	out    answers.Answer
	frames int32
	status symbol.Status
	reason string
	namer  *group.Namer
	group  group.Stack
}

func newStackAnswer(t *textTable, n *group.Namer) *stackAnswer { return &stackAnswer{t: t, namer: n} }

// weight orders statuses: a row has the heaviest status of its frames. A status that may change soonest weighs most, then a
// status that may change at all.
var weight = []symbol.Status{invalid, symbol.Outside, symbol.Hole, symbol.Found, symbol.NoArtifact, symbol.Ambiguous, symbol.Rejected, symbol.Sealed, symbol.Corrupt, symbol.Pending, symbol.Loading, symbol.Unavailable}

// add takes the next frame, from the inside out. f is nil for a pair.
func (x *stackAnswer) add(f *report.Frame, a *symbol.Answer) {
	if f != nil && f.Managed != nil && f.Managed.Method == "" && f.Managed.Field == "" {
		return // a line that only may name classes: it is no frame
	}
	if x.frames == 0 || slices.Index(weight, a.Status) > slices.Index(weight, x.status) {
		x.status, x.reason = a.Status, ""
		if a.Status != symbol.Found {
			x.reason = a.Reason()
		}
	}
	status := x.t.number(string(a.Status))
	if len(a.Frames) == 0 {
		x.out.Lines = append(x.out.Lines, answers.Line{Frame: x.frames, Status: status})
	}
	x.group.Add(x.namer, f, a, final(a.Status))
	for i := range a.Frames {
		l := &a.Frames[i]
		x.out.Lines = append(x.out.Lines, answers.Line{Function: x.t.number(l.Readable()), File: x.t.number(l.File), Line: l.Line, Col: l.Column, Frame: x.frames, Status: status})
	}
	x.frames++
}

// final reports whether symbols that come later cannot change an answer.
func final(s symbol.Status) bool {
	return s == symbol.Found || s == symbol.Hole || s == symbol.Outside || s == invalid
}

func (x *stackAnswer) end() *answers.Answer {
	if x.frames == 0 {
		x.status, x.reason = invalid, errNoFrame.Error()
	}
	x.out.Status, x.out.Reason = x.t.number(string(x.status)), x.t.number(x.reason)
	x.out.Group = x.t.number(x.group.Group())
	return &x.out
}
