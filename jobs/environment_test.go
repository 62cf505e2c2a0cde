package jobs

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/symlake/symlake/jobs/internal/settings"
)

// grammar is the whole command line, with every command.
func grammar(t *testing.T) *kong.Kong {
	t.Helper()
	options := []kong.Option{kong.Name("symlake"), kong.Writers(io.Discard, io.Discard), kong.PostBuild(settings.Configure)}
	for _, c := range commands() {
		options = append(options, kong.DynamicCommand(c.Name, c.Help, "", c.Job))
	}
	k, err := kong.New(new(settings.Flags), options...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// flagsOf returns the flags and arguments of a command ("": of every command) with their variables.
func flagsOf(k *kong.Kong, command string) map[string][]string {
	of := map[string][]string{}
	var each func(n *kong.Node)
	each = func(n *kong.Node) {
		for _, f := range n.Flags {
			of[f.Name] = f.Envs
		}
		for _, p := range n.Positional {
			of[p.Name] = nil
		}
		for _, child := range n.Children {
			each(child)
		}
	}
	if command == "" {
		for _, f := range k.Model.Flags {
			of[f.Name] = f.Envs
		}
		return of
	}
	for _, child := range k.Model.Children {
		if child.Name == command {
			each(child)
		}
	}
	return of
}

// Each setting of the table has its flag and variable in the grammar, and each variable of the grammar is a setting's.
func TestSettingsHaveFlagsAndVariables(t *testing.T) {
	k := grammar(t)
	listed := map[string]bool{}
	for _, s := range settings.All() {
		if listed[s.Variable()] {
			t.Errorf("%s belongs to two settings", s.Variable())
		}
		listed[s.Variable()] = true
		if s.Meaning == "" || s.Type == "" || s.Key != "" && s.Example == "" || s.Key == "" && s.Flag == "" {
			t.Errorf("%+v lacks something", s)
		}
		commands := s.Commands
		if commands == nil {
			commands = []string{""}
		}
		for _, c := range commands {
			if s.Flag == "" {
				continue
			}
			envs, ok := flagsOf(k, c)[s.Flag]
			if !ok {
				t.Errorf("command %q has no flag %s", c, s.Flag)
			} else if s.Flag != "source" && !slices.Equal(envs, []string{s.Variable()}) {
				t.Errorf("--%s of %q obeys %v, the table has %s", s.Flag, c, envs, s.Variable())
			}
		}
	}
	for _, c := range append([]*kong.Node{k.Model.Node}, k.Model.Children...) {
		name := c.Name
		if c == k.Model.Node {
			name = ""
		}
		for flag, envs := range flagsOf(k, name) {
			for _, e := range envs {
				if !listed[e] {
					t.Errorf("--%s obeys %s, which no setting has", flag, e)
				}
			}
		}
	}
	// These flags of every command are about one call of it. All others are settings.
	once := []string{"set", "json", "help", "version"}
	for flag, envs := range flagsOf(k, "") {
		if len(envs) == 0 && !slices.Contains(once, flag) {
			t.Errorf("--%s is no setting", flag)
		}
	}
	for flag, envs := range flagsOf(k, "serve") {
		if len(envs) == 0 {
			t.Errorf("--%s of serve is no setting", flag)
		}
	}
}

// Each key that the file may have is in the table, and each key of the table may be in the file.
func TestSettingsHaveKeys(t *testing.T) {
	var keys []string
	var each func(prefix string, of reflect.Type)
	each = func(prefix string, of reflect.Type) {
		for i := range of.NumField() {
			f := of.Field(i)
			switch tag := f.Tag.Get("yaml"); {
			case tag == "-" || tag == "serve":
			case f.Type.Kind() == reflect.Struct:
				each(prefix+tag+".", f.Type)
			case f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.Struct:
				each(prefix+tag+".", f.Type.Elem())
			default:
				keys = append(keys, prefix+tag)
			}
		}
	}
	each("", reflect.TypeFor[settings.Config]())
	var listed []string
	for _, s := range settings.All() {
		if s.Key != "" && !strings.HasPrefix(s.Key, "serve.") {
			listed = append(listed, s.Key)
		}
	}
	slices.Sort(keys)
	slices.Sort(listed)
	if !slices.Equal(keys, listed) {
		t.Errorf("the file has %v\nthe table %v", keys, listed)
	}
}

// The document is the table's. -update writes it.
func TestSettingsDocument(t *testing.T) {
	const path = "docs/config.md"
	want := settings.Document()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not what the table says, %v: go test ./jobs -run TestSettingsDocument -update", path, err)
	}
}

// A setting comes from --set or its flag, else from its variable, else from the file; a wrong one names its place and is
// wrong usage.
func TestSettingsOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := write("good.yaml", "store: store\nmin_quality: 0.5\nlog_level: error\nserve: {listen: \"nowhere\", max_time: 5s}\n")
	for _, c := range []struct {
		env, args, want string
		code            int
	}{
		{"", "status", "store/store: ", 1},
		{"SYMLAKE_MIN_QUALITY=2", "status", "min_quality is 2", 2},
		{"SYMLAKE_SCRIPT_NAMES=scopes", "status", "did you mean scope?", 2},
		{"SYMLAKE_MIN_QUALITY=2", "status --set min_quality=0.1", "no store", 1},
		{"SYMLAKE_MIN_QUALITY=much", "status", `SYMLAKE_MIN_QUALITY: "much" is wrong: want share, as 0.8`, 2},
		{"SYMLAKE_LIMITS_MEMORY=lots", "status", "SYMLAKE_LIMITS_MEMORY", 2},
		{"", "status --set limits.memory=lots", "--set limits.memory", 2},
		{"", "status --set lake.regoin=x", "lake.region", 2},
		{"", "status --set store=x", "use --store", 2},
		{"", "serve", " nowhere: want HOST:PORT", 2},
		{"SYMLAKE_LISTEN=elsewhere", "serve", "SYMLAKE_LISTEN elsewhere", 2},
		{"SYMLAKE_LISTEN=elsewhere", "serve --listen here", "--listen here", 2},
		{"SYMLAKE_MAX_TIME=soon", "serve", "SYMLAKE_MAX_TIME", 2},
	} {
		cmd := symlake(t, append([]string{"--config", good}, strings.Fields(c.args)...)...)
		if c.env != "" {
			cmd.Env = append(cmd.Env, c.env)
		}
		out, _ := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != c.code || c.want != "no store" && c.want != "store/store: " && !strings.Contains(string(out), c.want) {
			t.Errorf("%s %s: exit code %d, want %d with %q:\n%s", c.env, c.args, cmd.ProcessState.ExitCode(), c.code, c.want, out)
		}
	}
	for text, want := range map[string]string{
		"serve: {lisen: x}\n":        "line 1: field lisen not found in serve",
		"a: 1\n":                     "line 1",
		"log_level: loud\n":          "log_level",
		"store: a\ncolor: sometimes": "bad.yaml:2: color",
		"no_progress: perhaps\n":     "no_progress",
	} {
		_, said := mustRun(t, []int{2}, "--config", write("bad.yaml", text), "status")
		if !strings.Contains(said, want) && !strings.Contains(said, "line 1") {
			t.Errorf("%q: %s, want %q", text, said, want)
		}
	}
}
