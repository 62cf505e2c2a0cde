// Package callgraph draws programs that call their methods, and writes what tracers would have recorded of them.
package callgraph

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
)

// traceBytes is about the size of a trace.
const traceBytes = 1 << 30

// Calls are to be drawn: the methods that there are, and which is called next.
type Calls struct {
	Methods []string
	Next    Order
}

// Order makes a function that draws the method which another calls, -1: which is called first.
type Order func(d *rand.Rand, methods int) func(caller int) int

// AnyOrder draws all methods whoever calls, few of them often: it is the worst that a trace can do to a cache.
func AnyOrder(d *rand.Rand, methods int) func(int) int {
	often := rand.NewZipf(d, 1.1, 50, uint64(methods-1))
	return func(int) int { return int(often.Uint64()) }
}

// ByCaller draws as programs call: a method calls the same few methods, some of them more often. Methods with
// many callers follow Zipf's law.
func ByCaller(d *rand.Rand, methods int) func(int) int {
	const callees = 12
	called := rand.NewZipf(d, 1.2, 4, uint64(methods-1))
	which := rand.NewZipf(d, 1.5, 2, callees-1)
	names := d.Perm(methods) // what stands together in the mapping is not called together
	of := make([][callees]int32, methods+1)
	return func(caller int) int {
		callee := &of[caller+1][which.Uint64()]
		if *callee == 0 {
			*callee = int32(names[called.Uint64()]) + 1
		}
		return int(*callee - 1)
	}
}

// walk draws a tree of calls. each is told the time in microseconds and the method, -1 for an exit.
func (c *Calls) walk(each func(at uint64, method int, depth int) (written int)) {
	d := rand.New(rand.NewPCG(1, 2))
	next := c.Next(d, len(c.Methods))
	open := []int{-1}
	for at, written := uint64(0), 0; written < traceBytes || len(open) > 1; at += 1 + d.Uint64N(3) {
		depth := len(open) - 1
		if depth > 0 && (written >= traceBytes || depth > 50 || d.IntN(100) < 49) {
			open = open[:depth]
			written += each(at, -1, depth-1)
			continue
		}
		method := next(open[depth])
		written += each(at, method, depth)
		open = append(open, method)
	}
}

// DrawNanoscope writes the calls as Nanoscope does.
func DrawNanoscope(w *bufio.Writer, c *Calls) (err error) {
	c.walk(func(at uint64, method, _ int) (n int) {
		if method < 0 {
			n, err = fmt.Fprintf(w, "%d:POP\n", at*1000)
		} else {
			n, err = fmt.Fprintf(w, "%d:%s\n", at*1000, c.Methods[method])
		}
		return n
	})
	return err
}

// DrawChrome writes the calls as events of Chrome's trace viewer.
func DrawChrome(w *bufio.Writer, c *Calls) (err error) {
	var starts []uint64
	var open []int
	io := func(n int, e error) int {
		err = errors.Join(err, e)
		return n
	}
	io(w.WriteString("["))
	c.walk(func(at uint64, method, depth int) int {
		if method >= 0 {
			starts, open = append(starts, at), append(open, method)
			return 0
		}
		start, of := starts[depth], open[depth]
		starts, open = starts[:depth], open[:depth]
		return io(fmt.Fprintf(w, `{"name":%q,"cat":"method","ph":"X","ts":%d,"dur":%d,"pid":4711,"tid":4711},`+"\n", c.Methods[of], start, at-start))
	})
	io(w.WriteString("{}]"))
	return err
}

// DrawART writes the calls as ART's tracer does, with both clocks.
func DrawART(w *bufio.Writer, c *Calls) error {
	fmt.Fprint(w, "*version\n3\nclock=dual\npid=4711\n*threads\n1\tmain\n*methods\n")
	letters := map[string]string{"boolean": "Z", "byte": "B", "char": "C", "short": "S", "int": "I", "long": "J", "float": "F", "double": "D"}
	for i, m := range c.Methods {
		name, types, _ := strings.Cut(strings.TrimSuffix(m, ")"), "(")
		dot := strings.LastIndexByte(name, '.')
		signature := ""
		for _, t := range strings.Split(types, ", ") {
			bare := strings.TrimRight(t, "[]")
			signature += strings.Repeat("[", (len(t)-len(bare))/2)
			if l, ok := letters[bare]; ok {
				signature += l
			} else if bare != "" {
				signature += "L" + strings.ReplaceAll(bare, ".", "/") + ";"
			}
		}
		fmt.Fprintf(w, "%#x\t%s\t%s\t(%s)V\tSourceFile\n", 4*(i+1), name[:dot], name[dot+1:], signature)
	}
	header := make([]byte, 32)
	copy(header, "SLOW\x03\x00\x20\x00")
	header[16] = 14
	fmt.Fprint(w, "*end\n")
	w.Write(header)
	var open []int
	var err error
	c.walk(func(at uint64, method, depth int) int {
		action := uint32(0)
		if method < 0 {
			method, open, action = open[depth], open[:depth], 1
		} else {
			open = append(open, method)
		}
		b := binary.LittleEndian.AppendUint32([]byte{1, 0}, uint32(4*(method+1))|action)
		b = binary.LittleEndian.AppendUint32(b, uint32(at/2))
		_, err = w.Write(binary.LittleEndian.AppendUint32(b, uint32(at)))
		return len(b) + 4
	})
	return err
}
