package all_test

import (
	"fmt"

	"github.com/symlake/symlake/formats/formattest"
)

// wasmPart is a section of a module; id 0 is a custom one with a title.
type wasmPart struct {
	id    byte
	title string
	body  []byte
}

// wasmOf is a module with these sections.
func wasmOf(parts ...wasmPart) string {
	w := new(blob).u8(0, 'a', 's', 'm', 1, 0, 0, 0)
	for _, p := range parts {
		body := &blob{}
		if p.id == 0 {
			body.vec(p.title)
		}
		body.u8(p.body...)
		w.u8(p.id).uleb(uint64(len(body.b))).u8(body.b...)
	}
	return string(w.b)
}

// vec writes a name with its length before it.
func (w *blob) vec(s string) *blob { w.uleb(uint64(len(s))).u8([]byte(s)...); return w }

// wasmCode is the code section with n empty functions.
func wasmCode(n int) wasmPart {
	w := new(blob).uleb(uint64(n))
	for range n {
		w.u8(2, 0, 0x0b)
	}
	return wasmPart{id: 10, body: w.b}
}

// wasmNames is a name section with n names, which each numbers.
func wasmNames(n int, each func(i int) (index int, name string)) wasmPart {
	list := new(blob).uleb(uint64(n))
	for i := range n {
		index, name := each(i)
		list.uleb(uint64(index)).vec(name)
	}
	return wasmPart{title: "name", body: new(blob).u8(1).uleb(uint64(len(list.b))).u8(list.b...).b}
}

func wasmNamed(n int) wasmPart {
	return wasmNames(n, func(i int) (int, string) { return i, fmt.Sprint("f", i) })
}

var wasmShapes = []formattest.Shape{
	of("wasm/functions", "a.wasm", 20000, func(n int) string { return wasmOf(wasmCode(n), wasmNamed(n)) }),
	of("wasm/names in falling order", "a.wasm", 20000, func(n int) string {
		return wasmOf(wasmCode(n), wasmNames(n, func(i int) (int, string) { return n - 1 - i, fmt.Sprint("f", i) }))
	}),
	of("wasm/names of one function", "a.wasm", 20000, func(n int) string {
		return wasmOf(wasmCode(1), wasmNames(n, func(i int) (int, string) { return 0, fmt.Sprint("f", i) }))
	}),
	of("wasm/imports", "a.wasm", 20000, func(n int) string {
		w := new(blob).uleb(uint64(n))
		for i := range n {
			w.vec("env").vec(fmt.Sprint("f", i)).u8(0, 0)
		}
		return wasmOf(wasmPart{id: 2, body: w.b}, wasmCode(1), wasmNames(1, func(int) (int, string) { return n, "f" }))
	}),
	of("wasm/exports", "a.wasm", 20000, func(n int) string {
		w := new(blob).uleb(uint64(n))
		for i := range n {
			w.vec(fmt.Sprint("f", i)).u8(0).uleb(uint64(i % 100))
		}
		return wasmOf(wasmPart{id: 7, body: w.b}, wasmCode(100))
	}),
	of("wasm/sections", "a.wasm", 20000, func(n int) string {
		parts := make([]wasmPart, n)
		for i := range parts {
			parts[i] = wasmPart{title: fmt.Sprint(".debug_", i)}
		}
		return wasmOf(append(parts, wasmCode(1), wasmNamed(1))...)
	}),
	of("wasm/modules", "a.wasm", 200, func(n int) string {
		w := new(blob).u8(0, 'a', 's', 'm', 13, 0, 1, 0)
		module := wasmOf(wasmCode(1), wasmNamed(1))
		for range n {
			w.u8(1).vec(module)
		}
		return string(w.b)
	}),
	rejects("corrupt", of("wasm/functions without room", "a.wasm", 20000, func(n int) string {
		return wasmOf(wasmPart{id: 10, body: new(blob).uleb(uint64(n)).u8(make([]byte, n)...).b}, wasmNamed(n))
	})),
}
