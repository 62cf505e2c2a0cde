package swift

// printNode writes a node by the rule of its kind, see printer.print.
func (p *printer) printNode(r ref, depth int, asPrefix bool) ref {
	n := &p.nodes[r]
	switch k := n.kind; k {
	case kIdentifier:
		p.put(n.text)
	case kModule:
		if !p.simple {
			p.put(n.text)
		}

	case kVariable:
		return p.printEntity(r, depth, asPrefix, entity{typing: colon, named: true})
	case kFunction, kBoundFunction:
		return p.printEntity(r, depth, asPrefix, entity{typing: call, named: true})
	case kSubscript:
		return p.printEntity(r, depth, asPrefix, entity{typing: call, name: "subscript"})
	case kMacro:
		typing := call
		if n.n == 3 {
			typing = colon
		}
		return p.printEntity(r, depth, asPrefix, entity{typing: typing, named: true})
	case kTypeParam, kClass, kStructure, kEnum, kProtocol, kTypeAlias, kOtherNominal:
		return p.printEntity(r, depth, asPrefix, entity{named: true})
	case kMacroAccessor, kMacroMemberAttribute, kMacroMember, kMacroPeer, kMacroConformance, kMacroExtension, kMacroPreamble, kMacroBody:
		if n.n < 4 {
			p.failed = true
			return 0
		}
		extra := forms[k].text + " macro @" + p.nodes[p.kid(r, 2)].text + " expansion #"
		return p.printEntity(r, depth, asPrefix, entity{named: true, extra: extra, number: p.nodes[p.kid(r, 3)].val + 2})
	case kMacroFreestanding, kMacroUnique:
		return p.printEntity(r, depth, asPrefix, entity{named: true, extra: forms[k].text, number: p.nodes[p.kid(r, 2)].val + 2})
	case kExplicitClosure, kImplicitClosure:
		e := entity{typing: call, extra: "closure #", number: p.nodes[p.kid(r, 1)].val + 2}
		if k == kImplicitClosure {
			e.extra = "implicit closure #"
		}
		if p.simple {
			e.typing = untyped
		}
		return p.printEntity(r, depth, asPrefix, e)
	case kInitializer, kWrapperBacking, kWrapperField, kWrapperProjected:
		return p.printEntity(r, depth, asPrefix, entity{extra: forms[k].text})
	case kDefaultArgument:
		return p.printEntity(r, depth, asPrefix, entity{extra: "default argument ", number: p.nodes[p.kid(r, 1)].val + 1})
	case kAllocator:
		return p.printEntity(r, depth, asPrefix, entity{typing: call, extra: p.ofClass(r, "__allocating_init", "init")})
	case kConstructor:
		return p.printEntity(r, depth, asPrefix, entity{typing: call, named: n.n > 2, extra: "init"})
	case kDestructor:
		return p.printEntity(r, depth, asPrefix, entity{extra: "deinit"})
	case kDeallocator:
		return p.printEntity(r, depth, asPrefix, entity{extra: p.ofClass(r, "__deallocating_deinit", "deinit")})
	case kIsolatedDeallocator:
		return p.printEntity(r, depth, asPrefix, entity{extra: p.ofClass(r, "__isolated_deallocating_deinit", "deinit")})
	case kIVarInitializer:
		return p.printEntity(r, depth, asPrefix, entity{extra: "__ivar_initializer"})
	case kIVarDestroyer:
		return p.printEntity(r, depth, asPrefix, entity{extra: "__ivar_destroyer"})
	case kGetter, kSetter, kMaterialize, kWillSet, kDidSet, kRead, kRead2, kModify, kModify2, kInitAccessor, kBorrow, kMutate,
		kOwningAddressor, kOwningMutableAddressor, kNativeOwningAddressor, kNativeOwningMutableAddressor,
		kNativePinningAddressor, kNativePinningMutableAddressor, kUnsafeAddressor, kUnsafeMutableAddressor:
		return p.printAccessor(r, depth, asPrefix)

	case kLocalName:
		p.print(p.kid(r, 1), depth+1, false)
		p.put(" #")
		p.putNumber(p.nodes[p.kid(r, 0)].val + 1)
	case kPrivateName:
		p.printPrivate(r, depth)
	case kExtension:
		if !p.simple {
			p.put("(extension in ")
			p.print(p.kid(r, 0), depth+1, true)
			p.put("):")
		}
		p.print(p.kid(r, 1), depth+1, false)
		if sig := p.kid(r, 2); sig != 0 {
			p.print(sig, depth+1, false)
		}
	case kAnonymousContext:
		if !p.simple {
			p.form(r, "%1.(unknown context at %0)", depth)
			if types := p.kid(r, 2); p.nodes[types].n > 0 {
				p.form(r, "<%2>", depth)
			}
		}
	case kSuffix:
		if !p.simple {
			p.put(" with unmangled suffix ")
			p.quote(n.text)
		}
	case kPartialApply, kPartialApplyObjC:
		if p.simple {
			p.put(forms[k].short)
		} else {
			p.put(forms[k].text)
		}
		if n.n > 0 {
			p.form(r, " for %*", depth)
		}
	case kFunctionSpec, kGenericSpec, kGenericSpecNotReabstracted, kGenericSpecPre, kInlinedGeneric, kPartialSpec, kPartialSpecNotReabstracted:
		p.printSpecialization(r, depth)
	default:
		if f := &forms[k]; p.simple && f.flags&fShort != 0 {
			p.form(r, f.short, depth)
		} else if f.text != "" {
			p.form(r, f.text, depth)
		} else {
			p.printMore(r, depth)
		}
	}
	return 0
}

// ofClass chooses a word by whether an entity stands in a class.
func (p *printer) ofClass(r ref, yes, no string) string {
	if p.nodes[p.kid(r, 0)].kind == kClass {
		return yes
	}
	return no
}

func (p *printer) printPrivate(r ref, depth int) {
	name := p.kid(r, 1)
	if p.simple {
		if name != 0 {
			p.print(name, depth+1, false)
		}
		return
	}
	p.put("(")
	if name != 0 {
		p.print(name, depth+1, false)
		p.put(" ")
	}
	p.put("in ")
	p.put(p.nodes[p.kid(r, 0)].text)
	p.put(")")
}

// quote writes a string as C would.
func (p *printer) quote(s string) {
	const hex = "0123456789ABCDEF"
	p.put(`"`)
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\\', c == '"':
			p.out = append(p.out, '\\', c)
		case c == '\t':
			p.put(`\t`)
		case c == '\n':
			p.put(`\n`)
		case c == '\r':
			p.put(`\r`)
		case c == 0:
			p.put(`\0`)
		case c < 0x20, c >= 0x7f:
			p.out = append(p.out, '\\', 'x', hex[c>>4], hex[c&15])
		default:
			p.out = append(p.out, c)
		}
	}
	p.put(`"`)
}
