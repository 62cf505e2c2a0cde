package help

import (
	"fmt"
	"strings"
)

// Reference returns the command line as a Markdown document.
func (m *Manual) Reference() string {
	var w strings.Builder
	fmt.Fprintf(&w, "# The command line\n\nThis document is made from the program: `%[1]s help COMMAND` prints the same words.\n"+
		"A flag overrules its variable, a variable overrules `symlake.yaml`.\n\n    %[1]s COMMAND [flags] [arguments]\n", m.Program)
	names, in := m.groups()
	for _, group := range names {
		fmt.Fprintf(&w, "\n**%s**\n\n| command | does |\n|---|---|\n", group)
		for _, c := range in[group] {
			fmt.Fprintf(&w, "| [`%s`](#%s) | %s |\n", c.Name, anchor(c.Name), cell(strings.TrimSuffix(c.Summary, ".")))
		}
	}
	fmt.Fprintf(&w, "\n## Exit codes\n\n| code | meaning |\n|---|---|\n")
	for _, code := range ExitCodes {
		fmt.Fprintf(&w, "| %s | %s |\n", code[0], cell(code[1]))
	}
	fmt.Fprintf(&w, "\n## Flags of every command\n")
	flagTables(&w, m.Flags)
	for _, c := range m.All() {
		m.reference(&w, c)
	}
	return w.String()
}

// anchor returns the fragment that forges give a heading.
func anchor(name string) string { return strings.ReplaceAll(name, " ", "-") }

// cell returns a text that stands in a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// code returns a text as code in a cell.
func code(text string) string { return "`" + cell(text) + "`" }

func (m *Manual) reference(w *strings.Builder, c *Command) {
	fmt.Fprintf(w, "\n## %s\n\n%s\n\n    %s\n", c.Name, c.Summary, m.Usage(c))
	if c.Detail != "" {
		fmt.Fprintf(w, "\n%s\n", c.Detail)
	}
	if c.Example != "" {
		fmt.Fprintf(w, "\nExample:\n\n")
		for line := range strings.Lines(c.Example) {
			fmt.Fprintf(w, "    %s\n", strings.TrimRight(line, "\n"))
		}
	}
	if len(c.Commands) > 0 {
		fmt.Fprintf(w, "\n| command | does |\n|---|---|\n")
		for _, below := range c.Commands {
			fmt.Fprintf(w, "| [`%s`](#%s) | %s |\n", below.Name, anchor(below.Name), cell(strings.TrimSuffix(below.Summary, ".")))
		}
	}
	if len(c.Args) > 0 {
		fmt.Fprintf(w, "\n| argument | meaning |\n|---|---|\n")
		for _, a := range c.Args {
			fmt.Fprintf(w, "| %s | %s |\n", code(a.Name), cell(strings.TrimSuffix(a.Help, ".")))
		}
	}
	flagTables(w, c.Flags)
}

// flagTables writes a table for each group of flags.
func flagTables(w *strings.Builder, list []Flag) {
	names, in := Groups(list)
	for _, group := range names {
		title := strings.TrimPrefix(group, Minor)
		if title == "" {
			title = "flag"
		}
		fmt.Fprintf(w, "\n| %s | meaning | variable |\n|---|---|---|\n", title)
		for _, f := range in[group] {
			text := f.line()
			if f.Detail != "" {
				text += ". " + strings.TrimSuffix(f.Detail, ".")
			}
			variable := ""
			if f.Variable != "" {
				variable = code(f.Variable)
			}
			fmt.Fprintf(w, "| %s | %s | %s |\n", code(f.Head()), cell(text), variable)
		}
	}
}
