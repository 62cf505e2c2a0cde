package program

import (
	"errors"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/settings"
)

// The command line asks the program about itself. The grammar is known then, the rest of the words need not be right.
var (
	errHelp    = errors.New("the command line asks for help")
	errVersion = errors.New("the command line asks for the version")
)

// line is a parsed command line.
type line struct {
	flags  *settings.Flags
	parsed *kong.Context
	args   []string // in an order that the grammar takes
}

// parse reads the command line. Most processes look up one thing, and the grammar of all commands takes longer than
// that. So parse first knows only the commands that args name, and all of them if that was not enough.
func (g *Program) parse(args []string) (line, error) {
	all := g.commands()
	named := slices.DeleteFunc(slices.Clone(all), func(c Command) bool { return !slices.Contains(args, c.Name) })
	if len(named) > 0 {
		if l, err := g.parseWith(named, args); err == nil || errors.Is(err, errHelp) || errors.Is(err, errVersion) {
			return l, err
		}
	}
	l, err := g.parseWith(all, args)
	if err == nil || errors.Is(err, errHelp) || errors.Is(err, errVersion) {
		return l, err
	}
	var wrong *exit.Error
	if errors.As(err, &wrong) {
		return l, err
	}
	for _, order := range g.orders(args) {
		if l, err := g.parseWith(all, order); err == nil {
			return l, nil
		}
	}
	return l, g.mend(l.parsed, err, args)
}

// parseWith reads a command line that has these commands.
func (g *Program) parseWith(known []Command, args []string) (line, error) {
	l := line{flags: new(settings.Flags), args: args}
	parser, err := g.grammar(l.flags, known)
	if err != nil {
		return l, err
	}
	l.parsed, err = kong.Trace(parser, args)
	if err != nil {
		return l, err
	}
	return l, trace(l.parsed)
}

// grammar makes the grammar of a program that has these commands.
func (g *Program) grammar(flags *settings.Flags, known []Command) (*kong.Kong, error) {
	options := append(settings.Mappers(),
		kong.Name(g.Name),
		kong.Description(g.Help),
		kong.NoDefaultHelp(),
		kong.PostBuild(settings.Configure),
	)
	for _, c := range known {
		options = append(options, kong.DynamicCommand(c.Name, c.Help, c.Group, c.Job))
	}
	return kong.New(flags, options...)
}

// trace does what kong's Parse does, but for its hooks. Those call methods by name, and so keep the linker from leaving
// out any exported method of the program: 13 MB of 55. Run methods are called by Program.Run for the same reason.
func trace(parsed *kong.Context) error {
	switch {
	case settings.OnCommandLine(parsed, "help"):
		return errHelp
	case settings.OnCommandLine(parsed, "version"):
		return errVersion
	case parsed.Error != nil:
		return parsed.Error
	}
	settings.TakeVariables(parsed)
	if err := parsed.Reset(); err != nil {
		return err
	}
	if _, err := parsed.Apply(); err != nil {
		return err
	}
	if err := settings.ApplyVariables(parsed); err != nil {
		return err
	}
	if err := settings.CheckValues(parsed); err != nil {
		return err
	}
	return parsed.Validate()
}

// orders returns the command line with a command in front of its flags: people write "symlake --dry-run ingest", too.
func (g *Program) orders(args []string) (orders [][]string) {
	if i := slices.Index(args, "--"); i >= 0 {
		return nil
	}
	if len(args) == 0 || !strings.HasPrefix(args[0], "-") && g.manual().Find(args[0]) == nil {
		return nil
	}
	without := func(at ...int) (rest []string) {
		for i, word := range args {
			if !slices.Contains(at, i) {
				rest = append(rest, word)
			}
		}
		return rest
	}
	for i, word := range args {
		c := g.manual().Find(word)
		if c == nil {
			continue
		}
		if len(c.Commands) == 0 {
			orders = append(orders, append([]string{word}, without(i)...))
			continue
		}
		for j := i + 1; j < len(args); j++ {
			if g.manual().Find(word, args[j]) != nil {
				orders = append(orders, append([]string{word, args[j]}, without(i, j)...))
			}
		}
	}
	return orders
}
