package ecma335

import (
	"slices"
	"strconv"
	"strings"
)

// Names are the names of the methods of an assembly, as Namespace.Type.Method. A nested type stands behind its outer one,
// with a dot between; a generic one keeps the number of its parameters, as in List`1.
//
// The method MoveNext of a state machine has the name of the method that the compiler made it of, and that one, which
// holds no code of the source, has its parameters behind its name: Shop.Cart.Pay(System.String). So have methods of one name.
type Names struct {
	m      *Metadata
	outer  []uint32 // by row of TypeDef: the type around it, or 0
	owner  []uint32 // by row of MethodDef: the type
	made   []uint32 // by row of MethodDef: the method that the compiler made a method MoveNext of, or 0
	starts []bool   // by row of MethodDef: it starts a state machine
	// repeated are names of methods that several have.
	repeated map[methodKey]bool
}

// methodKey tells names apart: by the type, and by the place of the name.
type methodKey struct{ owner, name uint32 }

// kickoffs are the attributes by which a compiler names the state machine of a method.
var kickoffs = [...]string{"AsyncStateMachineAttribute", "IteratorStateMachineAttribute", "AsyncIteratorStateMachineAttribute"}

const (
	maxNesting   = 64
	maxTypeBytes = 4 << 10
)

// ReadNames reads the types of the methods of an assembly. pdb, which may be nil, tells more state machines.
func ReadNames(m, pdb *Metadata) *Names {
	n := &Names{m: m, repeated: map[methodKey]bool{}}
	n.readNesting()
	n.readOwners()
	n.made, n.starts = make([]uint32, len(n.owner)), make([]bool, len(n.owner))
	n.readAttributes()
	if pdb != nil {
		for row := 1; row <= pdb.Rows(StateMachine); row++ {
			n.move(int(pdb.Cell(StateMachine, row, 0)), int(pdb.Cell(StateMachine, row, 1)))
		}
	}
	seen := map[methodKey]bool{}
	for row := 1; row < len(n.owner); row++ {
		if n.starts[row] {
			continue
		}
		key := n.key(n.from(row))
		n.repeated[key] = n.repeated[key] || seen[key]
		seen[key] = true
	}
	return n
}

// move notes that a method MoveNext was made of another one.
func (n *Names) move(next, from int) {
	if next >= 1 && next < len(n.owner) && from >= 1 && from < len(n.owner) && next != from {
		n.made[next], n.starts[from] = uint32(from), true
	}
}

// from returns the method that gives a method its name.
func (n *Names) from(row int) int {
	if from := n.made[row]; from != 0 {
		return int(from)
	}
	return row
}

func (n *Names) key(row int) methodKey {
	return methodKey{n.owner[row], n.m.Cell(MethodDef, row, 3)}
}

// Method returns the name of a method by its row, from 1; "": there is none.
func (n *Names) Method(row int) string {
	if row < 1 || row >= len(n.owner) {
		return ""
	}
	from := n.from(row)
	name := n.plain(from)
	if n.starts[row] || n.repeated[n.key(from)] {
		name += n.parameters(from)
	}
	return name
}

func (n *Names) readNesting() {
	m := n.m
	n.outer = make([]uint32, m.Rows(TypeDef)+1)
	for row := 1; row <= m.Rows(NestedClass); row++ {
		if inner := m.Cell(NestedClass, row, 0); int(inner) < len(n.outer) {
			n.outer[inner] = m.Cell(NestedClass, row, 1)
		}
	}
}

// typeName returns the name of a type by its row.
func (n *Names) typeName(row uint32) string {
	name := ""
	for range maxNesting {
		if row < 1 || int(row) >= len(n.outer) || len(name) > maxTypeBytes {
			break
		}
		part := n.m.Text(TypeDef, int(row), 1)
		if space := n.m.Text(TypeDef, int(row), 2); space != "" && n.outer[row] == 0 {
			part = space + "." + part
		}
		if name != "" {
			part += "."
		}
		name = part + name
		row = n.outer[row]
	}
	return name
}

func (n *Names) readOwners() {
	m := n.m
	n.owner = make([]uint32, m.Rows(MethodDef)+1)
	types, indirect := m.Rows(TypeDef), m.Rows(MethodPtr) > 0
	limit := uint32(m.Rows(MethodDef))
	if indirect {
		limit = uint32(m.Rows(MethodPtr))
	}
	for row := 1; row <= types; row++ {
		from, to := m.Cell(TypeDef, row, 5), limit+1
		if row < types {
			to = min(to, m.Cell(TypeDef, row+1, 5))
		}
		for at := max(from, 1); at < to; at++ {
			method := at
			if indirect {
				method = m.Cell(MethodPtr, int(at), 0)
			}
			if int(method) >= len(n.owner) || n.owner[method] != 0 {
				break // lists overlap: the first has it
			}
			n.owner[method] = uint32(row)
		}
	}
}

// plain returns Namespace.Type.Method.
func (n *Names) plain(row int) string {
	name := n.m.Text(MethodDef, row, 3)
	if t := n.typeName(n.owner[row]); t != "" && t != "<Module>" {
		return t + "." + strings.TrimPrefix(name, ".")
	}
	return name
}

// readAttributes finds the state machines that attributes of methods name.
func (n *Names) readAttributes() {
	m := n.m
	var made map[string]int // methods MoveNext by the names of their types
	for row := 1; row <= m.Rows(CustomAttribute); row++ {
		of, method := m.Coded(CustomAttribute, row, 0)
		by, constructor := m.Coded(CustomAttribute, row, 1)
		if of != MethodDef || by != MemberRef {
			continue
		}
		in, class := m.Coded(MemberRef, constructor, 0)
		if in != TypeRef || !slices.ContainsFunc(kickoffs[:], func(k string) bool { return m.is(TypeRef, class, 1, k) }) {
			continue
		}
		r := Blob{m.Blob(CustomAttribute, row, 2), true}
		if r.Byte() != 1 || r.Byte() != 0 {
			continue
		}
		size := r.Unsigned()
		if !r.OK || uint64(size) > uint64(min(len(r.B), maxTypeBytes)) {
			continue
		}
		if made == nil {
			made = n.moveNexts()
		}
		name, _, _ := strings.Cut(string(r.B[:size]), ",")
		n.move(made[strings.ReplaceAll(name, "+", ".")], method)
	}
}

// moveNexts returns the methods MoveNext by their types.
func (n *Names) moveNexts() map[string]int {
	all, left := map[string]int{}, 1<<20+64*len(n.m.strings) // types may share the bytes of their names
	for row := 1; row < len(n.owner) && left > 0; row++ {
		if t := n.owner[row]; t != 0 && n.m.is(MethodDef, row, 3, "MoveNext") {
			name := n.typeName(t)
			all[name] = row
			left -= len(name)
		}
	}
	return all
}

// parameters returns the types of a method's parameters, in parentheses.
func (n *Names) parameters(row int) string {
	s := signature{n: n, method: row, r: Blob{n.m.Blob(MethodDef, row, 4), true}}
	flags := s.r.Byte()
	const generic = 0x10
	if flags&generic != 0 {
		s.r.Unsigned()
	}
	count := s.r.Unsigned()
	s.typ(0) // what it returns
	s.out.Reset()
	s.out.WriteByte('(')
	for i := range count {
		if !s.r.OK || s.out.Len() > maxTypeBytes {
			break
		}
		if i > 0 {
			s.out.WriteString(", ")
		}
		s.typ(0)
	}
	s.out.WriteByte(')')
	return s.out.String()
}

// signature reads the types of a signature.
type signature struct {
	n      *Names
	method int
	r      Blob
	out    strings.Builder
}

// Elements of a signature.
const (
	elementPtr, elementByRef, elementValue, elementClass        = 0x0f, 0x10, 0x11, 0x12
	elementVar, elementArray, elementGeneric, elementFn         = 0x13, 0x14, 0x15, 0x1b
	elementSZArray, elementMVar, elementRequired, elementOption = 0x1d, 0x1e, 0x1f, 0x20
	elementSentinel, elementPinned                              = 0x41, 0x45
)

var primitives = map[byte]string{1: "Void", 2: "Boolean", 3: "Char", 4: "SByte", 5: "Byte", 6: "Int16", 7: "UInt16", 8: "Int32", 9: "UInt32",
	10: "Int64", 11: "UInt64", 12: "Single", 13: "Double", 14: "String", 0x16: "TypedReference", 0x18: "IntPtr", 0x19: "UIntPtr", 0x1c: "Object"}

func (s *signature) write(text string) {
	if s.out.WriteString(text); s.out.Len() > maxTypeBytes {
		s.r.OK = false // blobs may be shared by many methods
	}
}

// typ reads one type. What it does not know ends the reading.
func (s *signature) typ(depth int) {
	if depth > maxNesting {
		s.r.OK = false
	}
	if !s.r.OK {
		return
	}
	switch e := s.r.Byte(); e {
	case elementPtr, elementByRef, elementSZArray:
		s.typ(depth + 1)
		s.write(map[byte]string{elementPtr: "*", elementByRef: "&", elementSZArray: "[]"}[e])
	case elementValue, elementClass:
		s.named()
	case elementVar, elementMVar:
		s.write(s.n.parameter(s.method, e == elementMVar, s.r.Unsigned()))
	case elementArray:
		s.typ(depth + 1)
		rank := s.r.Unsigned()
		for range 2 { // sizes, and lower bounds
			count := s.r.Unsigned()
			if count > maxNesting {
				s.r.OK = false
				return
			}
			for range count {
				s.r.Unsigned()
			}
		}
		s.write("[" + strings.Repeat(",", int(min(max(rank, 1), 33)-1)) + "]")
	case elementGeneric:
		s.r.Byte()
		s.named()
		s.write("[")
		for i := range s.r.Unsigned() {
			if i > 0 {
				s.write(",")
			}
			if s.typ(depth + 1); !s.r.OK {
				return
			}
		}
		s.write("]")
	case elementRequired, elementOption:
		s.r.Unsigned()
		s.typ(depth + 1)
	case elementSentinel, elementPinned:
		s.typ(depth + 1)
	default:
		name, ok := primitives[e]
		if !ok {
			s.r.OK = false
			s.write("?")
			return
		}
		s.write("System." + name)
	}
}

// named reads a reference to a type.
func (s *signature) named() {
	of, row := decode('A', s.r.Unsigned())
	switch {
	case of == TypeDef:
		s.write(s.n.typeName(uint32(row)))
	case of == TypeRef:
		s.write(s.n.reference(row))
	default:
		s.write("?")
	}
}

// reference returns the name of a type of another assembly.
func (n *Names) reference(row int) string {
	m, name := n.m, ""
	for range maxNesting {
		part := m.Text(TypeRef, row, 1)
		if space := m.Text(TypeRef, row, 2); space != "" {
			part = space + "." + part
		}
		if name != "" {
			part += "."
		}
		name = part + name
		of, outer := m.Coded(TypeRef, row, 0)
		if of != TypeRef || len(name) > maxTypeBytes {
			break
		}
		row = outer
	}
	return name
}

// parameter returns the name of a generic parameter of a method or of its type.
func (n *Names) parameter(method int, own bool, number uint32) string {
	m := n.m
	want, owner := TypeDef, int(n.owner[method])
	if own {
		want, owner = MethodDef, method
	}
	lo, hi := 1, m.Rows(GenericParam)+1 // sorted by owner
	key := func(row int) uint32 { return m.Cell(GenericParam, row, 2) }
	code := uint32(owner) << 1
	if own {
		code |= 1
	}
	for lo < hi {
		mid := (lo + hi) / 2
		if key(mid) < code {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for row := lo; row <= m.Rows(GenericParam) && key(row) == code; row++ {
		if of, _ := m.Coded(GenericParam, row, 2); of == want && m.Cell(GenericParam, row, 0) == number {
			return m.Text(GenericParam, row, 3)
		}
	}
	return "!" + strconv.FormatUint(uint64(number), 10)
}
