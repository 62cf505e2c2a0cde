package sourcemap

import (
	"context"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats"
)

// hash adds to h the parts of a map that its answers come from: for each map in it, in order, the name
// and the bytes of each value.
func (l *layout) hash(ctx context.Context, h hash.Hash, in *formats.Input) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for i := range l.sections {
		s := &l.sections[i]
		io.WriteString(h, "section "+s.offset()+"\n")
		if err := s.layout.hash(ctx, h, in); err != nil {
			return err
		}
	}
	io.WriteString(h, "root "+l.root+"\nignored "+l.ignoredText()+"\n")
	for _, part := range []struct {
		name string
		span
	}{{"sources", l.sources}, {"names", l.names}, {"mappings", l.mappings}, {"rangeMappings", l.ranges}, {"scopes", l.scopes},
		{"functions", l.functions}, {"offsets", l.offsets}, {"modules", l.modules}} {
		if part.span == (span{}) {
			continue
		}
		io.WriteString(h, part.name+" ")
		if in.Mapped != nil {
			h.Write(in.Mapped[part.from:part.to])
			continue
		}
		n, err := io.Copy(h, io.NewSectionReader(in.Bytes, part.from, part.to-part.from))
		if err != nil {
			return err
		}
		if n != part.to-part.from {
			return fault(part.name, part.from+n, "as many bytes as before")
		}
	}
	for i := range l.segments {
		s := &l.segments[i]
		io.WriteString(h, "segment "+s.label()+"\n")
		if err := s.layout.hash(ctx, h, in); err != nil {
			return err
		}
	}
	return nil
}

func (s *section) offset() string {
	return strconv.Itoa(int(s.line)) + " " + strconv.Itoa(int(s.column))
}

func (s *segment) label() string { return strconv.Itoa(int(s.number)) }

func (l *layout) ignoredText() string {
	var b strings.Builder
	for _, i := range l.ignored {
		b.WriteString(strconv.Itoa(int(i)))
		b.WriteByte(' ')
	}
	return b.String()
}
