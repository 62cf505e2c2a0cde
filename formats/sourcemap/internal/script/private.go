package script

import "slices"

// privates finds where else private names of classes stand: some minifiers name their uses in the map and not their
// declarations.
type privates struct {
	seen    []private // in the classes that are open, and not declared in one that is closed
	aliases []Alias
}

// private is a private name at a place.
type private struct {
	part     namePart
	declared bool // in its class
	passed   uint8
}

// Alias is an identifier that means the same as one in a name.
type Alias struct{ At, Of int32 }

const (
	mostUses   = 16 // of a private name are looked at
	mostPassed = 8  // classes that a use looks for its declaration in
)

// note notes a private name.
func (p *privates) note(part namePart, declared bool) {
	p.seen = append(p.seen, private{part, declared, 0})
}

// close resolves the names that were seen in a class, from the number from on.
func (p *privates) close(from int) {
	inside := p.seen[from:]
	if len(inside) == 0 {
		return
	}
	declared := map[string][]int32{}
	for _, s := range inside {
		if name := string(s.part.text); s.declared && len(declared[name]) < 2 { // a getter and a setter
			declared[name] = append(declared[name], s.part.at)
		}
	}
	uses := map[string]int{}
	kept := inside[:0]
	for _, s := range inside {
		if s.declared {
			continue
		}
		of, ok := declared[string(s.part.text)]
		if !ok {
			if s.passed++; s.passed < mostPassed {
				kept = append(kept, s)
			}
			continue
		}
		if uses[string(s.part.text)]++; uses[string(s.part.text)] <= mostUses {
			for _, at := range of {
				p.aliases = append(p.aliases, Alias{s.part.at, at})
			}
		}
	}
	p.seen = p.seen[:from+len(kept)]
}

// aliasesOf are the aliases of identifiers in names, by their places.
func (p *privates) aliasesOf(parts []Part) []Alias {
	named := map[int32]bool{}
	for _, part := range parts {
		named[part.At] = true
	}
	all := slices.DeleteFunc(p.aliases, func(a Alias) bool { return !named[a.Of] })
	slices.SortFunc(all, func(a, b Alias) int { return int(a.At) - int(b.At) })
	return slices.Clip(all)
}
