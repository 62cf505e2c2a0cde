package profile

import "strings"

// sections are the properties of each section of a file, by the text between its brackets.
type sections map[string]Section

// Section has properties by name, in small letters. A property within another is "outer.inner".
type Section map[string]string

// parse reads a file of AWS's. It passes over lines that it does not understand, as AWS's own tools do.
func parse(text string) sections {
	all := sections{}
	var now Section
	outer := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \t\r\n")
		inner := strings.TrimLeft(line, " \t")
		if inner == "" || inner[0] == '#' || inner[0] == ';' {
			continue
		}
		if inner[0] == '[' {
			name, _, closed := strings.Cut(inner[1:], "]")
			if now, outer = nil, ""; !closed {
				continue
			}
			name = strings.Join(strings.Fields(name), " ")
			if now = all[name]; now == nil {
				now = Section{}
				all[name] = now
			}
			continue
		}
		key, value, ok := strings.Cut(inner, "=")
		if !ok || now == nil {
			continue
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), uncommented(strings.TrimSpace(value))
		switch {
		case len(inner) == len(line):
			outer = key
			now[key] = value
		case outer != "" && now[outer] == "":
			now[outer+"."+key] = value
		}
	}
	return all
}

// uncommented cuts a comment off a value: it begins with # or ; after a blank.
func uncommented(value string) string {
	for i := 1; i < len(value); i++ {
		if (value[i] == '#' || value[i] == ';') && (value[i-1] == ' ' || value[i-1] == '\t') {
			return strings.TrimRight(value[:i], " \t")
		}
	}
	return value
}
