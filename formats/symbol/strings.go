package symbol

import "strings"

// CloneStrings copies strings, one behind the other, so that they hold nothing of what they were cut from; nil of nil.
func CloneStrings(list []string) []string {
	if list == nil {
		return nil
	}
	n := 0
	for _, s := range list {
		n += len(s)
	}
	var all strings.Builder // not strings.Join: it hands a list of one on as it is
	all.Grow(n)
	out := make([]string, len(list))
	for i, s := range list {
		from := all.Len()
		all.WriteString(s)
		out[i] = all.String()[from:] // it has room: it does not move
	}
	return out
}
