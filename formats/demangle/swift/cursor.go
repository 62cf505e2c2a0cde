package swift

// failed is the number that could not be read. It is so far below zero that
// the grammar's small corrections leave it negative.
const failed = -1000

// cursor reads the mangled name. Behind its end it reads NUL bytes, which no
// rule accepts.
type cursor struct {
	in  string
	pos int
}

func (c *cursor) peek() byte {
	if c.pos < len(c.in) {
		return c.in[c.pos]
	}
	return 0
}

func (c *cursor) next() byte {
	if c.pos < len(c.in) {
		c.pos++
		return c.in[c.pos-1]
	}
	return 0
}

// back takes back the byte that next gave. At the end, where next gave
// nothing, it takes back the byte before: Apple's reader does so, and some
// names that are cut short have an answer for it.
func (c *cursor) back() { c.pos-- }

func (c *cursor) accept(b byte) bool {
	if c.pos < len(c.in) && c.in[c.pos] == b {
		c.pos++
		return true
	}
	return false
}

func (c *cursor) acceptAll(s string) bool {
	if len(c.in)-c.pos >= len(s) && c.in[c.pos:c.pos+len(s)] == s {
		c.pos += len(s)
		return true
	}
	return false
}

func digit(b byte) bool { return '0' <= b && b <= '9' }
func lower(b byte) bool { return 'a' <= b && b <= 'z' }
func upper(b byte) bool { return 'A' <= b && b <= 'Z' }

// natural reads a decimal number below 2³¹.
func (c *cursor) natural() int {
	if !digit(c.peek()) {
		return failed
	}
	n := 0
	for digit(c.peek()) {
		n = 10*n + int(c.next()-'0')
		if n > 1<<31-1 {
			return failed
		}
	}
	return n
}

// ordinal reads an index: "_" is 0, "0_" is 1 and so on.
func (c *cursor) ordinal() int {
	if c.accept('_') {
		return 0
	}
	if n := c.natural(); n >= 0 && c.accept('_') {
		return n + 1
	}
	return failed
}

// take reads n bytes.
func (c *cursor) take(n int) (string, bool) {
	if n <= 0 || n > len(c.in)-c.pos {
		return "", false
	}
	c.pos += n
	return c.in[c.pos-n : c.pos], true
}
