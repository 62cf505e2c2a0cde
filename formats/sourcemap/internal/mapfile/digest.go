package mapfile

import (
	"context"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
)

// Hash adds to h the parts of a map that its answers come from: for each map in it, in order, the name
// and the bytes of each value.
func (l *Layout) Hash(ctx context.Context, h hash.Hash, in *formats.Input) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range l.Sections {
		s := &l.Sections[i]
		io.WriteString(h, "section "+s.offset()+"\n")
		if err := s.layout.Hash(ctx, h, in); err != nil {
			return err
		}
	}
	io.WriteString(h, "root "+l.Root+"\nignored "+l.ignoredText()+"\n")
	for _, part := range []struct {
		name string
		Span
	}{{"sources", l.Sources}, {"names", l.Names}, {"mappings", l.Mappings}, {"rangeMappings", l.ranges}, {"scopes", l.Scopes},
		{"functions", l.Functions}, {"offsets", l.HermesOffsets}, {"modules", l.ModuleOffsets}} {
		if part.Span == (Span{}) {
			continue
		}
		io.WriteString(h, part.name+" ")
		if in.Mapped != nil {
			h.Write(in.Mapped[part.From:part.To])
			continue
		}
		n, err := io.Copy(h, io.NewSectionReader(in.Bytes, part.From, part.To-part.From))
		if err != nil {
			return err
		}
		if n != part.To-part.From {
			return Fault(part.name, part.From+n, "as many bytes as before")
		}
	}
	for i := range l.Segments {
		s := &l.Segments[i]
		io.WriteString(h, "segment "+s.label()+"\n")
		if err := s.Layout.Hash(ctx, h, in); err != nil {
			return err
		}
	}
	return nil
}

// SaysMore reports whether a map says more than another one of the same script: it names functions, or has the longer
// mappings, which tell of more places or names, or the longer texts of sources.
func (l *Layout) SaysMore(than *Layout) bool {
	if a, b := l.LacksFunctions(), than.LacksFunctions(); a != b {
		return b
	}
	mappings, texts := l.weights()
	otherMappings, otherTexts := than.weights()
	if mappings != otherMappings {
		return mappings > otherMappings
	}
	return texts > otherTexts
}

// weights returns the bytes of the mappings of all maps in a map, and of the texts of their sources.
func (l *Layout) weights() (mappings, texts int64) {
	mappings, texts = l.Mappings.To-l.Mappings.From, l.Content.To-l.Content.From
	add := func(in *Layout) {
		m, t := in.weights()
		mappings, texts = mappings+m, texts+t
	}
	for i := range l.Sections {
		add(l.Sections[i].layout)
	}
	for i := range l.Segments {
		add(l.Segments[i].Layout)
	}
	return mappings, texts
}

func (s *section) offset() string {
	return strconv.Itoa(int(s.line)) + " " + strconv.Itoa(int(s.column))
}

func (s *segment) label() string { return strconv.Itoa(int(s.Number)) }

func (l *Layout) ignoredText() string {
	var b strings.Builder
	for _, i := range l.Ignored {
		b.WriteString(strconv.Itoa(int(i)))
		b.WriteByte(' ')
	}
	return b.String()
}
