package perfetto

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/symlake/symlake/formats/internal/protobuf"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/internal/places"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

// answer writes the packets that go behind a trace.
func answer(ctx context.Context, in *profile.Input, out io.Writer, o *profile.Options) (err error) {
	r, err := in.Open()
	if err != nil {
		return err
	}
	g := newGather(o)
	defer func() { err = errors.Join(err, g.places.Close()) }()
	missing, err := trace(ctx, r, int(o.Room()/2), &o.Counts, g.packet)
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	if err := g.end(); err != nil {
		return err
	}
	if missing > maxFilled {
		o.Counts.Keep("answers cannot stand behind a packet without its end", "the last packet")
		return nil
	}
	w := &appended{out: out, fill: int(missing)}
	if err := g.askPlaces(ctx, o, w); err != nil {
		return err
	}
	return g.askNames(ctx, o, w)
}

// appended writes packets behind a trace.
type appended struct {
	out  io.Writer
	fill int // zeros that a cut packet gets, so that packets can stand behind it
	b    []byte
}

// maxFilled bounds what a cut packet gets.
const maxFilled = 16 << 20

// packetBytes are written as a packet at most, but for a single place or class that is larger.
const packetBytes = 256 << 10

// packet writes a packet with one field.
func (w *appended) packet(number uint32, body []byte) error {
	if w.fill > 0 {
		if _, err := w.out.Write(make([]byte, w.fill)); err != nil {
			return err
		}
		w.fill = 0
	}
	inner := protobuf.AppendBytes(nil, number, body)
	w.b = protobuf.AppendBytes(w.b[:0], tracePacket, inner)
	_, err := w.out.Write(w.b)
	return err
}

// askPlaces asks for places of code, and writes their lines module by module.
func (g *gather) askPlaces(ctx context.Context, o *profile.Options, w *appended) error {
	var body, one, line []byte
	of, begun := module{}, 0
	flush := func() error {
		if len(body) == begun {
			return nil
		}
		err := w.packet(packetSymbols, body)
		body, begun = body[:0], 0
		return err
	}
	err := g.places.Ask(ctx, o, places.Asking{
		Question: func(p places.Place) (report.Frame, bool) {
			im := &g.images[p.Image]
			if g.had.Find(places.Place{Image: im.number, Address: p.Address}) != places.None {
				o.Counts.Named++
				return report.Frame{}, false
			}
			return im.question(p.Address), true
		},
		Answer: func(_ int, p places.Place, a *symbol.Answer) error {
			if a.Status != symbol.Found || len(a.Frames) == 0 {
				return nil
			}
			if im := &g.images[p.Image]; im.module != of || len(body) >= packetBytes {
				if err := flush(); err != nil {
					return err
				}
				of = im.module
			}
			if len(body) == 0 {
				body = protobuf.AppendBytes(body, symbolsPath, of.path)
				if of.id != "" {
					body = protobuf.AppendBytes(body, symbolsBuildID, of.id)
				}
				begun = len(body)
			}
			one = protobuf.AppendNumber(one[:0], addressAddress, p.Address)
			for i := range a.Frames {
				f := &a.Frames[i]
				line = protobuf.AppendBytes(line[:0], lineFunction, f.Readable())
				if f.File != "" {
					line = protobuf.AppendBytes(line, lineSource, f.File)
				}
				if f.Line > 0 {
					line = protobuf.AppendNumber(line, lineLine, uint64(f.Line))
				}
				one = protobuf.AppendBytes(one, addressLine, line)
			}
			body = protobuf.AppendBytes(body, symbolsAddress, one)
			return nil
		},
	})
	if err != nil {
		return err
	}
	return flush()
}

// asked are packages with one mapping.
type asked struct {
	image    []string // names of the mapping; nil: the caller's
	packages []string
	mapped   bool // there is such a mapping
}

// unknownPackage stands where a trace names no package. Perfetto ignores names of frames without any.
const unknownPackage = "unknown"

// askNames asks for classes, and writes their names package by package.
func (g *gather) askNames(ctx context.Context, o *profile.Options, w *appended) error {
	if len(g.names.of) == 0 || o.Classes == nil {
		return nil
	}
	all, err := g.mappings(ctx, o)
	if err != nil {
		return err
	}
	for _, of := range all {
		classes, named := g.names.wanted(of.packages, of.mapped)
		o.Counts.Named += named
		bodies := make([][]byte, len(of.packages))
		var failed error
		err := o.Classes(ctx, of.image, classes, func(i int, c *profile.Class) {
			if c == nil || failed != nil {
				return
			}
			one := renamed(classes[i], c)
			for k, pkg := range of.packages {
				if _, in := g.names.of[pkg][classes[i]]; !in {
					if _, in = g.names.of[""][classes[i]]; !in {
						continue
					}
				}
				if len(bodies[k]) == 0 {
					bodies[k] = g.begin(bodies[k], pkg)
				}
				if bodies[k] = protobuf.AppendBytes(bodies[k], renamedClass, one); len(bodies[k]) >= packetBytes {
					failed = errors.Join(failed, w.packet(packetRenamed, bodies[k]))
					bodies[k] = bodies[k][:0]
				}
			}
		})
		if err = errors.Join(err, failed); err != nil {
			return err
		}
		for _, b := range bodies {
			if len(b) > 0 {
				if err := w.packet(packetRenamed, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// begin begins the names of a package.
func (g *gather) begin(b []byte, pkg string) []byte {
	b = protobuf.AppendBytes(b, renamedPackage, pkg)
	if version := g.who.versions[pkg]; version > 0 {
		b = protobuf.AppendNumber(b, renamedVersion, version)
	}
	return b
}

// mappings returns the mappings of all packages: their own, or the caller's.
func (g *gather) mappings(ctx context.Context, o *profile.Options) ([]asked, error) {
	packages := g.who.found()
	for pkg := range g.names.of {
		if pkg != "" {
			packages = append(packages, pkg)
		}
	}
	slices.Sort(packages)
	packages = slices.Compact(packages)
	if len(packages) == 0 {
		packages = []string{unknownPackage}
	}
	var all []asked
	rest := asked{}
	for _, pkg := range packages {
		image := []string{pkg}
		if version := g.who.versions[pkg]; version > 0 {
			image = []string{pkg + "@" + strconv.FormatUint(version, 10), pkg}
		}
		mapped := false
		if o.Mapped != nil {
			var err error
			if mapped, err = o.Mapped(ctx, image); err != nil {
				return nil, err
			}
		}
		if mapped {
			all = append(all, asked{image, []string{pkg}, true})
		} else {
			rest.packages = append(rest.packages, pkg)
		}
	}
	if len(rest.packages) > 0 {
		rest.mapped = o.Mapped == nil
		if o.Mapped != nil {
			var err error
			if rest.mapped, err = o.Mapped(ctx, nil); err != nil {
				return nil, err
			}
		}
		all = append(all, rest)
	}
	return all, nil
}

// renamed returns what a mapping knows of a class.
func renamed(name string, c *profile.Class) []byte {
	b := protobuf.AppendBytes(nil, classOld, name)
	b = protobuf.AppendBytes(b, classNew, c.Original)
	for _, f := range c.Fields {
		m := protobuf.AppendBytes(nil, memberOld, f.Name)
		b = protobuf.AppendBytes(b, classField, protobuf.AppendBytes(m, memberNew, f.Original))
	}
	if c.Lines == nil {
		for _, f := range c.Methods {
			m := protobuf.AppendBytes(nil, memberOld, f.Name)
			b = protobuf.AppendBytes(b, classMethod, protobuf.AppendBytes(m, memberNew, qualified(c, f.Original)))
		}
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		m := protobuf.AppendBytes(nil, memberOld, l.Name)
		m = protobuf.AppendBytes(m, memberNew, qualified(c, l.Original))
		if l.Ranged {
			m = protobuf.AppendNumber(protobuf.AppendNumber(m, memberFirst, uint64(l.First)), memberLast, uint64(l.Last))
		}
		if l.Sourced {
			m = protobuf.AppendNumber(protobuf.AppendNumber(m, memberFrom, uint64(l.From)), memberTo, uint64(l.To))
		}
		b = protobuf.AppendBytes(b, classMethod, m)
	}
	return b
}

// qualified puts the class before the name of a method that has none.
func qualified(c *profile.Class, method string) string {
	for i := range len(method) {
		if method[i] == '.' {
			return method
		}
	}
	return c.Original + "." + method
}
