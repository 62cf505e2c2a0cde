package explode

import (
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/symbol"
)

// asked is an entry whose name is looked up, and in the end its index.
type asked struct {
	origin dwarf.Ref
	text   dwarf.Text
	name   uint32
}

// pending marks numbers in asked among those of strings.
const pending = 1 << 31

// name names the nodes that have been collected. Each step of that waits for memory: an entry, a table, a
// string. All nodes take one step before any takes the next, so that they wait together.
func (p *part) name() error {
	s, nodes := &p.strings, p.tree.nodes
	s.asked = s.asked[:0]
	for i := range nodes {
		n := &nodes[i]
		if n.name = s.origins.get(uint64(n.origin)); n.name != 0 {
			continue
		}
		n.name = pending | uint32(len(s.asked))
		s.origins.put(uint64(n.origin), n.name)
		s.asked = append(s.asked, asked{origin: n.origin})
	}
	var err error
	for i := range s.asked {
		a := &s.asked[i]
		if a.text, err = p.r.Name(a.origin); err != nil {
			return err
		}
	}
	for i := range s.asked {
		a := &s.asked[i]
		a.name = s.known(uint64(a.text))
	}
	for i := range s.asked {
		a := &s.asked[i]
		if a.name == 0 && a.text != 0 {
			if a.name, err = p.text(a.text); err != nil {
				return err
			}
		}
		s.origins.put(uint64(a.origin), a.name+1)
	}
	for i := range nodes {
		if n := &nodes[i]; n.name&pending != 0 {
			n.name = s.asked[n.name&^pending].name
		} else {
			n.name--
		}
	}
	return nil
}

// text is the index of a text that is not 0.
func (p *part) text(t dwarf.Text) (uint32, error) {
	s := &p.strings
	if i := s.known(uint64(t)); i != 0 {
		return i, nil
	}
	name, copied := p.r.String(t), 0
	if err := p.r.Err(); err != nil {
		return 0, err
	}
	if !p.x.d.Aliases(t) || symbol.IsCut(name) {
		copied = len(name)
	}
	return s.enter(uint64(t), name, copied), nil
}
