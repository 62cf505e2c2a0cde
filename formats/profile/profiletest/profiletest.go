// Package profiletest holds the tests that every form of profiles passes.
package profiletest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/samples"
)

// Fixture is a profile of the form.
type Fixture struct {
	Name    string
	Data    []byte // not packed
	Samples uint64 // that the profile has
	Places  uint64 // distinct, without names, classes of mappings not among them
	Probes  uint64 // further questions about these places, which Options.Look does not count
	// Keeps are bytes that stand in the profile and stay, with answers and without: of parts that the form does not know.
	Keeps [][]byte
	// Again: places stay open in an answered profile, so a second run asks for them again.
	Again bool
}

// Run is the conformance suite:
//
//   - the form knows the fixture, and its state does not change: answering twice gives the same bytes;
//   - without symbols the profile comes out byte for byte; a form that appends adds nothing;
//   - each place is asked for once, and counted;
//   - with symbols parts that the form does not know stay, and a second run finds nothing to ask for;
//   - a reader that gives single bytes changes nothing, and errors of readers, writers and look-ups come back;
//   - a profile that is cut anywhere, or has other bytes somewhere, is rejected by a *formats.Error or comes out byte for
//     byte; nothing panics, with symbols neither;
//   - the samples of the answered profile are well-formed, and all have names.
func Run(t *testing.T, f *profile.Format, fixtures ...Fixture) {
	if len(fixtures) == 0 {
		t.Fatal("no fixture")
	}
	for _, x := range fixtures {
		t.Run(x.Name, func(t *testing.T) {
			t.Parallel()
			s := suite{f, x}
			s.kept(t)
			s.answered(t)
			s.failing(t)
			s.cut(t)
			s.changed(t)
		})
	}
}

type suite struct {
	f *profile.Format
	x Fixture
}

// answer answers bytes by a store, and returns what the form wrote; of forms that append, with the profile before it.
func answer(f *profile.Format, data []byte, s *Store) (out []byte, o *profile.Options, err error) {
	return answerFrom(context.Background(), f, profile.Bytes("fixture", data), s)
}

func answerFrom(ctx context.Context, f *profile.Format, in *profile.Input, s *Store) ([]byte, *profile.Options, error) {
	var out bytes.Buffer
	o := s.Options()
	err := profile.Answer(ctx, []*profile.Format{f}, in, &out, o)
	return out.Bytes(), o, err
}

// kept answers without symbols.
func (s suite) kept(t *testing.T) {
	if !s.f.Begins(s.x.Data[:min(len(s.x.Data), profile.HeadBytes)]) {
		t.Fatal("the form does not know the fixture")
	}
	out, o, err := answer(s.f, s.x.Data, &Store{})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out, s.x.Data) {
		t.Errorf("without symbols %d bytes come out as %d others: first at %d", len(s.x.Data), len(out), differ(out, s.x.Data))
	}
	if len(o.Counts.Kept) > 0 {
		t.Errorf("parts could not be read: %+v", o.Counts.Kept)
	}
	if o.Counts.Samples != s.x.Samples || o.Counts.Format != s.f.Name {
		t.Errorf("counted %d samples of %q, want %d of %q", o.Counts.Samples, o.Counts.Format, s.x.Samples, s.f.Name)
	}
}

// differ returns where two texts differ first.
func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// answered answers with symbols for all places.
func (s suite) answered(t *testing.T) {
	store := &Store{Found: true}
	out, o, err := answer(s.f, s.x.Data, store)
	if err != nil {
		t.Fatal(err)
	}
	c := &o.Counts
	if store.twice != "" {
		t.Errorf("a place was asked for twice: %s", store.twice)
	}
	if c.Places+s.x.Probes != uint64(store.asked) || c.Answered != c.Places || store.places != s.x.Places+s.x.Probes || len(c.Kept) > 0 {
		t.Errorf("asked for %d places (want %d) and %d in all; counts are %+v", store.places, s.x.Places, store.asked, *c)
	}
	for _, keep := range s.x.Keeps {
		if !bytes.Contains(out, keep) {
			t.Errorf("lost %q", keep)
		}
	}
	if s.f.Appends && !bytes.HasPrefix(out, s.x.Data) {
		t.Error("the profile's bytes changed")
	}
	if again, _, err := answer(s.f, s.x.Data, &Store{Found: true}); err != nil || !bytes.Equal(again, out) {
		t.Errorf("another run gives other bytes, from %d on: %v", differ(again, out), err)
	}
	slow := &profile.Input{Name: "slow", Open: func() (io.ReadCloser, error) {
		return io.NopCloser(iotest.OneByteReader(bytes.NewReader(s.x.Data))), nil
	}}
	if got, _, err := answerFrom(context.Background(), s.f, slow, &Store{Found: true}); err != nil || !bytes.Equal(got, out) {
		t.Errorf("single bytes give other bytes, from %d on: %v", differ(got, out), err)
	}
	if !s.x.Again {
		store := &Store{Found: true}
		again, o, err := answer(s.f, out, store)
		if err != nil || store.places > 0 || !bytes.Equal(again, out) || o.Counts.Samples != s.x.Samples {
			t.Errorf("the answered profile has %d places that lack names, and %d samples; it changes at %d of %d: %v", store.places, o.Counts.Samples, differ(again, out), len(out), err)
		}
	}
	s.samples(t, out)
}

// samples reads the samples of an answered profile.
func (s suite) samples(t *testing.T, out []byte) {
	if s.f.Samples == nil {
		return
	}
	var p samples.Profile
	if err := profile.Samples(context.Background(), []*profile.Format{s.f}, profile.Bytes("answered", out), &p); err != nil {
		t.Fatal(err)
	}
	if s.x.Samples > 0 && len(p.Samples) == 0 {
		t.Errorf("of %d samples none is read", s.x.Samples)
	}
	Check(t, &p)
}

// failing has each part fail once.
func (s suite) failing(t *testing.T) {
	boom := errors.New("boom")
	if s.x.Places > 0 {
		if _, _, err := answer(s.f, s.x.Data, &Store{Err: boom}); !errors.Is(err, boom) {
			t.Errorf("a look-up that fails gives %v", err)
		}
	}
	for _, at := range []int{len(s.x.Data) / 2, len(s.x.Data) - 1} {
		in := &profile.Input{Name: "failing", Open: func() (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(bytes.NewReader(s.x.Data[:at]), iotest.ErrReader(boom))), nil
		}}
		if _, _, err := answerFrom(context.Background(), s.f, in, &Store{}); !errors.Is(err, boom) {
			t.Errorf("a reader that fails at %d gives %v", at, err)
		}
	}
	err := profile.Answer(context.Background(), []*profile.Format{s.f}, profile.Bytes("fixture", s.x.Data), failingWriter{boom}, (&Store{Found: true}).Options())
	if !errors.Is(err, boom) {
		t.Errorf("a writer that fails gives %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// most cuts and changes of a fixture are tried.
const most = 300

// cut ends the profile at any place.
func (s suite) cut(t *testing.T) {
	n := len(s.x.Data)
	for i := range min(n, most) {
		at := i
		if n > most {
			at = i * n / most
		}
		s.damaged(t, s.x.Data[:at:at], "cut", at)
	}
}

// changed puts other bytes somewhere.
func (s suite) changed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(uint64(len(s.x.Data)), 27))
	for range most {
		data := bytes.Clone(s.x.Data)
		at := rnd.IntN(len(data))
		switch rnd.IntN(3) {
		case 0:
			data[at] ^= 1 << rnd.IntN(8)
		case 1:
			data[at] = byte(rnd.Uint32())
		default:
			for k := at; k < min(at+1+rnd.IntN(9), len(data)); k++ {
				data[k] = 0xff
			}
		}
		s.damaged(t, data, "changed", at)
	}
}

// damaged answers a damaged profile.
func (s suite) damaged(t *testing.T, data []byte, how string, at int) {
	t.Helper()
	if err := Sound(s.f, data); err != nil {
		t.Errorf("%s at %d: %v", how, at, err)
	}
}

// Sound answers any bytes, without symbols and with symbols, and reads their samples. The error says that the form does what
// no form may do: it panics, it loses bytes that came in, or it gives an error that is no *formats.Error.
func Sound(f *profile.Format, data []byte) error {
	if !f.Begins(data[:min(len(data), profile.HeadBytes)]) || bytes.HasPrefix(data, []byte{0x1f, 0x8b, 8}) {
		return nil
	}
	out, _, err := answer(f, data, &Store{})
	if err != nil {
		return rejected("answer without symbols", err)
	}
	if !bytes.Equal(out, data) {
		return errors.New("without symbols other bytes come out")
	}
	store := &Store{Found: true}
	out, o, err := answer(f, data, store)
	switch {
	case err != nil:
		return rejected("answer with symbols", err)
	case store.twice != "":
		return errors.New("a place was asked for twice: " + store.twice)
	case o.Counts.Places > uint64(store.asked):
		return errors.New("places are not counted")
	}
	if f.Samples == nil {
		return nil
	}
	p := samples.Profile{Room: 64 << 20}
	if err := profile.Samples(context.Background(), []*profile.Format{f}, profile.Bytes("damaged", out), &p); err != nil && !errors.Is(err, profile.ErrFormat) {
		return rejected("samples", err)
	}
	return malformed(&p)
}

// rejected returns an error that no form may give for damage.
func rejected(what string, err error) error {
	if errors.As(err, new(*formats.PanicError)) || !formats.Rejects(err) {
		return errors.Join(errors.New(what), err)
	}
	return nil
}

// Fuzz is the body of a form's fuzz target. The caller adds seeds.
func Fuzz(f *testing.F, of *profile.Format) {
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := Sound(of, data); err != nil {
			t.Fatal(err)
		}
	})
}
