package speedscope

import (
	"bytes"
	"context"
	"errors"
	"math"
	"path"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/internal/named"
	"github.com/symlake/symlake/formats/profile/internal/rewrite"
	"github.com/symlake/symlake/formats/samples"
)

// samplesOf reads the profiles of a file, each as a thread. Between two events of an evented profile, the open stack is a sample.
func samplesOf(ctx context.Context, in *profile.Input, to *samples.Profile) error {
	s := &sampler{ctx: ctx, to: to}
	for range 2 { // frames may stand behind the profiles
		from, err := in.Open()
		if err != nil {
			return err
		}
		s.r = rewrite.New(from, nil)
		if err := errors.Join(s.r.Run(s.file), from.Close()); err != nil {
			return err
		}
		if !s.second {
			to.Types = []samples.Type{{Name: "samples", Unit: "count"}, {Name: "weight", Unit: s.unit}}
			if s.unit == "nanoseconds" {
				to.Types[1].Name = "time"
			}
			if s.unit == "" {
				to.Types[1].Unit = "count"
			}
			to.Default = 1
		}
		s.second = true
	}
	return nil
}

// sampler reads a file twice: frames, then stacks.
type sampler struct {
	ctx    context.Context
	to     *samples.Profile
	r      *rewrite.Reader
	second bool
	unit   string // of all profiles: the first one's
	frames []int32
}

func (s *sampler) file() error {
	return s.r.Object(func(key string) error {
		switch c := s.r.Peek(); {
		case key == "shared" && c == '{' && !s.second:
			return s.r.Object(func(key string) error {
				if key == "frames" {
					return s.r.Array(func(int) error { return s.frame() })
				}
				return nil
			})
		case key == "profiles" && c == '[':
			return s.r.Array(func(int) error { return s.profile() })
		case key == "name" && !s.second && c == '"':
			text, whole, err := s.r.Take(mostValue)
			if err == nil && whole {
				s.to.Name = json.String(text)
			}
			return err
		}
		return nil
	})
}

// frame reads a frame.
func (s *sampler) frame() error {
	text, whole, err := s.r.Take(mostValue)
	if err != nil || !whole {
		return err
	}
	x := shapeOf(text)
	f := samples.Frame{Function: x.name, File: x.file, Line: positive(x.line), Column: positive(x.col)}
	if f.Function == "" {
		f.Function = "(anonymous)"
	}
	if x.file == "" {
		if p := named.Parse(x.name, false); p.Kind == named.Native {
			f.Module, f.Address = path.Base(p.Frame.File), p.Frame.Raw
		}
	}
	n, err := s.to.Frame(f)
	s.frames = append(s.frames, n)
	return err
}

func positive(v int64) uint32 {
	if v < 0 || v > math.MaxInt32 {
		return 0
	}
	return uint32(v)
}

// units are speedscope's units of values, with the factor to the unit of samples.
var units = map[string]struct {
	name   string
	factor float64
}{"nanoseconds": {"nanoseconds", 1}, "microseconds": {"nanoseconds", 1e3}, "milliseconds": {"nanoseconds", 1e6}, "seconds": {"nanoseconds", 1e9}, "bytes": {"bytes", 1}}

// one is a profile as it is read.
type one struct {
	thread  int32
	factor  float64
	first   int     // sample
	weights int     // that were read
	open    []int32 // stacks of the open frames
	frames  []int64 // that are open
	at      float64 // of the event before
	begun   bool
}

// profile reads one profile.
func (s *sampler) profile() error {
	if s.r.Peek() != '{' {
		return nil
	}
	p := &one{factor: 1, first: len(s.to.Samples), thread: samples.None}
	if s.second {
		p.thread = int32(len(s.to.Threads))
		s.to.Threads = append(s.to.Threads, samples.Thread{TID: int64(p.thread) + 1})
	}
	return s.r.Object(func(key string) error {
		c := s.r.Peek()
		switch {
		case c == '"' && (key == "name" || key == "unit"):
			text, whole, err := s.r.Take(1 << 20)
			if err != nil || !whole {
				return err
			}
			if word := json.String(text); key == "name" && s.second {
				s.to.Threads[p.thread].Name = word
			} else if u, known := units[word]; known && key == "unit" {
				p.factor = u.factor
				if s.unit == "" {
					s.unit = u.name
				}
			}
		case c == '[' && s.second:
			switch key {
			case "samples":
				return s.each(func(text []byte) error { return s.sample(p, text) })
			case "weights":
				return s.each(func(text []byte) error { s.weight(p, text); return nil })
			case "events":
				return s.each(func(text []byte) error { return s.event(p, text) })
			}
		}
		return nil
	})
}

func (s *sampler) each(take func(text []byte) error) error {
	return s.r.Array(func(i int) error {
		if i&0xfff == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		text, whole, err := s.r.Take(mostValue)
		if err != nil || !whole {
			return err
		}
		return take(text)
	})
}

// sample adds a stack.
func (s *sampler) sample(p *one, text []byte) (err error) {
	at := int32(samples.None)
	j := &json.Walker{Bytes: text}
	j.Array(func(int) {
		n := int64(j.Number())
		if err == nil && n >= 0 && n < int64(len(s.frames)) {
			at, err = s.to.Push(at, s.frames[n])
		}
	})
	if err != nil {
		return err
	}
	if at == samples.None {
		s.to.Lost++
	}
	return s.to.Add(samples.Sample{Stack: at, Thread: p.thread, Time: -1}, 1, 1)
}

// weight gives a sample its value.
func (s *sampler) weight(p *one, text []byte) {
	if i := p.first + p.weights; i < len(s.to.Samples) {
		s.to.Values[2*i+1] = s.value(p, text)
	}
	p.weights++
}

func (s *sampler) value(p *one, text []byte) int64 {
	v, _ := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
	return int64(max(-1<<62, min(1<<62, math.Round(v*p.factor))))
}

// event opens or closes a frame. The stack before it is a sample.
func (s *sampler) event(p *one, text []byte) (err error) {
	var kind string
	frame, at := int64(-1), p.at
	j := &json.Walker{Bytes: text}
	j.Object(func(key string) {
		switch key {
		case "type":
			kind = j.Text()
		case "frame":
			frame = int64(j.Number())
		case "at":
			j.Peek()
			from := j.Pos
			j.Skip()
			at, _ = strconv.ParseFloat(string(text[from:j.Pos]), 64)
		}
	})
	if took := at - p.at; p.begun && took > 0 && len(p.open) > 0 {
		v := int64(min(1<<62, math.Round(took*p.factor)))
		sample := samples.Sample{Stack: p.open[len(p.open)-1], Thread: p.thread, Time: int64(max(0, min(1<<62, p.at*p.factor)))}
		if err := s.to.Add(sample, 1, v); err != nil {
			return err
		}
	}
	p.at, p.begun = at, true
	if frame < 0 || frame >= int64(len(s.frames)) {
		return nil
	}
	switch kind {
	case "O":
		caller := int32(samples.None)
		if len(p.open) > 0 {
			caller = p.open[len(p.open)-1]
		}
		stack, err := s.to.Push(caller, s.frames[frame])
		if err != nil {
			return err
		}
		p.open, p.frames = append(p.open, stack), append(p.frames, frame)
	case "C":
		if n := len(p.frames); n > 0 && p.frames[n-1] == frame { // others were never opened
			p.open, p.frames = p.open[:n-1], p.frames[:n-1]
		}
	}
	return nil
}
