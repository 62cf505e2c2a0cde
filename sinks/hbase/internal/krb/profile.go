package krb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// profile is the content of krb5.conf: values of relations by their path, as libdefaults/default_realm or
// realms/EXAMPLE.COM/kdc, in the order of the files.
type profile map[string][]string

const (
	maxProfile  = 1 << 20 // bytes of one file
	maxIncludes = 256     // files of one profile
)

// readProfile reads the files of a list as KRB5_CONFIG has it. Files that are absent are left out, unless all are.
func readProfile(list string) (profile, error) {
	p := profile{}
	r := &profileReader{p: p}
	var absent []string
	files := filepath.SplitList(list)
	for _, file := range files {
		err := r.file(file)
		if errors.Is(err, fs.ErrNotExist) && r.at == file {
			absent = append(absent, file)
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	if len(absent) == len(files) {
		return nil, fmt.Errorf("%s: %w", strings.Join(absent, ", "), fs.ErrNotExist)
	}
	return p, nil
}

// profileReader reads files into p; at is the file under way.
type profileReader struct {
	p     profile
	at    string
	files int
}

func (r *profileReader) file(name string) error {
	if r.files++; r.files > maxIncludes {
		return fmt.Errorf("%s: more than %d files are included", name, maxIncludes)
	}
	r.at = name
	f, err := os.Stat(name)
	if err != nil {
		return err
	}
	if f.Size() > maxProfile {
		return fmt.Errorf("%s: %d bytes are too many for krb5.conf", name, f.Size())
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return r.text(name, string(b))
}

// text reads one file. A file starts outside of all sections.
func (r *profileReader) text(name, text string) error {
	var path []string // section, then open braces
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		switch {
		case word == "include" && len(path) <= 1:
			if err := r.file(rest); err != nil {
				return fmt.Errorf("%s, line %d: %w", name, n+1, err)
			}
			continue
		case word == "includedir" && len(path) <= 1:
			if err := r.folder(rest); err != nil {
				return fmt.Errorf("%s, line %d: %w", name, n+1, err)
			}
			continue
		case word == "module" && len(path) == 0: // a program's own way to settings
			continue
		case line[0] == '[':
			section, _, ok := strings.Cut(line[1:], "]")
			if !ok || len(path) > 1 {
				return fmt.Errorf("%s, line %d: a section stands in brackets, outside of all braces: %q", name, n+1, line)
			}
			path = []string{strings.TrimSpace(section)}
			continue
		case line[0] == '}':
			if len(path) < 2 {
				return fmt.Errorf("%s, line %d: a brace closes and none is open", name, n+1)
			}
			path = path[:len(path)-1]
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || len(path) == 0 {
			return fmt.Errorf("%s, line %d: %q is no relation (name = value) of a section", name, n+1, line)
		}
		key, value = strings.TrimSuffix(strings.TrimSpace(key), "*"), strings.TrimSpace(value)
		if open, ok := strings.CutPrefix(value, "{"); ok {
			if path = append(path, key); len(path) > 16 {
				return fmt.Errorf("%s, line %d: braces nest too deeply", name, n+1)
			}
			if err := r.inline(strings.TrimSpace(open), &path); err != nil {
				return fmt.Errorf("%s, line %d: %w", name, n+1, err)
			}
			continue
		}
		r.p.add(path, key, value)
	}
	if len(path) > 1 {
		return fmt.Errorf("%s: the brace of %s is not closed", name, path[len(path)-1])
	}
	return nil
}

// inline reads what follows a brace on its line: nothing, or one relation and the brace that closes.
func (r *profileReader) inline(rest string, path *[]string) error {
	if rest == "" {
		return nil
	}
	body, ok := strings.CutSuffix(rest, "}")
	key, value, relation := strings.Cut(body, "=")
	if !ok || strings.ContainsAny(body, "{}") || !relation && strings.TrimSpace(body) != "" {
		return fmt.Errorf("a brace ends its line: %q", rest)
	}
	if relation {
		r.p.add(*path, strings.TrimSpace(key), strings.TrimSpace(value))
	}
	*path = (*path)[:len(*path)-1]
	return nil
}

// folder reads a folder's files, in order of their names: letters, digits, dashes and underscores, or ending in .conf.
func (r *profileReader) folder(name string) error {
	list, err := os.ReadDir(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) { // as distributions ship it
			return nil
		}
		return err
	}
	for _, f := range list {
		plain := strings.Trim(f.Name(), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
		if f.IsDir() || !plain && (!strings.HasSuffix(f.Name(), ".conf") || f.Name()[0] == '.') {
			continue
		}
		if err := r.file(filepath.Join(name, f.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (p profile) add(path []string, key, value string) {
	if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
		value = value[1 : len(value)-1]
	}
	at := strings.Join(append(path[:len(path):len(path)], key), "/")
	p[at] = append(p[at], value)
}

// first is the value that counts: the first of its name.
func (p profile) first(path ...string) string {
	if v := p[strings.Join(path, "/")]; len(v) > 0 {
		return v[0]
	}
	return ""
}
