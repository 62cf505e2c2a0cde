package program

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/guess"
	"github.com/symlake/symlake/jobs/internal/help"
)

// mend turns kong's error about a command line into words: the fault, a better word, and where to read on.
func (g *Program) mend(parsed *kong.Context, err error, args []string) error {
	var words []string
	if parsed != nil {
		for n := parsed.Selected(); n != nil && n.Parent != nil; n = n.Parent {
			words = append([]string{n.Name}, words...)
		}
	}
	c := g.manual().Find(words...)
	see := fmt.Sprintf("(see %s --help)", strings.Join(append([]string{g.Name}, words...), " "))
	said := err.Error()
	if name, ok := quotedBy(said, "unknown flag "); ok {
		return exit.Usage("%s %s", g.unknownFlag(c, spelled(name, args)), see)
	}
	if word, ok := quotedBy(said, "unexpected argument "); ok {
		return exit.Usage("%s %s", g.unexpected(c, word, args), see)
	}
	switch {
	case strings.HasPrefix(said, "expected ") && c == nil:
		said = "a command is missing"
	case strings.HasPrefix(said, "expected ") && len(c.Commands) > 0:
		var names []string
		for _, below := range c.Commands {
			names = append(names, below.Name)
		}
		said = "give one of these commands: " + strings.Join(names, ", ")
	case strings.HasPrefix(said, "missing positional arguments ") || strings.HasPrefix(said, "expected "):
		said = "an argument is missing. Write: " + g.manual().Usage(c)
	case strings.Contains(said, "can't be used together"):
		said = "give only one of " + strings.TrimSuffix(said, " can't be used together")
	case strings.Contains(said, " value but got "):
		flag, _, _ := strings.Cut(said, ":")
		said = fmt.Sprintf("%s needs a value", flag)
		if f := g.findFlag(c, strings.TrimPrefix(flag, "--")); f != nil && f.Placeholder != "" {
			said += ": " + flag + " " + f.Placeholder
		}
	}
	return exit.Usage("%s %s", said, see)
}

// quotedBy returns the word behind a prefix of what kong says.
func quotedBy(said, prefix string) (word string, ok bool) {
	rest, ok := strings.CutPrefix(said, prefix)
	word, _, _ = strings.Cut(rest, ", did you mean ")
	return word, ok
}

// spelled returns a flag as the command line has it: kong reads -store as -s, -t and so on.
func spelled(name string, args []string) string {
	if strings.HasPrefix(name, "--") {
		return name
	}
	for _, arg := range args {
		if word, _, _ := strings.Cut(arg, "="); strings.HasPrefix(word, name) && len(word) > len(name)+1 {
			return word
		}
	}
	return name
}

// synonym returns the command that other programs call so; "": none.
func synonym(word string) string {
	return map[string]string{
		"list": "artifacts", "ls": "artifacts", "search": "artifacts", "find": "artifacts", "show": "artifacts",
		"delete": "forget", "remove": "forget", "rm": "forget", "purge": "forget", "prune": "gc", "clean": "gc", "cleanup": "gc",
		"upload": "ingest", "add": "ingest", "import": "ingest", "push": "ingest", "sync": "ingest", "copy": "load", "migrate": "load",
		"retrace": "symbolicate", "stack": "symbolicate", "decode": "symbolicate", "addr2line": "lookup", "query": "lookup", "get": "lookup",
		"server": "serve", "start": "serve", "run": "serve", "info": "status", "stats": "status", "health": "status",
		"check": "verify", "fsck": "verify", "repair": "verify", "dump": "inspect", "log": "audit", "history": "audit", "events": "audit",
		"setup": "init", "create": "init", "rotate": "keys", "shred": "keys", "export": "keys", "merge": "compact", "optimize": "compact",
		"ledger": "objects", "rejects": "objects", "undo": "rollback", "manual": "man", "completions": "completion",
	}[strings.ToLower(word)]
}

// flagsOf returns the flags that a command takes, with the flags of every command.
func (g *Program) flagsOf(c *help.Command) (list []help.Flag) {
	if c != nil {
		list = append(list, c.Flags...)
	}
	return append(list, g.manual().Flags...)
}

func (g *Program) findFlag(c *help.Command, name string) *help.Flag {
	list := g.flagsOf(c)
	if i := slices.IndexFunc(list, func(f help.Flag) bool { return f.Name == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// unknownFlag explains a flag that the command does not have: another command has it, or it is misspelled.
func (g *Program) unknownFlag(c *help.Command, name string) string {
	bare := strings.TrimLeft(name, "-")
	of := ""
	if c != nil {
		of = "of " + c.Name
	}
	var owners []string
	for _, other := range g.manual().All() {
		if slices.ContainsFunc(other.Flags, func(f help.Flag) bool { return f.Name == bare && len(bare) > 1 }) {
			owners = append(owners, other.Name)
		}
	}
	if len(owners) > 0 {
		text := fmt.Sprintf("%s is a flag of %s", name, strings.Join(owners, ", "))
		if c != nil {
			text += ", not " + of
		}
		return text
	}
	var known []string
	for _, f := range g.flagsOf(c) {
		known = append(known, f.Name)
		if f.Negatable {
			known = append(known, "no-"+f.Name)
		}
	}
	text := strings.TrimSpace(fmt.Sprintf("%s is no flag %s", name, of))
	if near := guess.Nearest(bare, known); near != "" && len(bare) > 1 {
		text += ": did you mean --" + near + "?"
	}
	return text
}

// unexpected explains a word too many: no command has this name, or the command takes no more words.
func (g *Program) unexpected(c *help.Command, word string, args []string) string {
	if c != nil && len(c.Commands) == 0 {
		return fmt.Sprintf("%s takes no further argument %q. Write: %s", c.Name, word, g.manual().Usage(c))
	}
	if word == "" {
		return "the command is empty"
	}
	list, of := g.manual().Commands, g.Name
	if c != nil {
		list, of = c.Commands, c.Name
	}
	var names []string
	for _, other := range list {
		names = append(names, other.Name[strings.LastIndexByte(other.Name, ' ')+1:])
	}
	text := fmt.Sprintf("%s has no command %q", of, word)
	if meant := synonym(word); c == nil && slices.Contains(names, meant) {
		return text + ": did you mean " + meant + "?"
	}
	if hint := guess.Hint(word, names); hint != "" {
		return text + hint
	}
	if c == nil {
		var topics []string
		for _, t := range g.manual().Topics {
			topics = append(topics, t.Name)
		}
		if topic := guess.Nearest(word, topics); topic != "" {
			return fmt.Sprintf("%s: did you mean %s help %s?", text, g.Name, topic)
		}
	}
	if i := slices.Index(args, word); i > 0 && strings.HasPrefix(args[i-1], "--") {
		text += ", and " + args[i-1] + " takes no value"
	}
	return text
}
