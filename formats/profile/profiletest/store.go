package profiletest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// Store answers the questions of a form: all of them or none. One goroutine.
type Store struct {
	Found bool  // places have answers, some with inlined functions
	Err   error // of each look-up

	places uint64 // that were asked for
	asked  int    // with classes
	seen   map[string]bool
	twice  string // a place that was asked for again
}

// Options returns the options by which a form asks.
func (s *Store) Options() *profile.Options {
	return &profile.Options{Ask: s.ask, Classes: s.classes, Memory: 8 << 20, Scratch: func() (profile.Scratch, error) { return &memory{}, nil }}
}

func (s *Store) note(place string) {
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	if s.seen[place] && s.twice == "" {
		s.twice = place
	}
	s.seen[place] = true
}

// Of returns the answer that a store has for a frame: one function, or two, the inner one inlined.
func Of(f *report.Frame) symbol.Answer {
	h := fnv.New32a()
	h.Write([]byte(placeOf(f)))
	n := h.Sum32()
	outer := symbol.Frame{Function: fmt.Sprintf("shop::Cart::total_%x(int)", n), Linkage: fmt.Sprintf("_ZN4shop4Cart%dtotal_%xEi", 6+len(fmt.Sprintf("%x", n)), n), File: "src/cart.cpp", Line: n%1000 + 1, Column: n%40 + 1}
	if f.Managed != nil {
		outer = symbol.Frame{Function: fmt.Sprintf("com.shop.Cart.total%x", n), File: "Cart.java", Line: n%1000 + 1}
	}
	if n%3 > 0 {
		return symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{outer}}
	}
	inner := symbol.Frame{Function: "shop::add(int)", Linkage: "_ZN4shop3addEi", File: "src/add.h", Line: n%100 + 1}
	return symbol.Answer{Status: symbol.Found, Frames: []symbol.Frame{inner, outer}}
}

// placeOf names the place of a frame.
func placeOf(f *report.Frame) string {
	place := fmt.Sprintf("%q %q %s %+v", f.Image, f.File, f.Kind, f.At)
	if f.At.Mapped != nil {
		place = fmt.Sprintf("%q %q %s %d %#x %+v", f.Image, f.File, f.Kind, f.At.Space, f.At.Value, *f.At.Mapped)
	}
	if f.Managed != nil {
		place += fmt.Sprintf(" %+v", *f.Managed)
	}
	if f.Script != nil && f.Script.Module != nil {
		place += fmt.Sprintf(" %+v", *f.Script.Module)
	}
	return place
}

var errNone = errors.New("no such artifact")

func (s *Store) ask(_ context.Context, frames []report.Frame, answer func(int, *symbol.Answer)) error {
	if s.Err != nil {
		return s.Err
	}
	for i := range frames {
		s.places++
		s.asked++
		s.note(placeOf(&frames[i]))
		a := symbol.Answer{Status: symbol.NoArtifact, Err: errNone}
		if s.Found {
			a = Of(&frames[i])
		}
		answer(i, &a)
		clear(a.Frames) // an answer is valid during its call
	}
	return nil
}

func (s *Store) classes(_ context.Context, image, names []string, answer func(int, *profile.Class)) error {
	if s.Err != nil {
		return s.Err
	}
	for i, name := range names {
		s.note(fmt.Sprintf("class %q of %q", name, image))
		answer(i, nil)
	}
	return nil
}

// memory is scratch in memory.
type memory struct{ bytes []byte }

// ReadAt implements io.ReaderAt.
func (m *memory) ReadAt(to []byte, off int64) (int, error) {
	return bytes.NewReader(m.bytes).ReadAt(to, off)
}

// WriteAt implements io.WriterAt.
func (m *memory) WriteAt(from []byte, off int64) (int, error) {
	if off > 1<<28 {
		return 0, errors.New("so much scratch is not needed")
	}
	if need := int(off) + len(from); need > len(m.bytes) {
		m.bytes = append(m.bytes, make([]byte, need-len(m.bytes))...)
	}
	return copy(m.bytes[off:], from), nil
}

// Close implements io.Closer.
func (m *memory) Close() error { return nil }
