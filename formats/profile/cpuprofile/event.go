package cpuprofile

import (
	"bytes"
	"strings"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/internal/rewrite"
)

// args reads what an event of a trace says: a part of a profile, perhaps.
func (a *answerer) args() error {
	text, err := a.take(mostNode, whyLong)
	if err != nil || text == nil {
		return err
	}
	if a.pass == summing || !bytes.Contains(text, []byte(`"cpuProfile"`)) {
		a.r.Write(text)
		return nil
	}
	var all []rewrite.Edit
	j := &json.Walker{Bytes: text}
	chunkOf(j, func(key string) {
		switch {
		case key == "nodes" && j.Peek() == '[':
			j.Array(func(int) {
				var n node
				if !n.read(j, nil) {
					return
				}
				if a.pass == collecting {
					a.table.add(placeOf(&n.frame), n.function, n.url)
					return
				}
				e := a.edited(text, &n, a.table.find(placeOf(&n.frame), n.function, n.url), nil)
				all = append(all, e.all...)
			})
		case key == "samples" && a.pass == collecting:
			j.Array(func(int) { a.o.Counts.Samples++ })
		}
	})
	a.text = rewrite.Apply(a.text[:0], text, all)
	a.r.Write(a.text)
	return nil
}

// chunkOf visits the members of a part of a profile that the arguments of an event have.
func chunkOf(j *json.Walker, visit func(key string)) {
	j.Object(func(key string) {
		if key != "data" || j.Peek() != '{' {
			return
		}
		j.Object(func(key string) {
			if key == "cpuProfile" && j.Peek() == '{' {
				j.Object(visit)
			}
		})
	})
}

// stackFrames reads the frames of Hermes's sampling profiler.
func (a *answerer) stackFrames() error {
	if a.pass == summing {
		return a.r.Skip()
	}
	return a.r.Object(func(string) error {
		if a.r.Peek() != '{' {
			return nil
		}
		text, err := a.take(mostNode, whyLong)
		if err != nil || text == nil {
			return err
		}
		f := sampledFrame(text)
		if a.pass == collecting {
			if f.known {
				a.table.add(f.place, f.name, f.url)
			}
			a.r.Write(text)
			return nil
		}
		e := edits{text: text}
		if n := a.table.find(f.place, f.name, f.url); f.known && n >= 0 && a.table.results[n].found {
			e.put("name", f.atName, quoted(a.table.texts[a.table.results[n].function]))
		}
		a.text = e.apply(a.text[:0])
		a.r.Write(a.text)
		return nil
	})
}

// sampled is a frame of stackFrames.
type sampled struct {
	place
	name, url string
	atName    span
	parent    string
	category  string
	known     bool // it says a place
}

// sampledFrame reads a frame of stackFrames: a line and a column from 1 in the file that the name has behind it, or an address of
// bytecode.
func sampledFrame(text []byte) (f sampled) {
	said := map[string]int64{}
	j := &json.Walker{Bytes: text}
	walk(j, func(key string, value *span) {
		switch key {
		case "name":
			f.name = j.Text()
			f.atName = span{value.from, j.Pos}
		case "category":
			f.category = j.Text()
		case "parent":
			j.Skip()
			f.parent = json.String(bytes.TrimSpace(text[value.from:j.Pos]))
		case "line", "column", "funcVirtAddr", "offset":
			said[key] = int64(j.Number())
		}
	})
	if address, ok := said["funcVirtAddr"]; ok {
		offset, both := said["offset"]
		f.style, f.column, f.known = bytecode, small(address+offset), both && f.atName.to > 0
		return f
	}
	rest, ok := strings.CutSuffix(f.name, ":"+string(spelled(said["line"]))+":"+string(spelled(said["column"]))+")")
	if open := strings.IndexByte(rest, '('); ok && open >= 0 {
		f.url, f.known = rest[open+1:], true
		f.style, f.line, f.column = traced, small(said["line"])-1, small(said["column"])-1
	}
	return f
}

// samples reads the samples of a profile: ids of nodes, or objects that name them.
func (a *answerer) samples(number int) error {
	t := a.trees[number]
	if a.pass == summing || a.pass == writing && (t == nil || t.stays == nil) {
		return a.r.Skip()
	}
	return a.r.Array(func(i int) error {
		if i&0xffff == 0 && a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		text, err := a.take(mostNode, whyLong)
		if err != nil || text == nil {
			return err
		}
		if a.pass == collecting {
			a.o.Counts.Samples++
			return nil
		}
		a.r.Write(a.sample(t, text))
		return nil
	})
}

// sample returns a sample with the node that stays.
func (a *answerer) sample(t *tree, text []byte) []byte {
	if text[0] != '{' {
		if id, ok := renumbered(t, text, a.o); ok {
			return id
		}
		return text
	}
	e := edits{text: text}
	j := &json.Walker{Bytes: text}
	walk(j, func(key string, value *span) {
		if key != "nodeId" {
			return
		}
		j.Skip()
		if id, ok := renumbered(t, text[value.from:j.Pos], a.o); ok {
			e.put("", span{value.from, j.Pos}, id)
		}
	})
	a.text = e.apply(a.text[:0])
	return a.text
}

// renumbered returns the id of the node that stays for a node.
func renumbered(t *tree, text []byte, o *profile.Options) (id []byte, ok bool) {
	i := t.find(int64((&json.Walker{Bytes: bytes.TrimSpace(text)}).Number()))
	if i < 0 {
		o.Counts.Keep(whyNoNode, string(text[:min(len(text), 20)]))
		return nil, false
	}
	if t.stays[i] == i {
		return nil, false
	}
	return spelled(t.ids[t.stays[i]]), true
}
