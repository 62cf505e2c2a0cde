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
	"github.com/symlake/symlake/ingest"
	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/jobs/internal/workspace"
	"github.com/symlake/symlake/jobs/wire"
	"github.com/symlake/symlake/sinks/all"
)

type inspectJob struct {
	File   string `arg:"" type:"existingfile" help:"A symbol object, an archive, or a file of a store or lake. - is standard input."`
	Ranges bool   `help:"Print every range."`
}

func (inspectJob) Help() string {
	return "If ingest would reject the file, inspect says why and exits 3.\n\nExample:\n  symlake inspect libcart.so --json\n  symlake inspect libcart.so --ranges"
}

// Run prints the contents of the file, members of archives too. What ingest would reject it says on standard error, and ends
// with ingest's exit code for that.
func (j inspectJob) Run(p *workspace.Workspace) error {
	if j.File == "-" {
		path, remove, err := p.Spool()
		if err != nil {
			return err
		}
		defer remove()
		j.File = path
	}
	src, err := p.OpenSource(settings.SourceConfig{URL: j.File}) // first: it does not wait for the writer of a pipe
	if err != nil {
		return err
	}
	known, err := all.Inspect(p.Ctx, j.File, p.Out, p.Flags.JSON)
	if known || err != nil {
		return err
	}
	if known, err = all.InspectLake(p.Ctx, j.File, p.Out, p.Flags.JSON, p.LakeKeys); known || err != nil {
		return err
	}
	rejected := false
	reject := func(in *formats.Input, why ...error) {
		for _, err := range why {
			rejected = true
			fmt.Fprintf(p.ErrOut, "%s: %v\n", in.Name, err)
		}
	}
	err = ingest.Walk(p.Ctx, src, p.Pipeline(), func(in *formats.Input, f *formats.Format, obj *formats.Object, err error) error {
		switch {
		case err != nil && formats.Rejects(err):
			reject(in, err)
			return nil
		case err != nil:
			return err
		case f == nil:
			fmt.Fprintf(p.ErrOut, "%s: unknown format\n", in.Name)
			return nil
		case obj.Members == nil && len(obj.Artifacts) == 0:
			fmt.Fprintf(p.ErrOut, "%s: %s without symbols%s\n", in.Name, f.Name, partOf(obj.Companions))
		}
		for i := range obj.Artifacts {
			why, err := j.artifact(p, in, f, &obj.Artifacts[i])
			if err != nil {
				return err
			}
			reject(in, why...)
		}
		return nil
	})
	if err == nil && rejected {
		return &exit.Error{Code: exit.Rejected}
	}
	return err
}

// artifact prints an artifact and returns the reasons for which ingest would reject it.
func (j inspectJob) artifact(p *workspace.Workspace, in *formats.Input, f *formats.Format, a *formats.Artifact) (why []error, err error) {
	out := wire.Artifact{Artifact: a.ID.String(), Kind: a.Kind, Arch: a.Arch, Object: in.Name, ImageBase: fmt.Sprintf("%#x", a.Base)}
	out.Names, out.Apps = wire.Names(a.Names)
	if _, member, ok := strings.Cut(in.Name, "!"); ok {
		out.Member = member
	}
	if a.Kind.HasClasses() {
		return j.mapping(p, in, f, a, out)
	}
	show := func(r *symbol.Run) error {
		out.Ranges += uint64(len(r.Ranges))
		if j.Ranges {
			return printRun(p.Out, a.Base, r)
		}
		return nil
	}
	q, why, err := j.explode(p, f, a, formats.Takers{Run: show, Script: func(s *symbol.Script) error { return show(&s.Run) }})
	if err != nil {
		return nil, err
	}
	out.Quality = wire.NewQuality(q)
	if out.Unwind, err = j.unwind(p, f, a); err != nil {
		return nil, err
	}
	if p.Flags.JSON {
		return why, p.PrintJSON(out)
	}
	_, err = fmt.Fprintf(p.Out, "artifact    %s\nkind        %s %s\ncanonical   %s\nnames       %s\nimage       base %#x, end +%#x\nparts       %d\nunits       %d, %d broken, %d line programs broken\nranges      %d before overlaps are settled\nmissing     %s\n",
		out.Artifact, a.Kind, a.Arch, a.Canonical, strings.Join(out.Names, " "), a.Base, a.End, a.Parts, q.Units, q.UnitsBroken, q.LinesBroken, out.Ranges, strings.Join(q.Missing, " "))
	if u := out.Unwind; u != nil && err == nil {
		_, err = fmt.Fprintf(p.Out, "unwind      %d ranges before overlaps are settled, %d broken\n", u.Ranges, u.Broken)
	}
	for _, w := range q.Warnings {
		if err == nil {
			_, err = fmt.Fprintf(p.Out, "warning     %s\n", w)
		}
	}
	return why, err
}

// unwind counts the call frame information of an artifact; nil: it has none.
func (j inspectJob) unwind(p *workspace.Workspace, f *formats.Format, a *formats.Artifact) (*wire.Unwind, error) {
	if a.Unwind == nil {
		return nil, nil
	}
	var out wire.Unwind
	err := formats.Guard(f.Name, func() error {
		q, err := a.Unwind(p.Ctx, func(u *symbol.Unwind) error {
			out.Ranges += uint64(len(u.Ranges))
			return nil
		})
		out.Broken = q.UnitsBroken
		return err
	})
	if formats.Rejects(err) {
		out.Broken++
		err = nil
	}
	if err != nil || out == (wire.Unwind{}) {
		return nil, err
	}
	return &out, nil
}

// partOf says by which ids an object is a part of others, if it is.
func partOf(ids []string) string {
	const most = 8
	switch n := len(ids); {
	case n == 0:
		return ""
	case n > most:
		return fmt.Sprintf(": a part of others: %s and %d more", strings.Join(ids[:most], " "), n-most)
	}
	return ": a part of others: " + strings.Join(ids, " ")
}

// explode gives an artifact's pieces to to, and returns the reasons for which ingest would reject it: a broken part,
// which explode passes over, or the format's own check of all parts.
func (j inspectJob) explode(p *workspace.Workspace, f *formats.Format, a *formats.Artifact, to formats.Takers) (q symbol.Quality, why []error, err error) {
	for part := range a.Parts {
		var got symbol.Quality
		err := formats.Guard(f.Name, func() (err error) {
			got, err = a.ExplodeInto(p.Ctx, part, to)
			return err
		})
		if formats.Rejects(err) {
			why = append(why, err)
			continue
		}
		if err != nil {
			return q, nil, err
		}
		q.Add(got)
		q.Warnings = append(q.Warnings, got.Warnings...)
	}
	if a.Check != nil && len(why) == 0 {
		if err := a.Check(q); err != nil {
			why = append(why, err)
		}
	}
	return q, why, nil
}

// printRun prints one range a line: address, end, and the chain, innermost first.
func printRun(w io.Writer, base uint64, r *symbol.Run) error {
	var chain []symbol.Frame
	for i, g := range r.Ranges {
		chain = r.Chain(i, chain[:0])
		fmt.Fprintf(w, "%08x %08x", base+g.Start, base+g.End)
		for _, f := range chain {
			fmt.Fprintf(w, "  %s %s:%d:%d", f.Linkage, f.File, f.Line, f.Column)
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return nil
}

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

// maxShown bounds the bytes shown of a line.
const maxShown = 400

// printLines prints warnings, and below each its line.
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
