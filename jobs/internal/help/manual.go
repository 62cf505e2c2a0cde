// Package help writes what a program says of itself: help on a terminal, man pages, completions of shells, and the
// reference of its command line. All of them are made of one Manual, which New reads from the grammar.
package help

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/symlake/symlake/jobs/docs"
)

// Manual is a command line as its documents show it.
type Manual struct {
	Program  string
	Summary  string // one line, without a stop
	Version  string
	Commands []*Command
	Flags    []Flag // of every command
	Topics   []docs.Topic
}

// Command is a command, or a group of commands.
type Command struct {
	Name     string // with its group's: keys rotate
	Group    string
	Summary  string // one sentence, with its stop
	Detail   string // paragraphs
	Example  string // lines, without indent
	Args     []Arg
	Flags    []Flag
	Commands []*Command
}

// Arg is a positional argument.
type Arg struct {
	Name       string // SOURCE
	Help       string
	Optional   bool
	Repeatable bool
	File       bool
}

// Flag is a flag of a command.
type Flag struct {
	Name        string // without dashes
	Short       string // one letter; "": none
	Placeholder string // "": the flag takes no value
	Help        string // one sentence, with its stop
	Detail      string // what the screen of a command leaves out
	Group       string
	Default     string
	Values      []string // that it takes; nil: any
	Variable    string   // of the environment; "": none sets it
	Repeatable  bool
	Negatable   bool
	File        bool // it names a file or folder
}

// New reads the manual of a program from its grammar.
func New(k *kong.Kong) *Manual {
	m := &Manual{Program: k.Model.Name, Summary: strings.TrimSuffix(k.Model.Help, "."), Flags: flags(k.Model.Node)}
	for _, n := range k.Model.Children {
		if !n.Hidden {
			m.Commands = append(m.Commands, command(n, "", m.Program))
		}
	}
	return m
}

// command reads a command, and those below it.
func command(n *kong.Node, above, program string) *Command {
	c := &Command{Name: strings.TrimSpace(above + " " + n.Name), Summary: n.Help, Flags: flags(n)}
	if n.Group != nil {
		c.Group = n.Group.Key
	}
	c.Detail, c.Example = cutExample(n.Detail)
	if program != "symlake" { // as help texts call it
		c.Example = strings.ReplaceAll(c.Example, "symlake", program)
	}
	for _, a := range n.Positional {
		c.Args = append(c.Args, Arg{Name: strings.ToUpper(a.Name), Help: a.Help, Optional: !a.Required, Repeatable: a.IsCumulative(),
			File: isFile(a) || slices.Contains([]string{"file", "source"}, a.Name)})
	}
	for _, child := range n.Children {
		if !child.Hidden {
			c.Commands = append(c.Commands, command(child, c.Name, program))
		}
	}
	return c
}

// cutExample parts the help of a command into text and example.
func cutExample(detail string) (text, example string) {
	for _, mark := range []string{"Example:\n", "Examples:\n"} {
		i := strings.Index(detail, mark)
		if i < 0 {
			continue
		}
		var lines []string
		for line := range strings.Lines(detail[i+len(mark):]) {
			lines = append(lines, strings.TrimPrefix(strings.TrimRight(line, "\n"), "  "))
		}
		return strings.TrimSpace(detail[:i]), strings.Join(lines, "\n")
	}
	return strings.TrimSpace(detail), ""
}

// isFile reports whether a value is a path of this machine.
func isFile(v *kong.Value) bool { return v.Tag.Type == "path" || v.Tag.Type == "existingfile" }

// flags reads the flags of one level of the grammar.
func flags(n *kong.Node) (list []Flag) {
	for _, f := range n.Flags {
		if f.Hidden {
			continue
		}
		out := Flag{Name: f.Name, Help: f.Help, Detail: f.Tag.Get("detail"), Default: f.Default, Repeatable: f.IsCumulative(), Negatable: f.Tag.Negatable != ""}
		if f.Short != 0 {
			out.Short = string(f.Short)
		}
		if !f.IsBool() {
			if out.Placeholder = f.PlaceHolder; out.Placeholder == "" {
				out.Placeholder = placeholder(f.Value)
			}
			out.File = isFile(f.Value) || strings.Contains(out.Placeholder, "FILE") || strings.Contains(out.Placeholder, "DIR") || out.Placeholder == "PATH"
		}
		if f.Enum != "" {
			out.Values = slices.DeleteFunc(f.EnumSlice(), func(v string) bool { return v == "" })
		}
		if f.Group != nil {
			out.Group = f.Group.Key
		}
		if len(f.Envs) > 0 {
			out.Variable = f.Envs[0]
		}
		list = append(list, out)
	}
	return list
}

// placeholder names the value of a flag that names none.
func placeholder(v *kong.Value) string {
	if v.Enum != "" {
		return strings.Join(slices.DeleteFunc(v.EnumSlice(), func(v string) bool { return v == "" }), "|")
	}
	switch kind := v.Target.Kind().String(); {
	case v.Target.Type().Name() == "Duration":
		return "TIME"
	case v.Target.Type().Name() == "Bytes":
		return "SIZE"
	case strings.HasPrefix(kind, "int"), strings.HasPrefix(kind, "uint"):
		return "N"
	}
	return strings.ToUpper(strings.ReplaceAll(v.Name, "-", "_"))
}

// All returns the commands that run, those below groups too, in order.
func (m *Manual) All() (list []*Command) {
	var each func(c *Command)
	each = func(c *Command) {
		list = append(list, c)
		for _, below := range c.Commands {
			each(below)
		}
	}
	for _, c := range m.Commands {
		each(c)
	}
	return list
}

// Find returns the command of these words; nil: there is none.
func (m *Manual) Find(words ...string) *Command {
	name := strings.Join(words, " ")
	for _, c := range m.All() {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Topic returns the topic of a name; nil: there is none.
func (m *Manual) Topic(name string) *docs.Topic {
	for i := range m.Topics {
		if m.Topics[i].Name == name {
			return &m.Topics[i]
		}
	}
	return nil
}

// Usage returns the line that shows how a command is written.
func (m *Manual) Usage(c *Command) string {
	words := []string{m.Program, c.Name}
	if len(c.Commands) > 0 {
		words = append(words, "COMMAND")
	}
	if len(c.Flags) > 0 {
		words = append(words, "[flags]")
	}
	for _, a := range c.Args {
		name := a.Name
		if a.Repeatable {
			name += " …"
		}
		if a.Optional {
			name = "[" + name + "]"
		}
		words = append(words, name)
	}
	return strings.Join(words, " ")
}

// Head returns the flag as a reader types it: -h, --help or --limit N.
func (f *Flag) Head() string {
	text := "--" + f.Name
	if f.Negatable {
		text = "--[no-]" + f.Name
	}
	if f.Short != "" {
		text = "-" + f.Short + ", " + text
	}
	if f.Placeholder != "" {
		text += " " + f.Placeholder
	}
	return text
}

// note returns what a flag's line says behind its help: values, default, repetition.
func (f *Flag) note() string {
	var notes []string
	if len(f.Values) > 0 && !strings.Contains(f.Placeholder, "|") && !says(f.Help, f.Values) {
		notes = append(notes, strings.Join(f.Values, ", "))
	}
	if f.Default != "" && f.Default != "0" && !f.Negatable {
		notes = append(notes, "default "+f.Default)
	}
	if f.Repeatable {
		notes = append(notes, "repeatable")
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, "; ") + ")"
}

// says reports whether a text names all of some words.
func says(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// line returns the help of a flag in one sentence, with its notes before the stop.
func (f *Flag) line() string {
	return strings.TrimSuffix(f.Help, ".") + f.note()
}

// Full returns the help of a flag with its details and its variable.
func (f *Flag) Full() string {
	text := f.line() + "."
	if f.Detail != "" {
		text += " " + f.Detail
	}
	if f.Variable != "" {
		text += " Variable: " + f.Variable + "."
	}
	return text
}

// Groups returns the groups of flags in the order of their first flag.
func Groups(list []Flag) (names []string, in map[string][]Flag) {
	in = map[string][]Flag{}
	for _, f := range list {
		if _, known := in[f.Group]; !known {
			names = append(names, f.Group)
		}
		in[f.Group] = append(in[f.Group], f)
	}
	return names, in
}
