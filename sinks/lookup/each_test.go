package lookup_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/lookup"
	"github.com/symlake/symlake/sinks/lookup/lookuptest"
)

// form asks many questions together, and gives the answers in the order asked.
type form = func(testing.TB, *lookup.Client, ...lookup.Query) []symbol.Answer

// forms are the ways to ask many questions.
var forms = []form{lookuptest.Ask, emitted}

// emitted answers through Each.
func emitted(t testing.TB, c *lookup.Client, qs ...lookup.Query) []symbol.Answer {
	t.Helper()
	out, n := make([]symbol.Answer, len(qs)), 0
	lookuptest.NoError(t, c.Each(t.Context(), qs, func(i int, a *symbol.Answer) error {
		lookuptest.FailIf(t, out[i].Status != "", "question %d is answered twice", i)
		out[i] = *a
		out[i].Frames = slices.Clone(a.Frames)
		n++
		return nil
	}))
	lookuptest.FailIf(t, n != len(qs), "%d answers to %d questions", n, len(qs))
	return out
}

// The receiver of an answer may ask the client about rows that the same call wants, or reads.
func TestEachAsks(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5000)
	loaded := w.Publish(im)
	lookuptest.FailIf(t, loaded.Rows < 5, "only %d rows", loaded.Rows)
	for _, o := range []lookup.Options{{}, {CacheBytes: 1}} {
		c := w.ClientWith(o)
		var qs []lookup.Query
		for pos := uint64(0); pos < im.End; pos += 512 {
			qs = append(qs, lookuptest.At(im.ID, pos))
		}
		lookuptest.NoError(t, c.Each(t.Context(), qs, func(i int, a *symbol.Answer) error {
			other := (uint64(i)*7919 + 3) % im.End
			im.Check(t, other, c.Lookup(t.Context(), lookuptest.At(im.ID, other)))
			im.Check(t, qs[i].Where.Value, *a)
			return nil
		}))
	}
}

// What the caller says comes back as it is, at the first question and in the middle, cold and warm; nothing is emitted after it.
func TestEachStops(t *testing.T) {
	w := lookuptest.NewWorld(t)
	im := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 5000)
	w.Publish(im)
	var qs []lookup.Query
	for pos := uint64(0); pos < im.End; pos += 8 {
		qs = append(qs, lookuptest.At(im.ID, pos))
	}
	enough := errors.New("enough")
	for _, most := range []int{1, 20, 1000, 17_000, 20_000} {
		c := w.Client()
		for range 2 {
			n := 0
			err := c.Each(t.Context(), qs, func(int, *symbol.Answer) error {
				if n++; n == most {
					return enough
				}
				return nil
			})
			lookuptest.FailIf(t, err != enough || n != most, "%v after %d of %d answers", err, n, most)
			emitted(t, c, qs[:100]...) // nothing of it is left
		}
	}
}

// The observer is told of emitted answers as of any.
func TestEachObserved(t *testing.T) {
	w := lookuptest.NewWorld(t)
	cart, game := lookuptest.NewImage(lookuptest.CartID, "libcart.so", 300), lookuptest.NewImage(strings.Repeat("ab", 20), "libgame.so", 300)
	w.Publish(cart)
	w.Publish(game)
	qs := append(everyPosition(cart), everyPosition(game)...)
	qs = append(qs, qs[:100]...)
	var heard [2]string
	for k, form := range forms {
		counts := map[string]int{}
		form(t, w.ClientWith(lookup.Options{Observer: lookup.Observer{
			Answered: func(kind symbol.Kind, s symbol.Status, n int) { counts[fmt.Sprintf("%s %s", kind, s)] += n },
		}}), append(qs, lookuptest.At(symbol.ID{1}, 3), lookuptest.At(cart.ID, 1<<40))...)
		total := 0
		for _, n := range counts {
			total += n
		}
		lookuptest.FailIf(t, total != len(qs)+2 || len(counts) != 4, "heard of %d answers to %d questions: %v", total, len(qs)+2, counts)
		heard[k] = fmt.Sprint(counts)
	}
	lookuptest.FailIf(t, heard[0] != heard[1], "heard %s, and %s", heard[0], heard[1])
}
