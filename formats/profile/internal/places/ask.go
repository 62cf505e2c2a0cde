package places

import (
	"context"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// askAtOnce is how many questions are made at a time.
const askAtOnce = 4 << 10

// Asking is how places become questions, and where their answers go.
type Asking struct {
	// Question returns the question for a place. ok is false if the place is not asked for.
	Question func(p Place) (f report.Frame, ok bool)
	// Answer takes an answer, which is valid during its call. id is None for places of a Spool. An error ends the asking.
	Answer func(id int, p Place, a *symbol.Answer) error
}

// Ask asks for all places. The error is of o.Ask or of Asking.Answer.
func (s *Set) Ask(ctx context.Context, o *profile.Options, how Asking) error {
	b := batch{Asking: how}
	for _, p := range s.order() {
		if err := b.add(ctx, o, int(p.id), Place{p.image, p.address}); err != nil {
			return err
		}
	}
	return b.flush(ctx, o)
}

// batch is questions that are asked at once.
type batch struct {
	Asking
	questions []report.Frame
	ids       []int
	places    []Place
}

func (b *batch) add(ctx context.Context, o *profile.Options, id int, p Place) error {
	q, ok := b.Question(p)
	if !ok {
		return nil
	}
	b.questions, b.ids, b.places = append(b.questions, q), append(b.ids, id), append(b.places, p)
	if len(b.questions) < askAtOnce {
		return nil
	}
	return b.flush(ctx, o)
}

func (b *batch) flush(ctx context.Context, o *profile.Options) error {
	if len(b.questions) == 0 {
		return nil
	}
	var failed error
	err := o.Look(ctx, b.questions, func(i int, a *symbol.Answer) {
		if failed == nil {
			failed = b.Answer(b.ids[i], b.places[i], a)
		}
	})
	b.questions, b.ids, b.places = b.questions[:0], b.ids[:0], b.places[:0]
	if err != nil {
		return err
	}
	return failed
}
