package cxx

// level is how tightly an expression binds: the lower, the tighter.
type level uint8

const (
	primary level = iota
	postfix
	unary
	casting
	toMember
	multiplicative
	additive
	shift
	spaceship
	relational
	equality
	bitAnd
	bitXor
	bitOr
	logicAnd
	logicOr
	conditional
	assignment
	comma
)

// shape is how an operator stands in an expression.
type shape uint8

const (
	noShape shape = iota // of names alone, or not of the common part
	binary
	prefix
	suffix
	memberOf
	indexed
	called
	converted
	namedCast
	ofType // of a type in brackets
	ofExpression
	choice
)

// operator is an operator of expressions.
type operator struct {
	sign  string
	shape shape
	level level
}

// operators are the operators that functions are named after.
var operators = map[[2]byte]operator{
	{'a', 'N'}: {"&=", binary, assignment}, {'a', 'S'}: {"=", binary, assignment},
	{'a', 'a'}: {"&&", binary, logicAnd}, {'a', 'd'}: {"&", prefix, unary}, {'a', 'n'}: {"&", binary, bitAnd},
	{'c', 'l'}: {"()", called, postfix}, {'c', 'm'}: {",", noShape, comma}, {'c', 'o'}: {"~", prefix, unary},
	{'d', 'V'}: {"/=", binary, assignment}, {'d', 'a'}: {" delete[]", noShape, unary}, {'d', 'e'}: {"*", prefix, unary},
	{'d', 'l'}: {" delete", noShape, unary}, {'d', 'v'}: {"/", binary, multiplicative},
	{'e', 'O'}: {"^=", binary, assignment}, {'e', 'o'}: {"^", binary, bitXor}, {'e', 'q'}: {"==", binary, equality},
	{'g', 'e'}: {">=", binary, relational}, {'g', 't'}: {">", noShape, relational}, {'i', 'x'}: {"[]", indexed, postfix},
	{'l', 'S'}: {"<<=", binary, assignment}, {'l', 'e'}: {"<=", binary, relational}, {'l', 's'}: {"<<", binary, shift},
	{'l', 't'}: {"<", binary, relational}, {'m', 'I'}: {"-=", binary, assignment}, {'m', 'L'}: {"*=", binary, assignment},
	{'m', 'i'}: {"-", binary, additive}, {'m', 'l'}: {"*", binary, multiplicative}, {'m', 'm'}: {"--", suffix, postfix},
	{'n', 'a'}: {" new[]", noShape, unary}, {'n', 'e'}: {"!=", binary, equality}, {'n', 'g'}: {"-", prefix, unary},
	{'n', 't'}: {"!", prefix, unary}, {'n', 'w'}: {" new", noShape, unary}, {'o', 'R'}: {"|=", binary, assignment},
	{'o', 'o'}: {"||", binary, logicOr}, {'o', 'r'}: {"|", binary, bitOr}, {'p', 'L'}: {"+=", binary, assignment},
	{'p', 'l'}: {"+", binary, additive}, {'p', 'm'}: {"->*", memberOf, toMember}, {'p', 'p'}: {"++", suffix, postfix},
	{'p', 's'}: {"+", prefix, unary}, {'p', 't'}: {"->", memberOf, postfix}, {'r', 'M'}: {"%=", binary, assignment},
	{'r', 'S'}: {">>=", binary, assignment}, {'r', 'm'}: {"%", binary, multiplicative}, {'r', 's'}: {">>", noShape, shift},
	{'s', 's'}: {"<=>", binary, spaceship},
}

// more are operators that none is.
var more = map[[2]byte]operator{
	{'a', 't'}: {"alignof ", ofType, unary}, {'a', 'z'}: {"alignof ", ofExpression, unary}, {'s', 't'}: {"sizeof ", ofType, unary},
	{'s', 'z'}: {"sizeof ", ofExpression, unary}, {'n', 'x'}: {"noexcept ", ofExpression, unary},
	{'c', 'c'}: {"const_cast", namedCast, postfix}, {'d', 'c'}: {"dynamic_cast", namedCast, postfix},
	{'r', 'c'}: {"reinterpret_cast", namedCast, postfix}, {'s', 'c'}: {"static_cast", namedCast, postfix},
	{'c', 'v'}: {"", converted, casting}, {'d', 't'}: {".", memberOf, postfix}, {'d', 's'}: {".*", memberOf, toMember},
	{'q', 'u'}: {"?", choice, conditional},
}
