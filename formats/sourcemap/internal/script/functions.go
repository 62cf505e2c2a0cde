package script

import (
	"strconv"
	"unsafe"

	"github.com/tdewolff/parse/v2/js"
)

// function is a function of a script: what names it, and where it stands.
type function struct {
	name       []namePart
	start, end int // bytes of the script; end 0: not found
}

// namePart is a piece of a function's name: text, or an identifier of the script. The
// map knows its original spelling.
type namePart struct {
	text string
	at   int // offset of the identifier; -1: text stands as it is
}

// Anonymous is the name of a function without a name.
const Anonymous = "<anonymous>"

// walker visits a syntax tree in the order of the source, and lists its functions by how they begin.
// Functions are named as Metro names them in its function maps: a.b for a function that is assigned to it or stands
// in an object of that name, Class#method, Class.static, get__x, f$argument_0 for an argument of f.
type walker struct {
	script []byte
	most   int // functions
	room   int // bytes that names may take

	keyword []function // by the keyword function
	arrow   []function // by =>
	method  []function // by the body of a method
	regexps []int      // offsets of regular expressions
	keys    []int      // of methods' names: those may look like keywords
	full    bool       // there are more functions, or names are longer
	holes   []mark     // still to come
	links   []link     // from the identifiers in the holes before, to bytes of the script that is parsed
}

func (w *walker) add(to *[]function, name []namePart) {
	for i := range name {
		w.room -= len(name[i].text) + partBytes
	}
	if len(w.keyword)+len(w.arrow)+len(w.method) >= w.most || w.room < 0 {
		w.full = true
		return
	}
	*to = append(*to, function{name: name})
}

// offset is where a piece of the script stands in it; -1: the parser made it.
func (w *walker) offset(b []byte) int {
	if len(b) == 0 {
		return -1
	}
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(w.script)))
	if at >= uintptr(len(w.script)) {
		return -1
	}
	return int(at)
}

func plainPart(s string) []namePart { return []namePart{{text: s, at: -1}} }

func (w *walker) variable(v *js.Var) []namePart {
	for v.Link != nil {
		v = v.Link
	}
	return []namePart{{string(v.Data), w.offset(v.Data)}}
}

// hole visits a statement if it stands in a hole.
func (w *walker) hole(n js.IExpr) {
	list, ok := n.(*js.CommaExpr)
	if !ok || len(w.holes) == 0 {
		return
	}
	number, ok := list.List[0].(*js.LiteralExpr)
	if !ok || w.offset(number.Data) != w.holes[0].at || len(list.List) <= len(w.holes[0].uses) {
		return // not the hole's own statement, or what a broken script left of it
	}
	for i, use := range w.holes[0].uses {
		if v, ok := list.List[i+1].(*js.Var); ok {
			w.links = append(w.links, link{use, w.offset(v.Name())})
		}
	}
	w.holes = w.holes[1:]
}

// named is the name that an expression gives a function assigned to it; nil: none.
func (w *walker) named(n js.IExpr) []namePart {
	switch n := n.(type) {
	case *js.Var:
		return w.variable(n)
	case *js.GroupExpr:
		return w.named(n.X)
	case *js.LiteralExpr:
		return w.literal(n)
	case *js.DotExpr:
		return joined(w.named(n.X), ".", w.member(n.Y))
	case *js.IndexExpr:
		return joined(w.named(n.X), ".", w.named(n.Y))
	}
	return nil
}

func (w *walker) member(n js.IExpr) []namePart {
	switch n := n.(type) {
	case *js.LiteralExpr:
		return w.literal(n)
	case js.LiteralExpr:
		return w.literal(&n)
	case *js.Var:
		return w.variable(n)
	}
	return nil
}

func (w *walker) literal(n *js.LiteralExpr) []namePart {
	switch n.TokenType {
	case js.StringToken:
		if len(n.Data) >= 2 {
			return []namePart{{text: string(n.Data[1 : len(n.Data)-1]), at: -1}}
		}
	case js.RegExpToken, js.ErrorToken:
		return nil
	case js.ThisToken, js.SuperToken, js.NullToken, js.TrueToken, js.FalseToken:
		return plainPart(string(n.Data))
	case js.PrivateIdentifierToken:
		return []namePart{{text: string(n.Data), at: w.offset(n.Data)}}
	}
	if len(n.Data) == 0 {
		return nil
	}
	return []namePart{{text: string(n.Data), at: w.offset(n.Data)}}
}

// joined is a, by, b; what of them is there.
func joined(a []namePart, by string, b []namePart) []namePart {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	name := make([]namePart, 0, len(a)+len(b)+1)
	return append(append(append(name, a...), namePart{text: by, at: -1}), b...)
}

// key is the name of a property.
func (w *walker) key(n *js.PropertyName) []namePart {
	if n.Computed != nil {
		return w.named(n.Computed)
	}
	return w.literal(&n.Literal)
}

func (w *walker) elementKey(n *js.ClassElementName) []namePart {
	if n.Private != nil {
		return w.variable(n.Private)
	}
	return w.key(&n.PropertyName)
}

func (w *walker) stmts(list []js.IStmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

func (w *walker) stmt(n js.IStmt) {
	switch n := n.(type) {
	case *js.BlockStmt:
		if n != nil {
			w.stmts(n.List)
		}
	case *js.ExprStmt:
		w.hole(n.Value)
		w.expr(n.Value, nil)
	case *js.IfStmt:
		w.expr(n.Cond, nil)
		w.stmt(n.Body)
		w.stmt(n.Else)
	case *js.DoWhileStmt:
		w.stmt(n.Body)
		w.expr(n.Cond, nil)
	case *js.WhileStmt:
		w.expr(n.Cond, nil)
		w.stmt(n.Body)
	case *js.ForStmt:
		w.expr(n.Init, nil)
		w.expr(n.Cond, nil)
		w.expr(n.Post, nil)
		w.stmt(n.Body)
	case *js.ForInStmt:
		w.expr(n.Init, nil)
		w.expr(n.Value, nil)
		w.stmt(n.Body)
	case *js.ForOfStmt:
		w.expr(n.Init, nil)
		w.expr(n.Value, nil)
		w.stmt(n.Body)
	case *js.SwitchStmt:
		w.expr(n.Init, nil)
		for i := range n.List {
			w.expr(n.List[i].Cond, nil)
			w.stmts(n.List[i].List)
		}
	case *js.ReturnStmt:
		w.expr(n.Value, nil)
	case *js.WithStmt:
		w.expr(n.Cond, nil)
		w.stmt(n.Body)
	case *js.LabelledStmt:
		w.stmt(n.Value)
	case *js.ThrowStmt:
		w.expr(n.Value, nil)
	case *js.TryStmt:
		w.stmt(n.Body)
		w.binding(n.Binding)
		w.stmt(n.Catch)
		w.stmt(n.Finally)
	case *js.ExportStmt:
		w.expr(n.Decl, plainPart("default"))
	case *js.VarDecl:
		w.expr(n, nil)
	case *js.FuncDecl:
		w.expr(n, nil)
	case *js.ClassDecl:
		w.expr(n, nil)
	}
}

func (w *walker) binding(n js.IBinding) {
	switch n := n.(type) {
	case *js.BindingArray:
		for i := range n.List {
			w.element(&n.List[i])
		}
		w.binding(n.Rest)
	case *js.BindingObject:
		for i := range n.List {
			if k := n.List[i].Key; k != nil && k.Computed != nil {
				w.expr(k.Computed, nil)
			}
			w.element(&n.List[i].Value)
		}
	}
}

func (w *walker) element(n *js.BindingElement) {
	w.binding(n.Binding)
	var name []namePart
	if v, ok := n.Binding.(*js.Var); ok && v != nil && w.takesName(n.Default) {
		name = w.variable(v)
	}
	w.expr(n.Default, name)
}

func (w *walker) params(p *js.Params) {
	for i := range p.List {
		w.element(&p.List[i])
	}
	w.binding(p.Rest)
}

// expr visits an expression; name is what it is known by from outside.
func (w *walker) expr(n js.IExpr, name []namePart) {
	switch n := n.(type) {
	case nil, *js.Var:
	case *js.VarDecl:
		if n == nil {
			return
		}
		for i := range n.List {
			w.element(&n.List[i])
		}
	case *js.FuncDecl:
		if n.Name != nil {
			name = w.variable(n.Name)
		}
		w.add(&w.keyword, name)
		w.params(&n.Params)
		w.stmts(n.Body.List)
	case *js.ArrowFunc:
		w.params(&n.Params)
		w.add(&w.arrow, name)
		w.stmts(n.Body.List)
	case *js.ClassDecl:
		w.class(n, name)
	case *js.MethodDecl:
		w.methodOf(n, name, ".")
	case *js.LiteralExpr:
		if n.TokenType == js.RegExpToken {
			w.regexps = append(w.regexps, w.offset(n.Data))
		}
	case *js.ArrayExpr:
		for i := range n.List {
			w.expr(n.List[i].Value, nil)
		}
	case *js.ObjectExpr:
		w.object(n, name)
	case *js.TemplateExpr:
		w.expr(n.Tag, nil)
		for i := range n.List {
			w.expr(n.List[i].Expr, nil)
		}
	case *js.GroupExpr:
		w.expr(n.X, name)
	case *js.IndexExpr:
		w.expr(n.X, nil)
		w.expr(n.Y, nil)
	case *js.DotExpr:
		w.expr(n.X, nil)
	case *js.NewExpr:
		w.expr(n.X, nil)
		if n.Args != nil {
			w.args(n.Args, n.X)
		}
	case *js.CallExpr:
		w.expr(n.X, nil)
		if !w.keepsName(n) {
			w.args(&n.Args, n.X)
			break
		}
		for i := range n.Args.List {
			w.expr(n.Args.List[i].Value, name)
		}
	case *js.UnaryExpr:
		w.expr(n.X, nil)
	case *js.BinaryExpr:
		w.expr(n.X, nil)
		if name = nil; n.Op == js.EqToken && w.takesName(n.Y) {
			name = w.named(n.X)
		}
		w.expr(n.Y, name)
	case *js.CondExpr:
		w.expr(n.Cond, nil)
		w.expr(n.X, nil)
		w.expr(n.Y, nil)
	case *js.YieldExpr:
		w.expr(n.X, nil)
	case *js.CommaExpr:
		for _, x := range n.List {
			w.expr(x, nil)
		}
	}
}

// takesName: a named expression passes its name on to functions. Most expressions do not, and names take longer
// to make than to visit them.
func (w *walker) takesName(n js.IExpr) bool {
	switch n := n.(type) {
	case *js.FuncDecl, *js.ArrowFunc, *js.ClassDecl, *js.ObjectExpr:
		return true
	case *js.GroupExpr:
		return w.takesName(n.X)
	case *js.CallExpr:
		return w.keepsName(n)
	}
	return false
}

// keepsName: the call gives back what it is passed, which keeps its name.
func (w *walker) keepsName(n *js.CallExpr) bool {
	x, ok := n.X.(*js.DotExpr)
	if !ok {
		return false
	}
	of, ok := x.X.(*js.Var)
	return ok && string(of.Name()) == "Object" && textOf(w.member(x.Y)) == "freeze"
}

// args visits the arguments of a call, or of new.
func (w *walker) args(n *js.Args, callee js.IExpr) {
	var name []namePart
	for i := range n.List {
		x := n.List[i].Value
		if !w.takesName(x) {
			w.expr(x, nil)
			continue
		}
		if name == nil {
			name = w.named(callee)
		}
		if len(name) == 0 {
			w.expr(x, nil)
		} else {
			w.expr(x, joined(name, "$argument_"+strconv.Itoa(i), plainPart("")))
		}
	}
}

func textOf(parts []namePart) string {
	s := ""
	for _, p := range parts {
		s += p.text
	}
	return s
}
