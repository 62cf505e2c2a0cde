package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"go.yaml.in/yaml/v3"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/guess"
)

// FileValues tells what symlake.yaml says, by key, and in which line. Sources have keys such as sources[0].url.
type FileValues struct {
	Path string // "": there is no file
	dir  string // relative paths count from it
	keys []string
	of   map[string]*yaml.Node
}

// Keys returns the keys of the file in its order.
func (v *FileValues) Keys() []string { return v.keys }

// Value returns the text of a key and FILE:LINE of it. ok: the file has the key.
func (v *FileValues) Value(key string) (text, where string, ok bool) {
	n := v.of[key]
	if n == nil {
		return "", "", false
	}
	return textOf(n), fmt.Sprintf("%s:%d", v.Path, n.Line), true
}

// textOf returns a value as one line.
func textOf(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	var list []string
	for _, c := range n.Content {
		list = append(list, textOf(c))
	}
	return strings.Join(list, ",")
}

// readValues finds the keys of a file.
func readValues(path, dir string, text []byte) (FileValues, error) {
	v := FileValues{Path: path, dir: dir, of: map[string]*yaml.Node{}}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil || len(doc.Content) == 0 {
		return v, err
	}
	v.add("", doc.Content[0])
	for _, key := range v.keys {
		if name, ok := strings.CutPrefix(key, "serve."); ok && Find(key) == nil {
			return v, fmt.Errorf("line %d: field %s not found in serve", v.of[key].Line, name)
		}
	}
	return v, nil
}

func (v *FileValues) add(key string, n *yaml.Node) {
	switch {
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			v.add(strings.TrimPrefix(key+"."+n.Content[i].Value, "."), n.Content[i+1])
		}
		return
	case key == "sources" && n.Kind == yaml.SequenceNode:
		for i, c := range n.Content {
			v.add(fmt.Sprintf("sources[%d]", i), c)
		}
		return
	case key == "lake": // lake: off
		key = "lake.url"
	}
	if v.of[key] == nil {
		v.keys = append(v.keys, key)
	}
	v.of[key] = n
}

// override sets a setting that has no flag of its own, by --set or its variable.
func (c *Config) override(s *Setting, value, by string) error {
	if s.isPath() {
		abs, err := filepath.Abs(value) // not from the folder of the file
		if err != nil {
			return exit.Usage("%s: %w", by, err)
		}
		value = abs
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: value}
	parts := strings.Split(s.Key, ".")
	for _, name := range slices.Backward(parts) {
		n = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, n}}
	}
	if err := n.Decode(c); err != nil {
		return exit.Usage("%s: %q is wrong: want %s, as %s", by, value, s.Type, s.Example)
	}
	return nil
}

// Override takes the variables of settings without flags, and set, the values of --set. Both overrule the file.
func (c *Config) Override(set map[string]string) error {
	for key := range set {
		switch s := Find(key); {
		case s == nil:
			var known []string
			for _, k := range All() {
				if k.Flag == "" {
					known = append(known, k.Key)
				}
			}
			return exit.Usage("--set: %s", guess.Among(key, known))
		case s.Flag != "":
			return exit.Usage("--set %s: this setting has a flag: use %s", key, s.FlagText())
		}
	}
	all, overruled := All(), false
	for i := range all {
		s := &all[i]
		value, by := strings.TrimSpace(os.Getenv(s.Variable())), s.Variable()
		if v, ok := set[s.Key]; ok && s.Key != "" {
			value, by = v, "--set "+s.Key
		}
		if value == "" || s.Flag != "" && s.Key != "limits.workers" {
			continue
		}
		if err := c.override(s, value, by); err != nil {
			return err
		}
		overruled = true
	}
	if !overruled {
		return nil
	}
	if err := c.check(); err != nil {
		return exit.Usage("--set or variables: %w", err)
	}
	return nil
}

// onlyFlag reports whether a key of the file stands for a flag, and Config has no field for it.
func (s *Setting) onlyFlag() bool {
	return s.Flag != "" && (strings.HasPrefix(s.Key, "serve.") || slices.Contains([]string{"color", "no_progress", "log_level", "metrics", "pushgateway", "token"}, s.Key))
}

// Apply sets the flags of the command that neither the command line nor a variable sets, and the file does.
func (v *FileValues) Apply(parsed *kong.Context) error {
	if v.Path == "" {
		return nil
	}
	all := All()
	for _, f := range parsed.Flags() {
		i := slices.IndexFunc(all, func(s Setting) bool { return s.Flag == f.Name && s.onlyFlag() })
		if i < 0 || !all[i].of(parsed) || OnCommandLine(parsed, f.Name) || strings.TrimSpace(os.Getenv(all[i].Variable())) != "" {
			continue
		}
		text, where, ok := v.Value(all[i].Key)
		if !ok {
			continue
		}
		if all[i].isPath() && text != "-" {
			text = relativePath(v.dir, text)
		}
		if err := f.Parse(kong.ScanFromTokens(kong.Token{Type: kong.FlagValueToken, Value: text}), f.Target); err != nil {
			return exit.Usage("configuration %s: %s: %s", where, all[i].Key, strings.TrimPrefix(err.Error(), f.ShortSummary()+": "))
		}
		if err := checkEnum(f.Value); err != nil {
			return exit.Usage("configuration %s: %s: %w", where, all[i].Key, err)
		}
	}
	return nil
}

// of reports whether a setting's flag is one of the command's.
func (s *Setting) of(parsed *kong.Context) bool {
	if s.Commands == nil {
		return true
	}
	for _, p := range parsed.Path {
		if p.Command != nil {
			return slices.Contains(s.Commands, p.Command.Name)
		}
	}
	return false
}
