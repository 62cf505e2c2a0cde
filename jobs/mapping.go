package jobs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/jobs/wire"
)

// mapping shows the artifact of a mapping. Lines that do not parse are shown with their text, here and nowhere else.
func (j inspectJob) mapping(p *workspace.Workspace, in *formats.Input, f *formats.Format, a *formats.Artifact, out wire.Artifact) ([]error, error) {
	q, why, err := j.explode(p, f, a, formats.Takers{Class: func(c *symbol.Class) error {
		if c.Facts == nil {
			out.Classes++
			out.Members += uint64(len(c.Members))
		}
		if j.Ranges {
			return printClass(p.Out, c)
		}
		return nil
	}})
	if err != nil {
		return nil, err
	}
	out.Quality = wire.NewQuality(q)
	if p.Flags.JSON {
		return why, p.PrintJSON(out)
	}
	_, err = fmt.Fprintf(p.Out, "artifact    %s\nkind        %s\ncanonical   %s\nnames       %s\nparts       %d\nclasses     %d, %d too large\nmembers     %d\nlines       %d, %d bad\n",
		out.Artifact, a.Kind, a.Canonical, strings.Join(out.Names, " "), a.Parts, out.Classes, q.UnitsBroken, out.Members, q.Lines, q.BadLines)
	if err != nil {
		return nil, err
	}
	return why, printLines(p.Out, in, q.Warnings)
}

// maxShown bounds what is shown of a line.
const maxShown = 400

// printLines prints warnings, and below each the line that it is about.
func printLines(w io.Writer, in *formats.Input, warnings []string) error {
	about := map[int][]string{}
	for _, text := range warnings {
		line := 0
		if _, err := fmt.Sscanf(text, "line %d", &line); err != nil {
			if _, err := fmt.Fprintln(w, text); err != nil {
				return err
			}
			continue
		}
		about[line] = append(about[line], text)
	}
	r := bufio.NewReader(io.NewSectionReader(in.Bytes, 0, in.Size))
	for n, begins := 1, true; len(about) > 0; {
		text, err := r.ReadSlice('\n')
		if begins {
			for _, warning := range about[n] {
				shown := bytes.TrimRight(text, "\r\n")
				if _, err := fmt.Fprintf(w, "%s\n  %s\n", warning, shown[:min(len(shown), maxShown)]); err != nil {
					return err
				}
			}
			delete(about, n)
		}
		switch {
		case err == nil:
			n, begins = n+1, true
		case errors.Is(err, bufio.ErrBufferFull):
			begins = false
		case errors.Is(err, io.EOF):
			return nil
		default:
			return fmt.Errorf("read %s: %w", in.Name, err)
		}
	}
	return nil
}

// printClass prints a class as the lines of a mapping, without its rules.
func printClass(w io.Writer, c *symbol.Class) error {
	if c.Facts != nil {
		_, err := fmt.Fprintf(w, "# map version %q, %d packages\n", c.Facts.Version, len(c.Facts.Packages))
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s -> %s:", c.Original, c.Name)
	if c.File != "" {
		fmt.Fprintf(&b, " # %s", c.File)
	}
	b.WriteByte('\n')
	for i := range c.Members {
		m := &c.Members[i]
		b.WriteString("    " + printRange(m.Lines, "", ":") + m.Type + " ")
		if m.Class != "" {
			b.WriteString(m.Class + ".")
		}
		b.WriteString(m.Original)
		if !m.Field {
			b.WriteString("(" + m.Params + ")")
		}
		b.WriteString(printRange(m.From, ":", "") + " -> " + m.Name + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printRange prints line numbers with something before or behind each.
func printRange(l symbol.Lines, before, behind string) string {
	switch l.Count {
	case 1:
		return fmt.Sprintf("%s%d%s", before, l.First, behind)
	case 2:
		return fmt.Sprintf("%s%d%s%s%d%s", before, l.First, behind, before, l.Last, behind)
	}
	return ""
}
