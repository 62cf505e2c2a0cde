package docs

import (
	"path"
	"strings"
)

// Terminal returns the text of a topic with links that a terminal can follow: a link to another topic says how to print it. The
// line of links below the title becomes a list of topics.
func Terminal(t Topic, all []Topic) string {
	names := map[string]string{}
	for _, other := range all {
		names[other.Path] = other.Name
	}
	delete(names, t.Path)

	var out strings.Builder
	fenced := false
	for line := range strings.Lines(t.Text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		switch {
		case fenced:
			out.WriteString(line)
		case strings.HasPrefix(line, "[symlake]("):
			var also []string
			follow(line, t.Path, names, func(name string) { also = append(also, name) })
			if len(also) > 0 {
				out.WriteString("See also: symlake help " + strings.Join(also, ", ") + "\n")
			}
		default:
			out.WriteString(follow(line, t.Path, names, func(string) {}))
		}
	}
	return out.String()
}

// follow returns a line of the document at a path. It names the topic behind each link that leads to one, and calls found with
// the topic.
func follow(line, at string, names map[string]string, found func(topic string)) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(line, "](")
		if !ok {
			break
		}
		url, after, ok := strings.Cut(rest, ")")
		if !ok {
			break
		}
		file, _, _ := strings.Cut(url, "#")
		out.WriteString(before + "](" + url + ")")
		if name := names[path.Join(path.Dir(at), file)]; name != "" && file != "" {
			out.WriteString(" (symlake help " + name + ")")
			found(name)
		}
		line = after
	}
	return out.String() + line
}
