// Package group names crashes: stacks of one fault get one group, in every build of one source.
//
// A group is a hash over the names of the top functions of the application, inlined ones too. A name is the function's
// own, without what compilers add to it, so that it does not change with their options. sinks/lake/README.md has the rule
// with examples for users.
//
// Groups are durable: users compare stored ones with new ones. Whoever changes the rule raises Version.
package group

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/symbol"
)

const (
	// Version is the number of the rule. A group begins with it.
	Version = 2
	// Functions is how many names make a group, at most.
	Functions = 5
)

// Of returns the group of functions, the top one first; "" of none. The names are those of a Namer, without a name that
// equals the one before.
func Of(names []string) string {
	if len(names) == 0 {
		return ""
	}
	h := sha256.New()
	for _, n := range names[:min(len(names), Functions)] {
		h.Write([]byte(n))
		h.Write([]byte{'\n'})
	}
	return strconv.Itoa(Version) + ":" + hex.EncodeToString(h.Sum(nil)[:8])
}

// Stack gathers the functions of a stack, from the inside out.
type Stack struct {
	own  functions // of the application
	all  functions
	full bool // own has as many as a group takes
}

// functions are names, and whether a frame before the last of them may still get another answer.
type functions struct {
	names []string
	open  bool
}

// add adds a name. Functions that call themselves count once: compilers make loops of them.
func (l *functions) add(name string) {
	if n := len(l.names); n < Functions && (n == 0 || l.names[n-1] != name) {
		l.names = append(l.names, name)
	}
}

// Add adds the next frame with its answer. f is nil if the frame came without text. final says that symbols which come
// later cannot change the answer.
func (s *Stack) Add(n *Namer, f *report.Frame, a *symbol.Answer, final bool) {
	if s.full {
		return
	}
	if !final {
		s.own.open = s.own.open || f == nil || !ofSystem(f)
		s.all.open = s.all.open || len(s.all.names) < Functions
		return
	}
	if a.Status == symbol.Hole && f != nil && f.Managed != nil { // a class that kept its name
		s.add(n.class(f.Managed))
	}
	if a.Status != symbol.Found {
		return
	}
	for i := range a.Frames {
		name, own := n.Name(f, &a.Frames[i])
		s.add(name, own)
	}
}

func (s *Stack) add(name string, own bool) {
	if name == "" || s.full {
		return
	}
	s.all.add(name)
	if own {
		s.own.add(name)
	}
	s.full = len(s.own.names) == Functions
}

// Group returns the group, "" while a frame that may count is not final.
func (s *Stack) Group() string {
	l := s.own
	if len(l.names) == 0 {
		l, l.open = s.all, l.open || s.all.open
	}
	if l.open {
		return ""
	}
	return Of(l.names)
}

// Names returns the names that count for the group, the top one first.
func (s *Stack) Names() []string {
	if len(s.own.names) > 0 {
		return s.own.names
	}
	return s.all.names
}

// systemPaths are the beginnings of paths of images that no application brings.
var systemPaths = []string{"/system/", "/apex/", "/vendor/", "/product/", "/system_ext/", "/usr/lib/", "/System/", "/lib/", "/lib64/", "[vdso", "/data/dalvik-cache/", "/memfd:", "/Library/Apple/"}

// ofSystem reports whether a frame lies outside the application, as far as its text says.
func ofSystem(f *report.Frame) bool {
	if f.Managed != nil {
		return ofPlatform(f.Managed.Class)
	}
	return hasAnyPrefix(f.File, systemPaths)
}

func hasAnyPrefix(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
