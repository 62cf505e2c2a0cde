package help

import (
	"fmt"
	"strings"
	"time"
)

// Man returns the man pages of a program by their file names: one of the program, and one of each command. day stands in
// their heads.
func (m *Manual) Man(day time.Time) map[string]string {
	pages := map[string]string{m.Program + ".1": m.manRoot(day)}
	for _, c := range m.All() {
		pages[m.manName(c)+".1"] = m.manCommand(c, day)
	}
	return pages
}

func (m *Manual) manName(c *Command) string {
	return m.Program + "-" + strings.ReplaceAll(c.Name, " ", "-")
}

// roff is the text of a man page.
type roff struct{ strings.Builder }

// escaped returns a text that roff prints without change.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", `\&...`, "→", `\(->`, "“", `\(lq`, "”", `\(rq`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// quoted returns an argument of a request.
func quoted(text string) string { return `"` + strings.ReplaceAll(escaped(text), `"`, `\(dq`) + `"` }

func (r *roff) title(name string, day time.Time, m *Manual) {
	fmt.Fprintf(r, ".TH %s 1 %s %s\n", quoted(strings.ToUpper(name)), `"`+day.UTC().Format(time.DateOnly)+`"`, quoted(strings.TrimSpace(m.Program+" "+m.Version)))
}

func (r *roff) section(name string) { fmt.Fprintf(r, ".SH %s\n", quoted(name)) }

func (r *roff) paragraph(text string) {
	for i, p := range strings.Split(text, "\n\n") {
		if i > 0 {
			r.WriteString(".PP\n")
		}
		r.lines(p)
	}
}

// lines writes one sentence a line, as roff likes it. Lines that begin with a space stay as they are.
func (r *roff) lines(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if strings.HasPrefix(line, " ") {
			fmt.Fprintf(r, ".br\n%s\n", escaped(strings.TrimSpace(line)))
			continue
		}
		for strings.Contains(line, ". ") {
			sentence, rest, _ := strings.Cut(line, ". ")
			r.WriteString(escaped(sentence+".") + "\n")
			line = strings.TrimLeft(rest, " ")
		}
		if line != "" {
			r.WriteString(escaped(line) + "\n")
		}
	}
}

// item writes a name and, indented below it, a text.
func (r *roff) item(name, text string) {
	fmt.Fprintf(r, ".TP\n\\fB%s\\fR\n", escaped(name))
	r.lines(text)
}

func (r *roff) flags(list []Flag) {
	names, in := Groups(list)
	for _, group := range names {
		if title := strings.TrimPrefix(group, Minor); title != "" {
			fmt.Fprintf(r, ".SS %s\n", quoted(title))
		}
		for _, f := range in[group] {
			r.item(f.Head(), f.Full())
		}
	}
}

// see writes the names of other pages.
func (r *roff) see(names []string) {
	if len(names) == 0 {
		return
	}
	r.section("SEE ALSO")
	for i, name := range names {
		end := " ,"
		if i == len(names)-1 {
			end = ""
		}
		fmt.Fprintf(r, ".BR %s (1)%s\n", escaped(name), end)
	}
}

func (m *Manual) manRoot(day time.Time) string {
	r := &roff{}
	r.title(m.Program, day, m)
	r.section("NAME")
	fmt.Fprintf(r, "%s \\- %s\n", escaped(m.Program), escaped(m.Summary))
	r.section("SYNOPSIS")
	fmt.Fprintf(r, ".B %s\n%s\n", escaped(m.Program), escaped("COMMAND [flags] [arguments]"))
	r.section("COMMANDS")
	names, in := m.groups()
	var pages []string
	for _, group := range names {
		fmt.Fprintf(r, ".SS %s\n", quoted(group))
		for _, c := range in[group] {
			r.item(c.Name, c.Summary)
			pages = append(pages, m.manName(c))
		}
	}
	r.section("OPTIONS")
	r.paragraph("Every command has these flags. A flag overrules its variable, a variable overrules the configuration file.")
	r.flags(m.Flags)
	r.exitStatus()
	r.see(pages)
	return r.String()
}

// exitStatus writes the exit codes that all commands share.
func (r *roff) exitStatus() {
	r.section("EXIT STATUS")
	for _, code := range ExitCodes {
		r.item(code[0], code[1])
	}
}

// ExitCodes are the exit codes and their meanings.
var ExitCodes = [][2]string{
	{"0", "The command did its work."},
	{"1", "It could not do its work: a store, source, key or disk is out of reach. Run it again."},
	{"2", "The command line or the configuration is wrong. Running it again will not help."},
	{"3", "It did its work, and newly rejected an object. The flag --rejected-code changes this code."},
}

func (m *Manual) manCommand(c *Command, day time.Time) string {
	r, name := &roff{}, m.manName(c)
	r.title(name, day, m)
	r.section("NAME")
	fmt.Fprintf(r, "%s \\- %s\n", escaped(name), escaped(strings.TrimSuffix(c.Summary, ".")))
	r.section("SYNOPSIS")
	rest := strings.TrimPrefix(m.Usage(c), m.Program+" "+c.Name)
	fmt.Fprintf(r, ".B %s\n", escaped(m.Program+" "+c.Name))
	if rest = strings.TrimSpace(rest); rest != "" {
		r.WriteString(escaped(rest) + "\n")
	}
	r.section("DESCRIPTION")
	r.paragraph(strings.TrimSpace(c.Summary + "\n\n" + c.Detail))
	if len(c.Commands) > 0 {
		r.section("COMMANDS")
		for _, below := range c.Commands {
			r.item(below.Name, below.Summary)
		}
	}
	if len(c.Args) > 0 {
		r.section("ARGUMENTS")
		for _, a := range c.Args {
			r.item(a.Name, a.Help)
		}
	}
	if len(c.Flags) > 0 {
		r.section("OPTIONS")
		r.flags(c.Flags)
	}
	if c.Example != "" {
		r.section("EXAMPLES")
		r.WriteString(".nf\n")
		for line := range strings.Lines(c.Example) {
			r.WriteString(escaped(strings.TrimRight(line, "\n")) + "\n")
		}
		r.WriteString(".fi\n")
	}
	r.exitStatus()
	see := []string{m.Program}
	for _, below := range c.Commands {
		see = append(see, m.manName(below))
	}
	r.see(see)
	return r.String()
}
