package unwind

// Read returns the value of size bytes (1, 2, 4 or 8) of a stopped program's memory, in its byte order; false: they are not there.
type Read func(addr uint64, size int) (uint64, bool)

// Step makes the caller's registers of the callee's. false: the rules do not lead there, because they know nothing, or what they need is
// not in memory or lost. outermost: the rules say that there is no caller. Rules of Windows are not for Step: see their fields.
func (r *Rules) Step(a *Arch, callee *Registers, read Read) (caller Registers, outermost, ok bool) {
	if r.CFA.How == Unsaid || r.Windows != nil {
		return caller, false, false
	}
	m := machine{arch: a, regs: callee, read: read}
	cfa, ok := m.value(&r.CFA, a.SP)
	if !ok {
		return caller, false, false
	}
	m.cfa = cfa
	if r.RA.How == Undefined {
		return caller, true, false
	}
	for n := range uint8(len(a.Names)) {
		rule := &r.Regs[n]
		if rule.How == Unsaid {
			if v, known := callee.Get(n); known && a.Kept>>n&1 == 1 {
				caller.Set(n, v)
			}
			continue
		}
		if v, known := m.value(rule, n); known {
			caller.Set(n, v)
		}
	}
	if r.Regs[a.SP].How == Unsaid {
		caller.Set(a.SP, cfa)
	}
	ra, ok := m.returns(&r.RA)
	if !ok {
		return caller, false, false
	}
	caller.Set(a.PC, ra)
	return caller, false, true
}

// returns is the address that the callee returns to.
func (m *machine) returns(r *Rule) (uint64, bool) {
	if r.How == Unsaid || r.How == Same {
		if m.arch.LR == None {
			return 0, false
		}
		return m.regs.Get(m.arch.LR)
	}
	return m.value(r, m.arch.PC)
}

// value is what a rule gives for register n.
func (m *machine) value(r *Rule, n uint8) (uint64, bool) {
	switch r.How {
	case Same:
		return m.regs.Get(n)
	case Saved:
		return m.read(m.arch.cut(m.cfa+uint64(r.Offset)), m.arch.Word)
	case Near:
		return m.arch.cut(m.cfa + uint64(r.Offset)), true
	case Register:
		v, ok := m.regs.Get(r.Reg)
		return m.arch.cut(v + uint64(r.Offset)), ok
	case Memory:
		at, ok := m.eval(r.Expr)
		if !ok {
			return 0, false
		}
		return m.read(at, m.arch.Word)
	case Value:
		return m.eval(r.Expr)
	}
	return 0, false
}
