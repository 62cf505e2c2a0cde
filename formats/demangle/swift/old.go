package swift

func (p *parser) old(name string) ref { p.reset(); return 0 }
