package group

import (
	"path"
	"slices"
	"strings"
)

// scriptEndings are the endings of sources that become JavaScript.
var scriptEndings = []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".vue", ".svelte"}

func isScript(file string) bool { return slices.Contains(scriptEndings, path.Ext(bareFile(file))) }

// bareFile returns the name of a source without folders and without a query.
func bareFile(file string) string {
	file, _, _ = strings.Cut(file, "?")
	return file[strings.LastIndexByte(file, '/')+1:]
}

// scriptName returns the name of a function of JavaScript: the file without folders, and the function without the object
// that it was called on. Unnamed functions of a file share a name.
func scriptName(function, file string) string {
	function, _, _ = strings.Cut(function, " [as ")
	for _, p := range []string{"async ", "new ", "get ", "set ", "static "} {
		function = strings.TrimPrefix(function, p)
	}
	function = strings.TrimRight(function, "/<")
	function = function[strings.LastIndexByte(function, '.')+1:]
	if function == "<anonymous" || function == "<anonymous>" || function == "(anonymous)" || function == "(anonymous function)" || function == "anonymous" || function == "??" {
		function = ""
	}
	return bareFile(file) + ":" + function
}

// ofBundler reports whether a source belongs to a package or to the bundler itself.
func ofBundler(file string) bool {
	return strings.Contains(file, "/node_modules/") || strings.HasPrefix(file, "node_modules/") || strings.Contains(file, "webpack/runtime") ||
		strings.Contains(file, "webpack/bootstrap") || strings.HasPrefix(file, "node:")
}
