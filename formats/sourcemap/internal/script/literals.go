package script

import "bytes"

// quoted reads a string.
func (c *cutter) quoted(end byte) error {
	for c.at++; c.at < len(c.script); c.at++ {
		switch c.script[c.at] {
		case end:
			c.at++
			c.seen('a')
			return nil
		case '\\':
			c.at++
		}
	}
	return errCut
}

// template reads on in a template, to its end or a substitution.
func (c *cutter) template() error {
	for ; c.at < len(c.script); c.at++ {
		switch c.script[c.at] {
		case '`':
			c.at++
			c.seen('a')
			return nil
		case '\\':
			c.at++
		case '$':
			if c.at+1 < len(c.script) && c.script[c.at+1] == '{' {
				c.at += 2
				c.push(substitution)
				c.seen('(')
				return nil
			}
		}
	}
	return errCut
}

// slash reads a comment, a regular expression, or a division.
func (c *cutter) slash() error {
	rest := c.script[c.at+1:]
	switch {
	case bytes.HasPrefix(rest, []byte("/")):
		c.skipLine()
		return nil
	case bytes.HasPrefix(rest, []byte("*")):
		end := bytes.Index(rest[1:], []byte("*/"))
		if end < 0 {
			return errCut
		}
		c.newLine = c.newLine || bytes.ContainsAny(rest[:end+1], "\r\n")
		c.at += end + 4
		return nil
	case !c.isRegexp():
		c.at++
		c.seen('/')
		return nil
	}
	class, from := false, c.at
	for c.at++; c.at < len(c.script); c.at++ {
		switch c.script[c.at] {
		case '\n', '\r':
			return errCut
		case '\\':
			c.at++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				c.at++
				c.regexps += from
				c.seen('a')
				return nil
			}
		}
	}
	return errCut
}

// isRegexp: a slash begins a regular expression, by what stands before it.
func (c *cutter) isRegexp() bool {
	switch c.last {
	case 'a':
		return c.word.to > 0 && c.beforeExpression()
	case ']':
		return false
	case ')':
		return c.closed.kind == control
	case '}':
		return c.closed.kind != literal
	}
	return true
}

// beforeExpression: an expression may follow the word.
func (c *cutter) beforeExpression() bool {
	if c.dotted {
		return false
	}
	switch c.text(c.word) {
	case "return", "typeof", "case", "in", "instanceof", "new", "void", "delete", "throw", "yield", "await", "default", "else", "do":
		return true
	}
	return false
}

// skipLine passes a comment over.
func (c *cutter) skipLine() {
	if end := bytes.IndexAny(c.script[c.at:], "\r\n\u2028\u2029"); end >= 0 {
		c.at += end
	} else {
		c.at = len(c.script)
	}
}
