package answer

import (
	"context"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
)

// counted are questions for places that a frame counts from a function.
type counted struct {
	id    symbol.ID
	query int // of stacks.qs
	where symbol.Where
	or    []symbol.Where
	a     *symbol.Answer
}

// count turns places counted from functions into positions: one reading of an
// artifact finds all functions that were named. What cannot be found so is
// asked for in the frame's other ways. An answer that is set is final.
func (b *stacks) count(ctx context.Context) error {
	names := map[symbol.ID]map[string]bool{}
	for _, f := range b.counted {
		if names[f.id] == nil {
			names[f.id] = map[string]bool{}
		}
		names[f.id][f.where.Anchor] = true
		for _, w := range f.or {
			if w.Space == symbol.Anchored {
				names[f.id][w.Anchor] = true
			}
		}
	}
	found := map[symbol.ID]map[string][]uint64{}
	why := map[symbol.ID]symbol.Answer{}
	for id := range names {
		found[id], why[id] = b.c.Functions(ctx, id, names[id])
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	for _, f := range b.counted {
		if w, places := f.settle(found[f.id]); w != nil {
			b.qs[f.query].Where = *w
		} else {
			b.settled = append(b.settled, settledAnswer{f.a, uncounted(why[f.id], f.where.Anchor, places)})
		}
	}
	return nil
}

// settle returns the first of a frame's ways that leads to one place, as starts of functions tell; nil: none does, and
// a function that it names begins at so many places.
func (f *counted) settle(starts map[string][]uint64) (_ *symbol.Where, places int) {
	for i := -1; i < len(f.or); i++ {
		w := &f.where
		if i >= 0 {
			w = &f.or[i]
		}
		if w.Space != symbol.Anchored {
			return w, 0
		}
		at := starts[w.Anchor]
		if len(at) == 1 {
			return &symbol.Where{Space: symbol.Position, Value: at[0] + w.Value}, 1
		}
		places = max(places, len(at))
	}
	return nil, places
}

// uncounted is why a function did not lead to one place.
func uncounted(a symbol.Answer, name string, places int) symbol.Answer {
	switch {
	case a.Status != symbol.Found:
		return a
	case places == 0:
		return symbol.Answer{Status: symbol.Outside, Err: lookup.ErrNowhere}
	}
	return symbol.Answer{Status: symbol.Ambiguous, Err: fmt.Errorf("%q begins at %d places", name, places)}
}

// settledAnswer is an answer that no row decides.
type settledAnswer struct {
	to *symbol.Answer
	is symbol.Answer
}
