package stores

import "strings"

// Split parts a store's URL into its scheme, in lower case, and the rest. A plain path has the scheme
// file. A scheme has at least two characters, so C:\x is a path.
func Split(url string) (scheme, rest string) {
	scheme, rest, ok := strings.Cut(url, ":")
	if !ok || len(scheme) < 2 || strings.ContainsAny(scheme, `/\`) {
		return "file", url
	}
	return strings.ToLower(scheme), rest
}

// Path returns the path in the rest of a file URL: it undoes the form file:///PATH.
func Path(rest string) string {
	if strings.HasPrefix(rest, "///") {
		return rest[2:]
	}
	return rest
}
