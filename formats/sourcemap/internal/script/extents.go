package script

import (
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// bracket is an open bracket of a script, or the body of an arrow function that
// is an expression.
type bracket struct {
	kind      js.TokenType // ArrowToken: such a body
	function  *function    // it is the body or the parameters of this one; nil: of none
	control   bool         // the parentheses of if, for and their like
	at        int
	questions int // open ?: in the body of an arrow function
}

// scanner finds where functions begin and end, by the brackets of the script's
// tokens: the syntax tree has no positions. Both come from one library, and meet in the
// order of the functions.
type scanner struct {
	lexer   *js.Lexer
	regexps map[int]bool
	keys    map[int]bool  // of methods
	lists   [3][]function // by keyword, by arrow, by method
	next    [3]int
	stack   []bracket
	classes []int // depths of classes before their bodies

	prev    js.TokenType // that is no space
	prevEnd int          // behind it
	before  js.TokenType // the one before prev
	params  *function    // its parameters are next
	closed  bracket      // closed last
	word    int          // where prev begins
	newLine bool
	failed  bool
}

// scan fills the extents of the functions that w found. It reports whether tokens and tree agree.
func (w *walker) scan(in *parse.Input) bool {
	s := &scanner{lexer: js.NewLexer(in), regexps: make(map[int]bool, len(w.regexps)), keys: make(map[int]bool, len(w.keys)), lists: [3][]function{w.keyword, w.arrow, w.method}}
	for _, at := range w.regexps {
		s.regexps[at] = true
	}
	for _, at := range w.keys {
		s.keys[at] = true
	}
	at := 0
	for {
		tt, data := s.lexer.Next()
		if tt == js.ErrorToken {
			break
		}
		if (tt == js.DivToken || tt == js.DivEqToken) && s.regexps[at] {
			tt, data = s.lexer.RegExp()
		}
		end := at + len(data)
		switch tt {
		case js.WhitespaceToken, js.CommentToken:
		case js.LineTerminatorToken, js.CommentLineTerminatorToken:
			s.newLine = true
		default:
			s.token(tt, at, end)
			s.before, s.prev, s.prevEnd, s.word, s.newLine = s.prev, tt, end, at, false
		}
		at = end
	}
	for len(s.stack) > 0 && s.top().kind == js.ArrowToken {
		s.pop(s.prevEnd)
	}
	for i := range s.lists {
		s.failed = s.failed || s.next[i] != len(s.lists[i])
	}
	return !s.failed && len(s.stack) == 0 && at == len(w.script)
}

func (s *scanner) top() *bracket { return &s.stack[len(s.stack)-1] }

// take is the next function that begins so: 0 by keyword, 1 by arrow, 2 as a method.
func (s *scanner) take(list int) *function {
	if s.next[list] >= len(s.lists[list]) {
		s.failed = true
		return nil
	}
	s.next[list]++
	return &s.lists[list][s.next[list]-1]
}

func (s *scanner) pop(end int) {
	s.closed = *s.top()
	s.stack = s.stack[:len(s.stack)-1]
	if f := s.closed.function; f != nil && s.closed.kind != js.OpenParenToken {
		f.end = end
	}
}

// endArrows ends the bodies that a token ends.
func (s *scanner) endArrows(tt js.TokenType) {
	for len(s.stack) > 0 && s.top().kind == js.ArrowToken {
		t := s.top()
		switch tt {
		case js.CommaToken, js.SemicolonToken, js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken, js.TemplateMiddleToken, js.TemplateEndToken:
		case js.QuestionToken:
			t.questions++
			return
		case js.ColonToken:
			if t.questions > 0 {
				t.questions--
				return
			}
		default:
			if !s.newLine || !endsExpression(s.prev) || !beginsStatement(tt) {
				return
			}
		}
		s.pop(s.prevEnd)
	}
}

func (s *scanner) token(tt js.TokenType, at, end int) {
	s.endArrows(tt)
	if s.prev == js.FunctionToken && s.isKeyword(tt) {
		s.params = s.take(0)
	}
	switch tt {
	case js.ClassToken:
		if s.prev != js.DotToken && s.prev != js.OptChainToken {
			s.classes = append(s.classes, len(s.stack))
		}
	case js.OpenParenToken:
		if k := len(s.classes) - 1; k >= 0 && s.prev == js.ClassToken && s.classes[k] == len(s.stack) {
			s.classes = s.classes[:k] // a method of that name
		}
		b := bracket{kind: tt, at: at, function: s.params, control: s.isControl()}
		if s.params != nil {
			s.params.start, s.params = at, nil
		}
		s.stack = append(s.stack, b)
	case js.OpenBracketToken, js.TemplateStartToken:
		s.stack = append(s.stack, bracket{kind: tt, at: at})
	case js.OpenBraceToken:
		b := bracket{kind: tt, at: at}
		switch k := len(s.classes) - 1; {
		case k >= 0 && s.classes[k] == len(s.stack):
			s.classes = s.classes[:k]
		case s.prev == js.ArrowToken && len(s.stack) > 0 && s.top().kind == js.ArrowToken && s.top().at == s.word:
			b.function = s.top().function // its body is this block, no expression
			s.stack = s.stack[:len(s.stack)-1]
		case s.prev == js.CloseParenToken && s.closed.function != nil:
			b.function = s.closed.function
		case s.prev == js.CloseParenToken && !s.closed.control:
			if b.function = s.take(2); b.function != nil {
				b.function.start = s.closed.at
			}
		}
		s.stack = append(s.stack, b)
	case js.ColonToken:
		if k := len(s.classes) - 1; k >= 0 && s.prev == js.ClassToken && s.classes[k] == len(s.stack) {
			s.classes = s.classes[:k] // a property of that name
		}
	case js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken, js.TemplateEndToken:
		if len(s.stack) == 0 || s.top().kind != opens(tt) {
			s.failed = true
			return
		}
		s.pop(end)
	case js.ArrowToken:
		f := s.take(1)
		if f != nil {
			if f.start = s.word; s.prev == js.CloseParenToken {
				f.start = s.closed.at
			}
		}
		s.stack = append(s.stack, bracket{kind: js.ArrowToken, function: f, at: at})
	}
}

func opens(tt js.TokenType) js.TokenType {
	switch tt {
	case js.CloseParenToken:
		return js.OpenParenToken
	case js.CloseBracketToken:
		return js.OpenBracketToken
	case js.CloseBraceToken:
		return js.OpenBraceToken
	}
	return js.TemplateStartToken
}

// isControl: the parenthesis that comes belongs to a statement, so that a block may follow.
func (s *scanner) isControl() bool {
	if s.before == js.DotToken || s.before == js.OptChainToken || s.keys[s.word] {
		return false
	}
	switch s.prev {
	case js.IfToken, js.ForToken, js.WhileToken, js.SwitchToken, js.WithToken, js.CatchToken:
		return true
	case js.AwaitToken:
		return s.before == js.ForToken
	}
	return false
}

// isKeyword: the token "function", before tt, is not the name of a property or method.
func (s *scanner) isKeyword(tt js.TokenType) bool {
	switch s.before {
	case js.DotToken, js.OptChainToken:
		return false
	}
	return !s.keys[s.word] && tt == js.OpenParenToken || tt == js.MulToken || js.IsIdentifier(tt)
}

// endsExpression: an expression may end with the token.
func endsExpression(tt js.TokenType) bool {
	switch tt {
	case js.CloseParenToken, js.CloseBracketToken, js.CloseBraceToken, js.StringToken, js.TemplateToken, js.TemplateEndToken, js.RegExpToken,
		js.ThisToken, js.SuperToken, js.NullToken, js.TrueToken, js.FalseToken, js.PrivateIdentifierToken, js.IncrToken, js.DecrToken:
		return true
	}
	return js.IsIdentifier(tt) || js.IsNumeric(tt)
}

// beginsStatement: in a new line, the token cannot go on with an expression.
func beginsStatement(tt js.TokenType) bool {
	switch tt {
	case js.InToken, js.InstanceofToken:
		return false
	case js.OpenBraceToken, js.StringToken, js.IncrToken, js.DecrToken, js.PrivateIdentifierToken:
		return true
	}
	return js.IsIdentifierName(tt) || js.IsNumeric(tt)
}
