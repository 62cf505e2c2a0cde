package places

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// memory is a scratch file.
type memory struct{ b []byte }

func (m *memory) ReadAt(p []byte, at int64) (int, error) { return copy(p, m.b[at:]), nil }

func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	m.b = append(m.b[:at], p...)
	return len(p), nil
}

func (m *memory) Close() error { return nil }

func scratch() (profile.Scratch, error) { return &memory{}, nil }

// options answer every question with status found.
func options(asked *[]Place) *profile.Options {
	return &profile.Options{Ask: func(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
		for i := range frames {
			*asked = append(*asked, Place{uint32(frames[i].Raw), frames[i].At.Value})
			answer(i, &symbol.Answer{Status: symbol.Found})
		}
		return nil
	}}
}

func question(p Place) (report.Frame, bool) {
	return report.Frame{Raw: uint64(p.Image), At: symbol.Where{Value: p.Address}}, p.Address != 7
}

// some returns places with many repetitions, and the distinct ones sorted.
func some(n int) (all, sorted []Place) {
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		all = append(all, Place{uint32(r.IntN(9)), uint64(r.IntN(n))})
	}
	sorted = slices.Clone(all)
	slices.SortFunc(sorted, compare)
	sorted = slices.Compact(sorted)
	return all, slices.DeleteFunc(sorted, func(p Place) bool { return p.Address == 7 })
}

func TestSet(t *testing.T) {
	t.Parallel()
	all, sorted := some(60000)
	s := New(4 << 20)
	ids := map[Place]int{}
	for _, p := range all {
		id, ok := s.Add(p)
		if !ok {
			t.Fatal("no room")
		}
		if old, known := ids[p]; known && old != id || !known && id != len(ids) {
			t.Fatalf("%v has id %d", p, id)
		}
		ids[p] = id
	}
	if s.Len() != len(ids) || s.Find(Place{1, 1 << 60}) != None || New(9).Find(all[0]) != None {
		t.Fatal(s.Len(), len(ids))
	}
	if each := float64(s.taken) / float64(s.n); each > 40 {
		t.Errorf("%.1f bytes a place", each)
	}
	var asked []Place
	err := s.Ask(t.Context(), options(&asked), Asking{Question: question, Answer: func(id int, p Place, a *symbol.Answer) error {
		if ids[p] != id || s.Find(p) != id || s.Place(id) != p || a.Status != symbol.Found {
			t.Fatalf("%v answered as %d", p, id)
		}
		return nil
	}})
	if err != nil || !slices.Equal(asked, sorted) {
		t.Fatal(err, len(asked), len(sorted))
	}
}

func TestRoom(t *testing.T) {
	t.Parallel()
	s := New(300 << 10)
	full := -1
	for i := range 40000 {
		if _, ok := s.Add(Place{1, uint64(i)}); !ok {
			full = i
			break
		}
	}
	if full < 4000 || s.taken > 300<<10 {
		t.Fatal(full, s.taken)
	}
	if id, ok := s.Add(Place{1, 5}); id != 5 || !ok {
		t.Fatal("a known place needs no room", id, ok)
	}
	n := NewSpool(300<<10, nil)
	var err error
	for i := 0; err == nil && i < 40000; i++ {
		err = n.Add(Place{1, uint64(i)})
	}
	if !errors.Is(err, errNoRoom) || n.Close() != nil {
		t.Fatal(err)
	}
}

func TestSpool(t *testing.T) {
	t.Parallel()
	all, sorted := some(60000)
	for _, room := range []int64{200 << 10, 4 << 20} {
		s := NewSpool(room, scratch)
		for _, p := range all {
			if err := s.Add(p); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.runs) > 0 != (room < 1<<20) {
			t.Fatal(len(s.runs))
		}
		var asked []Place
		o := options(&asked)
		if err := s.Ask(t.Context(), o, Asking{Question: question, Answer: func(int, Place, *symbol.Answer) error { return nil }}); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(asked, sorted) || o.Counts.Places != uint64(len(sorted)) {
			t.Fatal(len(asked), len(sorted), o.Counts.Places)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnswerFails(t *testing.T) {
	t.Parallel()
	s := New(1 << 20)
	s.Add(Place{1, 1})
	s.Add(Place{1, 2})
	why, asked := errors.New("no room for answers"), []Place{}
	if err := s.Ask(t.Context(), options(&asked), Asking{Question: question, Answer: func(int, Place, *symbol.Answer) error { return why }}); !errors.Is(err, why) {
		t.Fatal(err)
	}
}

// noScratch is a scratch file that could not be made: a pointer to nothing that an interface does not show.
type noScratch struct{ profile.Scratch }

// A scratch file that cannot be made is an error, also when the spool is closed.
func TestSpoolWithoutFile(t *testing.T) {
	t.Parallel()
	no := errors.New("no such folder")
	s := NewSpool(200<<10, func() (profile.Scratch, error) { return (*noScratch)(nil), no })
	var err error
	for i := uint64(0); err == nil && i < 1_000_000; i++ {
		err = s.Add(Place{Address: i})
	}
	if !errors.Is(err, no) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
