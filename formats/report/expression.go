package report

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// Matching takes time in proportion to the instructions of an expression and the bytes of a line. An
// instruction on a byte is a step.
const (
	maxExpressionBytes = 4 << 10
	maxInstructions    = 1000
	// maxLineSteps is what one line may take: 4 KiB of it with the largest expression, 20 KiB with one of 200
	// instructions. A longer line is no frame.
	maxLineSteps = 1 << 22
)

// ErrExpression ends a Split if the expression took more steps than Options.Steps.
var ErrExpression = errors.New("the expression takes too much time on this text: make it shorter, or send less text at once")

// Expression reads lines as a user describes them, in the manner of ProGuard
// and R8: a regular expression that must take a whole line, in which
//
//	%c  a class, dots between its names     %C  the same with slashes
//	%m  a method                            %f  a field
//	%s  a source file                       %l  a line number
//	%S  both, as in "Main.java:12"          %t  a type
//	%a  types, parted by commas
//
// stand for the parts that are retraced, and "\%" for the sign itself. The first class
// that takes part in a match is the line's. The syntax is RE2's: it has no
// look-around and no references back, which Java's has; \s is Java's.
type Expression struct {
	pattern      *regexp.Regexp
	groups       []exprGroup
	instructions int // about
}

// Steps returns the steps that a line takes; 0: it is too long to be looked at.
func (e *Expression) Steps(line []byte) int64 {
	if n := int64(e.instructions) * int64(len(line)+1); n <= maxLineSteps {
		return n
	}
	return 0
}

// instructions is about how many instructions an expression is compiled to, or a number above most.
func instructions(re *syntax.Regexp, most int) int {
	n := 1
	for _, sub := range re.Sub {
		if n += instructions(sub, most); n > most {
			return n
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCapture:
		n++
	case syntax.OpRepeat:
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

type exprGroup struct {
	variable byte
	index    int // of pattern's
}

// What the variables stand for, as R8 has it. \v is added where Java's \s has it.
const (
	exprName  = `[^\d\s\v\[\];:()<>][^\s\v\[\];:()<>]*`
	exprClass = `(?:` + exprName + `\.)*` + exprName
	exprType  = exprClass + `[\[\]]*`
)

var exprVariables = map[byte]string{
	'c': exprClass,
	'C': `(?:` + exprName + `/)*` + exprName,
	'm': `(?:` + exprName + `|<init>|<clinit>)`,
	'f': exprName,
	's': `(?:(?::+[^\d:\s\v]|[^:])*)`,
	'l': `\d*`,
	'S': `.*`,
	't': exprType,
	'a': `(?:(?:` + exprType + `,[\s\v]*)*` + exprType + `)?`,
}

// exprGroupName begins the names of the groups that stand for variables.
const exprGroupName = "symlake_"

// ParseExpression compiles the source of an expression.
func ParseExpression(source string) (*Expression, error) {
	if len(source) > maxExpressionBytes {
		return nil, fmt.Errorf("expression of %d bytes: want at most %d", len(source), maxExpressionBytes)
	}
	e := &Expression{}
	var b strings.Builder
	b.WriteString(`^(?:`)
	var names []string
	inClass := false
	for i := 0; i < len(source); i++ {
		switch {
		case source[i] == '\\' && i+1 < len(source):
			i++
			switch {
			case source[i] != 's':
				b.WriteString(source[i-1 : i+1])
			case inClass:
				b.WriteString(`\s\v`)
			default:
				b.WriteString(`[\s\v]`)
			}
		case source[i] == '%' && i+1 < len(source):
			i++
			sub, ok := exprVariables[source[i]]
			if !ok {
				return nil, fmt.Errorf("expression: %q is no variable: want %%c, %%C, %%m, %%f, %%s, %%l, %%S, %%t, %%a or \\%%", source[i-1:i+1])
			}
			name := exprGroupName + strconv.Itoa(len(e.groups))
			fmt.Fprintf(&b, `(?P<%s>%s)`, name, sub)
			names = append(names, name)
			e.groups = append(e.groups, exprGroup{variable: source[i]})
		default:
			inClass = source[i] == '[' || inClass && source[i] != ']'
			b.WriteByte(source[i])
		}
	}
	b.WriteString(`)$`)
	tree, err := syntax.Parse(b.String(), syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("expression: %w", exprError(err))
	}
	if e.instructions = instructions(tree, maxInstructions); e.instructions > maxInstructions {
		return nil, fmt.Errorf("expression: it is compiled to more than %d instructions: make it shorter, with smaller repetitions", maxInstructions)
	}
	if e.pattern, err = regexp.Compile(b.String()); err != nil {
		return nil, fmt.Errorf("expression: %w", exprError(err))
	}
	for i := range e.groups {
		if e.groups[i].index = e.pattern.SubexpIndex(names[i]); e.groups[i].index < 0 { // "[" before it is not closed
			return nil, fmt.Errorf("expression: %%%c stands in brackets", e.groups[i].variable)
		}
	}
	return e, nil
}

// exprError leaves out what the user did not write.
func exprError(err error) error {
	if s, ok := err.(*syntax.Error); ok && !strings.Contains(s.Expr, exprGroupName) {
		return fmt.Errorf("%s: %q", s.Code, s.Expr)
	}
	return fmt.Errorf("not a regular expression")
}

// Piece is a part of a line that a variable stands for: [From, To).
type Piece struct {
	Variable byte // its letter
	From, To int
}

// Pieces returns the parts of a line, without its line end, that the expression's variables stand for,
// in the order of the expression; ok is false if the expression does not take the line.
func (e *Expression) Pieces(line []byte) (pieces []Piece, ok bool) {
	at := e.pattern.FindSubmatchIndex(line)
	if at == nil {
		return nil, false
	}
	for _, g := range e.groups {
		if from, to := at[2*g.index], at[2*g.index+1]; from >= 0 {
			pieces = append(pieces, Piece{g.variable, from, to})
		}
	}
	return pieces, true
}
