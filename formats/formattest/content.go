package formattest

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
)

// open opens in with one format; nil when the format does not claim it.
func open(ctx context.Context, f *formats.Format, in *formats.Input) (*formats.Object, error) {
	_, obj, err := formats.Open(ctx, []*formats.Format{f}, in)
	return obj, err
}

// Open opens in, which the format must claim and read, and closes it with the test.
func Open(t testing.TB, f *formats.Format, in *formats.Input) *formats.Object {
	t.Helper()
	obj, err := open(context.Background(), f, in)
	if err != nil {
		t.Fatalf("%s: %v", in.Name, err)
	}
	if obj == nil {
		t.Fatalf("%s: %s does not claim it", in.Name, f.Name)
	}
	if obj.Close != nil {
		t.Cleanup(func() {
			if err := obj.Close(); err != nil {
				t.Errorf("%s: close: %v", in.Name, err)
			}
		})
	}
	return obj
}

// explode runs one part under Guard, as ingest does.
func explode(ctx context.Context, f *formats.Format, a *formats.Artifact, part int, to formats.Takers) (q symbol.Quality, err error) {
	err = formats.Guard(f.Name, func() (err error) {
		q, err = a.ExplodeInto(ctx, part, to)
		return err
	})
	return q, err
}

// content is all that an object yields, in a form that can be compared: a
// digest a part, in any order of exploding.
type content struct {
	identity string
	parts    []string
}

// contentOf reads everything out of in. The parts of an artifact are exploded
// in the order that order gives.
func contentOf(ctx context.Context, f *formats.Format, in *formats.Input, order func(n int) []int) (_ *content, err error) {
	obj, err := open(ctx, f, in)
	if obj == nil || err != nil {
		return nil, err
	}
	if obj.Close != nil {
		defer func() {
			if cerr := obj.Close(); err == nil {
				err = cerr
			}
		}()
	}
	c := &content{identity: "companions " + strings.Join(obj.Companions, " ")}
	for i := range obj.Artifacts {
		a := &obj.Artifacts[i]
		c.identity += fmt.Sprintf("\n%v rank %d parts %d", a.Artifact, a.Rank, a.Parts)
		if err := checkKind(a); err != nil {
			return nil, &malformedError{err}
		}
		if a.Ordered && a.Parts != 1 {
			return nil, &malformedError{fmt.Errorf("%d parts in order", a.Parts)}
		}
		parts, tables := make([]string, a.Parts), map[any]*table{}
		var names lasting
		if a.Lasting {
			names = lasting{}
		}
		for _, p := range order(a.Parts) {
			if parts[p], err = digest(ctx, f, a, p, in.Limits, &checker{tables: tables, ordered: a.Ordered, names: names}); err != nil {
				return nil, fmt.Errorf("part %d: %w", p, err)
			}
		}
		if err := names.check(); err != nil {
			return nil, &malformedError{err}
		}
		c.parts = append(c.parts, parts...)
		if a.Unwind != nil {
			sum, err := unwindDigest(ctx, f, a, in.Limits)
			if err != nil {
				return nil, err
			}
			c.parts = append(c.parts, sum)
		}
	}
	if obj.Members != nil {
		err := formats.Guard(f.Name, func() error {
			return obj.Members(ctx, func(m *formats.Input) error {
				sum, err := memberDigest(ctx, m)
				c.parts = append(c.parts, sum)
				return err
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// digest explodes one part and checks that each run is well-formed.
func digest(ctx context.Context, f *formats.Format, a *formats.Artifact, part int, lim *formats.Limits, checker *checker) (string, error) {
	h := sha256.New()
	to := formats.Takers{Run: func(r *symbol.Run) error {
		if err := checker.check(r, lim); err != nil {
			return &malformedError{err}
		}
		hashRun(h, r, nil)
		return nil
	}, Script: func(s *symbol.Script) error {
		if err := checker.checkScript(s, lim); err != nil {
			return &malformedError{err}
		}
		hashRun(h, &s.Run, s.Marks)
		return nil
	}, Class: func(c *symbol.Class) error {
		checker.runs++
		if err := checkClass(c, lim); err != nil {
			return &malformedError{err}
		}
		hashClass(h, c)
		return nil
	}}
	q, err := explode(ctx, f, a, part, to)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d runs %x %+v", checker.runs, h.Sum(nil)[:8], q), nil
}

func memberDigest(ctx context.Context, m *formats.Input) (string, error) {
	if m.Err == nil && m.Fetch != nil {
		m.Err = m.Fetch(ctx)
	}
	if m.Err != nil {
		if !formats.Rejects(m.Err) {
			return "", m.Err
		}
		return fmt.Sprintf("%s: %v", m.Name, m.Err), nil
	}
	h := sha256.New()
	n, err := io.Copy(h, io.NewSectionReader(m.Bytes, 0, m.Size))
	return fmt.Sprintf("%s: %d of %d bytes %x", m.Name, n, m.Size, h.Sum(nil)[:8]), err
}

func hashClass(h hash.Hash, class *symbol.Class) {
	var b []byte
	c := *class
	if c.Facts != nil {
		b = fmt.Appendf(b, "%+v", *c.Facts)
		c.Facts = nil
	}
	for _, m := range c.Members {
		b = fmt.Appendf(b, "%q %+v %+v %+v %+v", m.Name, *m.Method, m.Lines, m.From, m.Rules)
	}
	c.Members = nil
	b = fmt.Appendf(b, "%+v", c)
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
	h.Write(b)
}

// hashRun hashes a run of code, or a script's with its marks.
func hashRun(h hash.Hash, r *symbol.Run, marks []symbol.Mark) {
	var b []byte
	site := func(s symbol.Site) {
		b = append(append(b, r.Strings[s.File]...), 0)
		b = binary.BigEndian.AppendUint32(b, s.Line)
		b = binary.BigEndian.AppendUint32(b, s.Column)
	}
	b = append(b, byte(r.Rank))
	for i := range r.Scopes {
		s := &r.Scopes[i]
		b = binary.BigEndian.AppendUint32(b, uint32(s.Parent))
		b = append(append(b, r.Strings[s.Function]...), 0)
		site(s.Call)
	}
	for i := range r.Ranges {
		g := &r.Ranges[i]
		b = binary.BigEndian.AppendUint64(b, g.Start)
		b = binary.BigEndian.AppendUint64(b, g.End)
		b = binary.BigEndian.AppendUint32(b, uint32(g.Scope))
		site(g.At)
		if marks != nil {
			b = append(append(b, r.Strings[marks[i].Name]...), 0, byte(marks[i].Flags))
			if marks[i].Compiled != 0 {
				b = append(append(b, r.Strings[marks[i].Compiled]...), 0)
			}
		}
	}
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
	h.Write(b)
}

func forward(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

func backward(n int) []int {
	order := forward(n)
	slices.Reverse(order)
	return order
}
