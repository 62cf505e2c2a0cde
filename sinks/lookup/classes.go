package lookup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/formats/room"
	"github.com/symlake/symlake/formats/symbol"
)

// ClassError says why classes of an artifact are not known.
type ClassError struct {
	Status symbol.Status // never Found or Hole
	Err    error
}

func (e *ClassError) Error() string { return fmt.Sprintf("classes: %s: %v", e.Status, e.Err) }

func (e *ClassError) Unwrap() error { return e.Err }

var errNoClasses = errors.New("it is no mapping")

// nameRoom is about the memory of a name that is asked for, and of its answer's place.
const nameRoom = 64

// Classes gives classes of a mapping by their names in the program, in the order asked; "" is the class
// of its facts. nil: the mapping does not have the class. All classes that are not cached are read in one round trip.
// What classes refer to is shared with the cache: read only. The error is ctx's or a *ClassError; no class is given then.
func (c *Client) Classes(ctx context.Context, artifact symbol.ID, names []string) ([]*symbol.Class, error) {
	e, err := c.record(ctx, artifact, c.o.Now())
	if err != nil {
		return nil, err
	}
	ready, _, err := c.mapped(ctx, e, names)
	if err != nil {
		return nil, err
	}
	out := make([]*symbol.Class, len(names))
	for i, x := range ready {
		if x != nil {
			out[i] = x.Whole()
		}
	}
	return out, nil
}

// mapped is Classes under a record. All are of one load: the load of the record
// or, if it was replaced meanwhile, of the newer record from.
func (c *Client) mapped(ctx context.Context, e *entry, names []string) (out []*Class, from *entry, err error) {
	for final := false; ; final = true {
		out, newer, err := c.mappedBy(ctx, e, names, final)
		if newer == nil || err != nil {
			return out, e, err
		}
		e = newer
	}
}

// mappedBy gives classes, or a newer record if there is one and rows of e's load are bad; unless final: then they are bad.
func (c *Client) mappedBy(ctx context.Context, e *entry, names []string, final bool) (out []*Class, newer *entry, err error) {
	if e.status != symbol.Found {
		return nil, nil, &ClassError{e.status, e.err}
	}
	if !e.load.artifact.Kind.HasClasses() {
		return nil, nil, &ClassError{symbol.NoArtifact, fmt.Errorf("artifact %s: %w", e.load.id, errNoClasses)}
	}
	out = make([]*Class, len(names))
	var cold []int // of names
	for i, name := range names {
		if class, ok := c.classes.Get(classOf{e.load, name}); ok {
			out[i] = class.Class
		} else {
			cold = append(cold, i)
		}
	}
	if len(cold) == 0 {
		return out, nil, nil
	}
	b := Batch{c: c, final: final, names: make([]string, len(cold)), classes: make([]*Class, len(cold)), answers: make([]symbol.Answer, len(cold)), groups: []*entry{e}, kept: kept{room: room.Of(ctx)}}
	for k, i := range cold {
		b.names[k] = names[i]
		b.putClass(0, k)
	}
	if err := b.walk(ctx); err != nil {
		return nil, nil, err
	}
	if len(b.bad) > 0 {
		again, err := c.recordAfter(ctx, e.load.id, e)
		if err != nil {
			return nil, nil, err
		}
		if again.load != e.load {
			return nil, again, nil
		}
		return nil, nil, &ClassError{statusOf(b.bad[0].err), b.bad[0].err}
	}
	for k, i := range cold {
		if a := &b.answers[k]; a.Status != symbol.Found && a.Status != symbol.Hole {
			return nil, nil, &ClassError{a.Status, a.Err}
		}
		out[i] = b.classes[k]
	}
	return out, nil, nil
}

// putClass notes the row of class k.
func (b *Batch) putClass(g, k int) {
	b.asked = append(b.asked, asked{int32(g), int32(k)})
	at, ok := b.groups[g].load.opened.IndexOf(b.names[k])
	if !ok {
		b.answers[k] = symbol.Answer{Status: symbol.Hole, Err: errHole}
		return
	}
	b.items = append(b.items, item{key: uint64(g)<<32 | uint64(uint32(at)), q: int32(k)})
}

// RenamedClasses gives the classes of a mapping that have the names, in the order
// asked; nil: there is none. What the mapping says of its packages spares asking for classes that
// were never renamed. The error is ctx's or a *ClassError.
func (c *Client) RenamedClasses(ctx context.Context, id symbol.ID, names []string) ([]*Class, error) {
	e, err := c.record(ctx, id, c.o.Now())
	if err != nil {
		return nil, err
	}
	if err := room.Take(ctx, int64(len(names))*nameRoom); err != nil {
		return nil, err
	}
	out := make([]*Class, len(names))
	for { // until facts and classes are of one load
		cold := c.cached(e, names, out)
		if len(cold) == 0 && len(names) > 0 {
			return out, nil
		}
		facts, newer, err := c.mapped(ctx, e, []string{""})
		if err != nil {
			return nil, err
		}
		if newer.load != e.load {
			e = newer
			continue
		}
		var wanted []string
		for _, i := range cold {
			if mayName(facts[0], names[i]) {
				wanted = append(wanted, names[i])
			}
		}
		slices.Sort(wanted)
		wanted = slices.Compact(wanted)
		found, newer, err := c.mapped(ctx, e, wanted)
		if err != nil {
			return nil, err
		}
		if newer.load != e.load {
			e = newer
			continue
		}
		for _, i := range cold {
			if k, ok := slices.BinarySearch(wanted, names[i]); ok {
				out[i] = found[k]
			}
		}
		return out, nil
	}
}

// cached gives, in out, the cached classes, and returns the indices of the others.
func (c *Client) cached(e *entry, names []string, out []*Class) (cold []int) {
	for i, name := range names {
		out[i] = nil
		if name == "" {
			continue // the mapping's facts, no class
		}
		if e.status == symbol.Found {
			if class, ok := c.classes.Get(classOf{e.load, name}); ok {
				out[i] = class.Class
				continue
			}
		}
		if cold == nil {
			cold = make([]int, 0, len(names)-i)
		}
		cold = append(cold, i)
	}
	return cold
}

// mayName reports whether a mapping may have a class of that name.
func mayName(facts *Class, name string) bool {
	if facts == nil || facts.Head().Facts == nil {
		return true
	}
	_, ok := slices.BinarySearch(facts.Head().Facts.Packages, name[:max(strings.LastIndexByte(name, '.'), 0)])
	return ok
}
