// Package demangle turns linkage names into what the source calls them.
package demangle

import "github.com/ianlancetaylor/demangle"

// Name demangles a C++ or Rust name; any other comes back unchanged.
func Name(linkage string) string { return demangle.Filter(linkage, demangle.LLVMStyle) }
