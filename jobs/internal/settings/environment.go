package settings

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Configure gives the flags of a grammar their variables. Variables configure: they stand for settings. What a command
// selects, forces or destroys stands on its command line alone.
func Configure(k *kong.Kong) error {
	all := map[string]*Setting{}
	for _, s := range All() {
		all[s.Flag] = &s
	}
	var each func(n *kong.Node, command string)
	each = func(n *kong.Node, command string) {
		for _, f := range n.Flags {
			if s := all[f.Name]; s != nil && (s.Commands == nil && command == "" || slices.Contains(s.Commands, command)) {
				f.Envs = []string{s.Variable()} // ApplyVariables reads it
			}
		}
		for _, child := range n.Children {
			name := command
			if name == "" {
				name = child.Name
			}
			each(child, name)
		}
	}
	each(k.Model.Node, "")
	return nil
}

// OnCommandLine reports whether the command line itself has a flag. The environment does not count.
func OnCommandLine(parsed *kong.Context, flag string) bool {
	return slices.ContainsFunc(parsed.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == flag })
}

// FlagText returns the value of a flag of the command as text.
func FlagText(parsed *kong.Context, flag string) string {
	for _, f := range parsed.Flags() {
		if f.Name == flag {
			return fmt.Sprint(f.Target.Interface())
		}
	}
	return ""
}

// Reports reports whether the command line sends the report of the command to a place.
func Reports(parsed *kong.Context, to string) bool {
	return slices.ContainsFunc(parsed.Path, func(p *kong.Path) bool {
		return p.Flag != nil && p.Flag.Name == "report" && p.Flag.Target.String() == to
	})
}

// HasVariables reports whether any variable of the program's is set.
func HasVariables() bool {
	return slices.ContainsFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "SYMLAKE_") })
}

// WarnVariables names each variable that is set, looks like a flag of the command, and has no effect: an earlier
// version obeyed it.
func WarnVariables(parsed *kong.Context, errOut io.Writer) {
	for _, f := range parsed.Flags() {
		name := VariableOf(f.Name)
		if os.Getenv(name) != "" && f.Name != "help" && f.Name != "version" && len(f.Envs) == 0 && !OnCommandLine(parsed, f.Name) {
			fmt.Fprintf(errOut, "symlake: %s is set and has no effect: give --%s on the command line\n", name, f.Name)
		}
	}
}
