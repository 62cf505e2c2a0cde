package msvc

// Texts of the codes of operators and of functions that the compiler makes, behind "?", "?_" and "?__", a digit or a letter.
// Codes without a text are read elsewhere, or are none.
var (
	plainOperators = ['Z' + 1]string{
		'2': "operator new", '3': "operator delete", '4': "operator=", '5': "operator>>", '6': "operator<<", '7': "operator!", '8': "operator==", '9': "operator!=",
		'A': "operator[]", 'C': "operator->", 'D': "operator*", 'E': "operator++", 'F': "operator--",
		'G': "operator-", 'H': "operator+", 'I': "operator&", 'J': "operator->*", 'K': "operator/",
		'L': "operator%", 'M': "operator<", 'N': "operator<=", 'O': "operator>", 'P': "operator>=",
		'Q': "operator,", 'R': "operator()", 'S': "operator~", 'T': "operator^", 'U': "operator|",
		'V': "operator&&", 'W': "operator||", 'X': "operator*=", 'Y': "operator+=", 'Z': "operator-=",
	}
	underOperators = ['Z' + 1]string{
		'0': "operator/=", '1': "operator%=", '2': "operator>>=", '3': "operator<<=", '4': "operator&=", '5': "operator|=", '6': "operator^=",
		'D': "`vbase dtor'", 'E': "`vector deleting dtor'", 'F': "`default ctor closure'", 'G': "`scalar deleting dtor'",
		'H': "`vector ctor iterator'", 'I': "`vector dtor iterator'", 'J': "`vector vbase ctor iterator'",
		'K': "`virtual displacement map'", 'L': "`eh vector ctor iterator'", 'M': "`eh vector dtor iterator'",
		'N': "`eh vector vbase ctor iterator'", 'O': "`copy ctor closure'", 'T': "`local vftable ctor closure'",
		'U': "operator new[]", 'V': "operator delete[]",
	}
	doubleOperators = ['Z' + 1]string{
		'A': "`managed vector ctor iterator'", 'B': "`managed vector dtor iterator'", 'C': "`EH vector copy ctor iterator'",
		'D': "`EH vector vbase copy ctor iterator'", 'G': "`vector copy ctor iterator'", 'H': "`vector vbase copy constructor iterator'",
		'I': "`managed vector vbase copy constructor iterator'", 'L': "operator co_await", 'M': "operator<=>",
	}
)

// special reads a name that is a code.
func (r *reader) special() ref {
	table := &plainOperators
	switch {
	case r.acceptText("__"):
		if table = &doubleOperators; r.accept('K') {
			x := r.word()
			if x != 0 {
				r.nodes[x].kind = kLiteral
			}
			return x
		}
	case r.accept('_'):
		table = &underOperators
	}
	c := r.take()
	if c > 'Z' {
		return r.fail()
	}
	if table == &plainOperators {
		switch c {
		case '0', '1':
			return r.push(node{kind: kStructor, on: c == '1'})
		case 'B':
			return r.push(node{kind: kConversion})
		}
	}
	if table[c] == "" {
		return r.fail()
	}
	return r.made(kOperator, table[c])
}
