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
// digest a part, whatever the order in which parts were exploded.
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

// checkKind says how a breaks what formats.Artifact promises of its kind.
func checkKind(a *formats.Artifact) error {
	script, classes := a.ExplodeScript != nil, a.ExplodeClasses != nil
	switch {
	case script != (a.Kind == symbol.SourceMap) || classes != a.Kind.HasClasses() || (a.Explode != nil) == (script || classes):
		return fmt.Errorf("artifact of kind %s with Explode %t, ExplodeScript %t, ExplodeClasses %t", a.Kind, a.Explode != nil, script, classes)
	case a.Ordered && !script:
		return fmt.Errorf("no script is in order")
	}
	return nil
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
		}
	}
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
	h.Write(b)
}

// malformedError is a run that breaks the contract: never the object's fault.
type malformedError struct{ err error }

func (e *malformedError) Error() string { return "malformed run: " + e.err.Error() }

// checker checks the runs of one part.
type checker struct {
	runs    int
	own     table
	tables  map[any]*table // that other parts have too; nil: not checked
	ordered bool           // formats.Artifact.Ordered
	end     uint64         // of the last range
	names   lasting        // nil: not checked
}

// lasting is strings as runs had them, and their clones.
type lasting map[string]string

func (l lasting) note(s string) {
	if _, ok := l[s]; !ok && l != nil {
		l[s] = strings.Clone(s)
	}
}

// check says which string is no more what it was.
func (l lasting) check() error {
	for is, was := range l {
		if is != was {
			return fmt.Errorf("string %q of an artifact whose strings last is %q", was, is)
		}
	}
	return nil
}

// table is what is known of a string table.
type table struct {
	strings int      // how many there were
	seen    []string // clones of the first few, which must not change
	at      *string  // where the table is
}

// checkedStrings of each table are remembered, to see that their indices keep
// their meaning.
const checkedStrings = 4096

// check says how r breaks what symbol.Run and the limits promise.
func (c *checker) check(r *symbol.Run, lim *formats.Limits) error {
	switch {
	case r.Rank == 0:
		return fmt.Errorf("no rank")
	case r.Rank == symbol.RankScript:
		return fmt.Errorf("code of rank %d", r.Rank)
	}
	return c.checkRun(r, lim)
}

// checkScript says how s breaks what symbol.Script and the limits promise.
func (c *checker) checkScript(s *symbol.Script, lim *formats.Limits) error {
	switch {
	case s.Rank != symbol.RankScript:
		return fmt.Errorf("a script of rank %d", s.Rank)
	case len(s.Marks) != len(s.Ranges):
		return fmt.Errorf("%d marks of %d ranges", len(s.Marks), len(s.Ranges))
	}
	for _, m := range s.Marks {
		if int(m.Name) >= len(s.Strings) {
			return fmt.Errorf("name %d of %d strings", m.Name, len(s.Strings))
		}
	}
	return c.checkRun(&s.Run, lim)
}

func (c *checker) checkRun(r *symbol.Run, lim *formats.Limits) error {
	c.runs++
	switch {
	case len(r.Ranges) == 0:
		return fmt.Errorf("no ranges")
	case len(r.Ranges) > lim.RunRanges:
		return fmt.Errorf("%d ranges, limit %d", len(r.Ranges), lim.RunRanges)
	case len(r.Strings) == 0 || r.Strings[0] != "":
		return fmt.Errorf("string 0 is not empty")
	}
	if c.ordered {
		if err := c.checkOrder(r); err != nil {
			return err
		}
	}
	if err := c.checkStrings(r); err != nil {
		return err
	}
	site := func(s symbol.Site) error {
		if int(s.File) >= len(r.Strings) {
			return fmt.Errorf("file %d of %d strings", s.File, len(r.Strings))
		}
		return nil
	}
	depth := make([]int, len(r.Scopes))
	for i := range r.Scopes {
		s := &r.Scopes[i]
		switch {
		case s.Parent < -1 || int(s.Parent) >= i:
			return fmt.Errorf("scope %d has parent %d", i, s.Parent)
		case int(s.Function) >= len(r.Strings):
			return fmt.Errorf("function %d of %d strings", s.Function, len(r.Strings))
		case int64(len(r.Strings[s.Function])) > lim.NameBytes:
			return fmt.Errorf("a function name of %d bytes, limit %d", len(r.Strings[s.Function]), lim.NameBytes)
		case s.Parent < 0 && s.Call != symbol.Site{}:
			return fmt.Errorf("scope %d is outermost and has a call", i)
		}
		c.names.note(r.Strings[s.Function])
		if s.Parent >= 0 {
			depth[i] = depth[s.Parent] + 1
		}
		if depth[i] > lim.InlineDepth {
			return fmt.Errorf("scope %d is %d deep, limit %d", i, depth[i], lim.InlineDepth)
		}
		if err := site(s.Call); err != nil {
			return err
		}
	}
	for i := range r.Ranges {
		g := &r.Ranges[i]
		switch {
		case g.Start >= g.End:
			return fmt.Errorf("range %d is [%#x, %#x)", i, g.Start, g.End)
		case i > 0 && r.Ranges[i-1].End != g.Start:
			return fmt.Errorf("range %d starts at %#x, the one before ends at %#x", i, g.Start, r.Ranges[i-1].End)
		case g.Scope < 0 || int(g.Scope) >= len(r.Scopes):
			return fmt.Errorf("range %d has scope %d of %d", i, g.Scope, len(r.Scopes))
		}
		if err := site(g.At); err != nil {
			return err
		}
	}
	return nil
}

// checkOrder: what promises to be in order is, and has all its strings from the first.
func (c *checker) checkOrder(r *symbol.Run) error {
	if r.Ranges[0].Start < c.end {
		return fmt.Errorf("range %#x after one that ends at %#x", r.Ranges[0].Start, c.end)
	}
	c.end = r.Ranges[len(r.Ranges)-1].End
	if c.runs > 1 {
		if len(r.Strings) != c.own.strings {
			return fmt.Errorf("%d strings after %d", len(r.Strings), c.own.strings)
		}
		return nil
	}
	seen := make(map[string]bool, len(r.Strings))
	for _, s := range r.Strings {
		if seen[s] {
			return fmt.Errorf("string %q stands there twice", s)
		}
		seen[s] = true
	}
	return nil
}

// checkStrings: tables only grow, and an index keeps its meaning.
func (c *checker) checkStrings(r *symbol.Run) error {
	t := &c.own
	if r.Table != nil && c.tables != nil {
		if t = c.tables[r.Table]; t == nil {
			t = &table{}
			c.tables[r.Table] = t
		}
	}
	if len(r.Strings) < t.strings {
		return fmt.Errorf("%d strings after %d", len(r.Strings), t.strings)
	}
	// All are compared when the table has moved, one after the other when not.
	from, to := 0, len(t.seen)
	if at := &r.Strings[0]; at == t.at && to > 0 {
		from = c.runs % to
		to = from + 1
	} else {
		t.at = at
	}
	for i := from; i < to; i++ {
		if s := t.seen[i]; r.Strings[i] != s {
			return fmt.Errorf("string %d was %q and is %q", i, s, r.Strings[i])
		}
	}
	for i := len(t.seen); i < min(len(r.Strings), checkedStrings); i++ {
		t.seen = append(t.seen, strings.Clone(r.Strings[i]))
	}
	t.strings = len(r.Strings)
	return nil
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
