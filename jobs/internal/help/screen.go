package help

import (
	"fmt"
	"strings"
)

// Screen says how a text is shown.
type Screen struct {
	Width  int  // in columns
	Styled bool // with bold words
	All    bool // with each flag of a command explained
}

func (s Screen) page() *page { return &page{width: max(s.Width, 40), styled: s.Styled} }

// Root returns the help of the program: commands in groups, then flags in groups, then topics.
func (m *Manual) Root(s Screen) string {
	p := s.page()
	p.text(fmt.Sprintf("%s: %s.", m.Program, m.Summary), 0)
	p.gap()
	p.wrap(m.Program+" COMMAND [flags] [arguments]", p.bold("Usage:")+" ", "       ")
	column := 0
	for _, c := range m.Commands {
		column = max(column, size(c.Name))
	}
	names, in := m.groups()
	for _, group := range names {
		p.heading(group)
		var list [][2]string
		for _, c := range in[group] {
			list = append(list, [2]string{c.Name, strings.TrimSuffix(c.Summary, ".")})
		}
		p.columns(list, 2, column)
	}
	m.globals(p)
	if len(m.Topics) > 0 {
		p.heading("Topics")
		var list [][2]string
		for _, t := range m.Topics {
			list = append(list, [2]string{t.Name, t.Summary})
		}
		p.columns(list, 2, column)
	}
	p.gap()
	p.text(fmt.Sprintf("%s help COMMAND shows a command with an example. %[1]s help TOPIC shows a document.", m.Program), 0)
	return p.out.String()
}

// groups returns the commands by their groups, in the order of the first of each.
func (m *Manual) groups() (names []string, in map[string][]*Command) {
	in = map[string][]*Command{}
	for _, c := range m.Commands {
		if _, known := in[c.Group]; !known {
			names = append(names, c.Group)
		}
		in[c.Group] = append(in[c.Group], c)
	}
	return names, in
}

// globals writes the flags of every command.
func (m *Manual) globals(p *page) {
	writeGroups(p, m.Flags, false)
}

// writeGroups writes flags in their groups. In full, each also has its details and its variable.
func writeGroups(p *page, list []Flag, full bool) {
	var pairs [][2]string
	for i := range list {
		text := list[i].line()
		if full {
			text = list[i].Full()
		}
		pairs = append(pairs, [2]string{list[i].Head(), text})
	}
	column, names := columnOf(pairs), []string{}
	in := map[string][][2]string{}
	for i, pair := range pairs {
		group := list[i].Group
		if in[group] == nil {
			names = append(names, group)
		}
		in[group] = append(in[group], pair)
	}
	for _, group := range names {
		p.heading(flagTitle(group))
		p.columns(in[group], 2, column)
	}
}

// flagTitle returns the title of a group of flags.
func flagTitle(group string) string {
	group = strings.TrimPrefix(group, Minor)
	if group == "" {
		return "Flags"
	}
	return "Flags: " + group
}

// Minor begins the name of a group of flags that few callers need. The screen of a command only names them.
const Minor = "~"

// Command returns the help of a command.
func (m *Manual) Command(c *Command, s Screen) string {
	p := s.page()
	p.text(c.Summary, 0)
	p.gap()
	p.wrap(m.Usage(c), p.bold("Usage:")+" ", "       ")
	if c.Detail != "" {
		p.gap()
		p.text(c.Detail, 0)
	}
	if c.Example != "" {
		p.heading("Example")
		for line := range strings.Lines(c.Example) {
			p.out.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
		}
	}
	if len(c.Commands) > 0 {
		p.heading("Commands")
		var list [][2]string
		for _, below := range c.Commands {
			list = append(list, [2]string{below.Name, strings.TrimSuffix(below.Summary, ".")})
		}
		p.pairs(list, 2)
	}
	if len(c.Args) > 0 {
		p.heading("Arguments")
		var list [][2]string
		for _, a := range c.Args {
			list = append(list, [2]string{a.Name, strings.TrimSuffix(a.Help, ".")})
		}
		p.pairs(list, 2)
	}
	m.commandFlags(p, c, s)
	return p.out.String()
}

// commandFlags writes the flags of a command in their groups.
func (m *Manual) commandFlags(p *page, c *Command, s Screen) {
	names, in := Groups(c.Flags)
	var shown []Flag
	var minor [][2]string
	for _, group := range names {
		title, few := strings.CutPrefix(group, Minor)
		if !few || s.All {
			shown = append(shown, in[group]...)
			continue
		}
		var heads []string
		for _, f := range in[group] {
			heads = append(heads, "--"+f.Name)
		}
		minor = append(minor, [2]string{title, strings.Join(heads, " ")})
	}
	writeGroups(p, shown, s.All)
	if len(minor) > 0 {
		p.heading(fmt.Sprintf("More flags: %s help --all %s", m.Program, c.Name))
		p.pairs(minor, 2)
	}
	p.gap()
	p.text(fmt.Sprintf("Flags of every command: %s help flags.", m.Program), 0)
}

// GlobalFlags returns the help of the flags that every command has.
func (m *Manual) GlobalFlags(s Screen) string {
	p := s.page()
	p.text("Every command has these flags. A flag overrules its variable, a variable overrules the configuration file.", 0)
	writeGroups(p, m.Flags, true)
	return p.out.String()
}
