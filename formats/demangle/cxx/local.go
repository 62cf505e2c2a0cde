package cxx

// scope is the part of the name with known template parameters.
type scope struct {
	first          int
	listed         bool
	whose, declare int32
}

// apart begins a part with template parameters of its own. rejoin ends it.
func (r *reader) apart() (outer scope) {
	outer = scope{r.first, r.listed, r.whose, r.declare}
	r.first, r.declare = len(r.params), 0
	r.another(false)
	return outer
}

func (r *reader) rejoin(outer scope) {
	r.params, r.first, r.listed = r.params[:r.first], outer.first, outer.listed
	r.whose, r.declare = outer.whose, outer.declare
}

// another switches to the template parameters of another template, which has arguments if it is listed.
func (r *reader) another(listed bool) {
	r.last++
	r.params, r.listed, r.whose = r.params[:r.first], listed, r.last
}

// localName reads an entity that is declared in a function.
func (r *reader) localName(about *named, tag bool) ref {
	r.pos++
	outer := r.encoding()
	if outer == 0 || !r.accept('E') {
		return r.give()
	}
	if c := r.peek(); c == 's' || c == 'd' || c == 'S' || c == 'N' && r.second() == 'S' {
		return r.give()
	}
	var around scope
	if !tag { // else none are known yet, and the inner name has the encoding's
		around = r.apart()
	}
	nested := r.peek() == 'N' || r.peek() == 'Z'
	inner := r.fullName(about, tag)
	if about.template && (!nested || about.structor) { // no function has such templates
		return r.give()
	}
	if r.accept('_') { // which of several of that name
		if r.accept('_') {
			if r.digits() == "" || !r.accept('_') {
				return r.give()
			}
		} else if !digit(r.peek()) {
			return r.give()
		} else {
			r.pos++
		}
	}
	if inner == 0 {
		return 0
	}
	if !tag {
		r.rejoin(around)
	}
	return r.push(node{kind: kQualified, a: outer, b: inner})
}

// closure reads a lambda. Where no template parameters are known, its own parameters have the type "auto".
func (r *reader) closure() ref {
	r.pos += 2
	lambda := r.lambda
	if lambda && r.peek() != 'v' {
		return r.give() // a lambda in the parameters of another one
	}
	r.lambda = !r.listed
	from := len(r.open)
	ok := r.parameters()
	r.lambda = lambda
	n := node{kind: kLambda}
	if r.peek() == 'Q' {
		n.a = r.constraint()
	}
	if !ok || !r.accept('E') {
		return r.give()
	}
	n.text = r.digits()
	if !r.accept('_') {
		return r.give()
	}
	return r.withList(n, from)
}
