package settings

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// variable is a flag that a variable of the environment sets, too. Variables configure: they name connections and
// repeat settings of symlake.yaml. What a command selects, forces or destroys stands on its command line alone.
type variable struct {
	flag     string
	commands []string // the commands that have the flag; nil: every command
}

// Variables returns all of them, in the order of the operator's table. The table is tested against it.
func Variables() []variable {
	sources := []string{"ingest", "plan", "symbolicate"}
	serve := []string{"serve"}
	return []variable{
		{"config", nil}, {"store", nil}, {"load-mode", nil}, {"lake", nil}, {"lake-profile", nil},
		{"keyset", nil}, {"keyset-kms", nil}, {"kms", nil}, {"kms-endpoint", nil},
		{"metrics", nil}, {"pushgateway", nil}, {"log-level", nil}, {"color", nil}, {"token", nil}, {"redis", nil},
		{"workers", []string{"ingest"}},
		{"endpoint", sources}, {"region", sources}, {"profile", sources}, {"path-style", sources}, {"anonymous", sources},
		{"listen", serve}, {"tokens", serve}, {"tls-cert", serve}, {"tls-key", serve},
	}
}

// Name returns the variable that sets a flag: --load-mode has SYMLAKE_LOAD_MODE.
func (v variable) Name() string { return VariableOf(v.flag) }

// VariableOf returns the name of the variable that would set a flag.
func VariableOf(flag string) string {
	return "SYMLAKE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// Configure gives the flags of a grammar their variables.
func Configure(k *kong.Kong) error {
	all := Variables()
	var each func(n *kong.Node, command string)
	each = func(n *kong.Node, command string) {
		for _, f := range n.Flags {
			for _, v := range all {
				if v.flag == f.Name && (v.commands == nil && command == "" || slices.Contains(v.commands, command)) {
					f.Envs = []string{v.Name()} // ApplyVariables reads it
				}
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
