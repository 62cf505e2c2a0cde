package discover

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
)

// Glob makes a matcher of a pattern over keys: * and ? stay inside a folder,
// ** crosses folders, "**/" also stands for none, {name} takes one piece of a
// folder's name.
func Glob(pattern string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString(`\A`)
	for s := pattern; s != ""; {
		switch {
		case strings.HasPrefix(s, "**/"):
			b.WriteString(`(?:.*/)?`)
			s = s[3:]
		case strings.HasPrefix(s, "**"):
			b.WriteString(`.*`)
			s = s[2:]
		case s[0] == '*':
			b.WriteString(`[^/]*`)
			s = s[1:]
		case s[0] == '?':
			b.WriteString(`[^/]`)
			s = s[1:]
		case s[0] == '{':
			name, rest, ok := strings.Cut(s[1:], "}")
			if !ok {
				return nil, fmt.Errorf("pattern %q: a { without }", pattern)
			}
			fmt.Fprintf(&b, `(?P<%s>[^/]+)`, name)
			s = rest
		default:
			n := strings.IndexAny(s, "*?{")
			if n < 0 {
				n = len(s)
			}
			b.WriteString(regexp.QuoteMeta(s[:n]))
			s = s[n:]
		}
	}
	b.WriteString(`\z`)
	re, err := regexp.Compile(`(?s)` + b.String())
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w", pattern, err)
	}
	return re, nil
}

// globs matches any of several patterns.
type globs []*regexp.Regexp

func newGlobs(patterns []string) (globs, error) {
	var all globs
	for _, p := range patterns {
		re, err := Glob(p)
		if err != nil {
			return nil, err
		}
		all = append(all, re)
	}
	return all, nil
}

func (g globs) match(key string) bool {
	for _, re := range g {
		if re.MatchString(key) {
			return true
		}
	}
	return false
}

// NamePattern finds APP and BUILD in the keys of a source.
type NamePattern struct{ re *regexp.Regexp }

// ParseNames reads a source's names pattern: a glob in which {app} and {build}
// stand for what they name. "" finds nothing.
func ParseNames(pattern string) (*NamePattern, error) {
	if pattern == "" {
		return &NamePattern{}, nil
	}
	re, err := Glob(pattern)
	if err != nil {
		return nil, err
	}
	for _, name := range re.SubexpNames() {
		if name != "" && name != "app" && name != "build" {
			return nil, fmt.Errorf("pattern %q: {%s}: want {app} and {build}", pattern, name)
		}
	}
	for _, name := range []string{"app", "build"} {
		if re.SubexpIndex(name) < 0 {
			return nil, fmt.Errorf("pattern %q: {%s} is missing", pattern, name)
		}
	}
	return &NamePattern{re}, nil
}

// Find gives APP and BUILD, or two empty strings.
func (p *NamePattern) Find(key string) (app, build string) {
	if p.re == nil {
		return "", ""
	}
	m := p.re.FindStringSubmatch(key)
	if m == nil {
		return "", ""
	}
	return m[p.re.SubexpIndex("app")], m[p.re.SubexpIndex("build")]
}

// ShardOf says which of n shards a key belongs to: the same on all hosts.
func ShardOf(key string, n int) int {
	if n <= 1 {
		return 0
	}
	h := fnv.New64a()
	h.Write([]byte(key))
	return int(h.Sum64() % uint64(n))
}
