package unwind

import (
	"fmt"
	"strconv"
	"strings"
)

// Merge takes what a STACK CFI record of Breakpad says, ".cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^", into the rules:
// what it does not name stays.
func (r *Rules) Merge(a *Arch, text string) error {
	words := strings.Fields(text)
	for len(words) > 0 {
		name, isName := strings.CutSuffix(words[0], ":")
		if !isName {
			return fmt.Errorf("rules for unwinding: %.40q: want a register and a colon", words[0])
		}
		n := 1
		for n < len(words) && !strings.HasSuffix(words[n], ":") {
			n++
		}
		to, err := r.target(a, name)
		if err != nil {
			return err
		}
		if *to, err = a.rule(words[1:n]); err != nil {
			return err
		}
		words = words[n:]
	}
	return nil
}

func (r *Rules) target(a *Arch, name string) (*Rule, error) {
	switch name {
	case ".cfa":
		return &r.CFA, nil
	case ".ra":
		return &r.RA, nil
	}
	n := a.Register(name)
	if n == None {
		return nil, fmt.Errorf("rules for unwinding: %.40q: %s has no such register", name, a.Name)
	}
	return &r.Regs[n], nil
}

// operations are the words of expressions.
var operations = map[string]Op{"+": OpAdd, "-": OpSub, "*": OpMul, "/": OpDiv, "%": OpMod, "@": OpAlign, "&": OpAnd, "|": OpOr,
	"<<": OpShl, ">>": OpShr, "==": OpEq, "!=": OpNe, "<": OpLt, "<=": OpLe, ">": OpGt, ">=": OpGe, "neg": OpNeg, "not": OpNot,
	"xor": OpXor, "sar": OpSar, "dup": OpDup, "drop": OpDrop, "swap": OpSwap, "rot": OpRot, "abs": OpAbs}

// rule makes a rule of a postfix expression, the simplest that says the same.
func (a *Arch) rule(words []string) (Rule, error) {
	if len(words) == 1 && words[0] == ".undef" {
		return Rule{How: Undefined}, nil
	}
	if r, ok := a.plain(words); ok {
		return r, nil
	}
	var e Expr
	for i, w := range words {
		op, isOp := operations[w]
		n, notNumber := strconv.ParseInt(w, 0, 64)
		switch {
		case w == "^" && i == len(words)-1:
			return Rule{How: Memory, Expr: e.String()}, nil
		case w == "^":
			e.Byte(OpDeref, 0)
		case isOp:
			e.Op(op)
		case notNumber == nil:
			e.Const(n)
		case w == ".cfa":
			e.Op(OpCFA)
		case a.Register(w) != None:
			e.Byte(OpRegister, a.Register(w))
		default:
			return Rule{}, fmt.Errorf("rules for unwinding: %.40q: want a register, a number or an operation", w)
		}
	}
	if len(words) == 0 {
		return Rule{}, fmt.Errorf("rules for unwinding: want an expression")
	}
	return Rule{How: Value, Expr: e.String()}, nil
}

// plain makes a rule of a base and an offset.
func (a *Arch) plain(words []string) (Rule, bool) {
	saved := len(words) > 0 && words[len(words)-1] == "^"
	if saved {
		words = words[:len(words)-1]
	}
	if len(words) != 1 && len(words) != 3 {
		return Rule{}, false
	}
	r := Rule{}
	if len(words) == 3 {
		n, err := strconv.ParseInt(words[1], 0, 64)
		switch {
		case err != nil:
			return r, false
		case words[2] == "+":
			r.Offset = n
		case words[2] == "-":
			r.Offset = -n
		default:
			return r, false
		}
	}
	switch {
	case words[0] == ".cfa" && saved:
		r.How = Saved
	case words[0] == ".cfa":
		r.How = Near
	default:
		r.Reg = a.Register(words[0])
		if r.Reg == None || saved {
			return r, false
		}
		r.How = Register
	}
	return r, true
}

// Text returns the rules as Breakpad writes them, for people and tests.
func (r *Rules) Text(a *Arch) string {
	if w := r.Windows; w != nil {
		return fmt.Sprintf("params %d saved %d locals %d %s", w.Params, w.Saved, w.Locals, w.Program)
	}
	var parts []string
	add := func(name string, rule *Rule) {
		if rule.How != Unsaid {
			parts = append(parts, name+": "+rule.text(a, name))
		}
	}
	add(".cfa", &r.CFA)
	add(".ra", &r.RA)
	for i, name := range a.Names {
		add("$"+name, &r.Regs[i])
	}
	return strings.Join(parts, " ")
}

func (r *Rule) text(a *Arch, name string) string {
	switch r.How {
	case Undefined:
		return ".undef"
	case Same:
		return name
	case Saved:
		return fmt.Sprintf(".cfa %d + ^", r.Offset)
	case Near:
		return fmt.Sprintf(".cfa %d +", r.Offset)
	case Register:
		if int(r.Reg) < len(a.Names) {
			return fmt.Sprintf("$%s %d +", a.Names[r.Reg], r.Offset)
		}
	case Memory:
		return a.exprText(r.Expr) + " ^"
	case Value:
		return a.exprText(r.Expr)
	}
	return "?"
}

func (a *Arch) exprText(expr string) string {
	names := map[Op]string{}
	for word, op := range operations {
		names[op] = word
	}
	var words []string
	for d := (decoder{b: expr}); len(d.b) > 0 && !d.bad; {
		switch op := Op(d.byte()); op {
		case OpRegister:
			n := d.byte()
			if int(n) >= len(a.Names) {
				return "?"
			}
			words = append(words, "$"+a.Names[n])
		case OpCFA:
			words = append(words, ".cfa")
		case OpConst:
			words = append(words, strconv.FormatInt(d.varint(), 10))
		case OpDeref:
			words = append(words, "^")
			d.byte()
		case OpPick:
			words = append(words, "pick"+strconv.Itoa(int(d.byte())))
		default:
			words = append(words, names[op])
		}
	}
	return strings.Join(words, " ")
}
