package script

import "github.com/tdewolff/parse/v2/js"

// object visits an object literal; its members are called after it.
func (w *walker) object(n *js.ObjectExpr, name []namePart) {
	for i := range n.List {
		p := &n.List[i]
		var key []namePart
		if p.Name != nil {
			if p.Name.Computed != nil {
				w.expr(p.Name.Computed, nil)
			}
			if w.takesName(p.Value) {
				key = joined(name, ".", w.key(p.Name))
			}
		}
		if m, ok := p.Value.(*js.MethodDecl); ok {
			w.methodOf(m, name, ".")
		} else {
			w.expr(p.Value, key)
		}
		w.expr(p.Init, nil)
	}
}

func (w *walker) class(n *js.ClassDecl, name []namePart) {
	w.expr(n.Extends, nil)
	if n.Name != nil {
		name = w.variable(n.Name)
	}
	for i := range n.List {
		switch m := &n.List[i]; {
		case m.StaticBlock != nil:
			w.stmts(m.StaticBlock.List)
		case m.Method != nil:
			by := "#"
			if m.Method.Static {
				by = "."
			}
			w.methodOf(m.Method, name, by)
		default:
			by := "#"
			if m.Static {
				by = "."
			}
			if m.Name.Computed != nil {
				w.expr(m.Name.Computed, nil)
			}
			var known []namePart
			if w.takesName(m.Init) {
				known = joined(name, by, w.elementKey(&m.Name))
			}
			w.expr(m.Init, known)
		}
	}
}

func (w *walker) methodOf(n *js.MethodDecl, owner []namePart, by string) {
	if n.Name.Computed != nil {
		w.expr(n.Name.Computed, nil)
	}
	name := w.elementKey(&n.Name)
	w.keys = append(w.keys, w.offset(n.Name.Literal.Data))
	switch {
	case n.Get:
		name = joined(plainPart("get__"), "", name)
	case n.Set:
		name = joined(plainPart("set__"), "", name)
	}
	w.add(&w.method, joined(owner, by, name))
	w.params(&n.Params)
	w.stmts(n.Body.List)
}
