package explode

import (
	"github.com/symlake/symlake/formats"
	"github.com/symlake/symlake/formats/internal/dwarf"
	"github.com/symlake/symlake/formats/symbol"
)

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

// maxPathBytes bounds the paths of one unit: a directory stands before each file of it. 10,000
// files with paths of 1 KiB are 10 MiB.
const maxPathBytes = 64 << 20

// site names the file of a place.
func (p *part) site(file, line, column uint32) (symbol.Site, error) {
	if int(file) < len(p.files) && p.files[file] != 0 {
		return symbol.Site{File: p.files[file] - 1, Line: line, Column: column}, nil
	}
	path, text, err := p.r.Path(file)
	if err != nil {
		return symbol.Site{}, err
	}
	if p.paths += int64(len(path)); p.paths > maxPathBytes {
		return symbol.Site{}, &formats.Error{Format: "dwarf", Section: ".debug_line", Want: "shorter paths, or fewer", Err: formats.ErrLimit}
	}
	if int64(len(path)) > p.x.lim.NameBytes {
		path, text = []byte(symbol.CutName(string(path))), 0
	}
	i := p.strings.path(uint64(text), path)
	if len(path) > 0 && int(file) < p.x.lim.Files { // a missing file may have any number
		for len(p.files) <= int(file) {
			p.files = append(p.files, 0)
		}
		p.files[file] = i + 1
	}
	return symbol.Site{File: i, Line: line, Column: column}, nil
}
