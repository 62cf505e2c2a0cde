package android

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

func readDetail(r *pbReader, b []byte) (d pbDetail) {
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			d.name = octal(v.bytes)
		case 2:
			d.data = octal(v.bytes)
		}
	})
	return d
}

// octal returns bytes with an escape for each that is no printable letter of ASCII.
func octal(b []byte) string {
	var out strings.Builder
	for _, c := range b {
		if c >= ' ' && c < 0x7f {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "\\%o", c)
		}
	}
	return out.String()
}

func readFile(r *pbReader, b []byte) (f pbFile) {
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			f.number = v.number
		case 2:
			f.path = v.text()
		case 3:
			f.owner = v.text()
		case 4:
			f.tag = v.number
		}
	})
	return f
}

func readHistory(r *pbReader, b []byte) (records []pbRecord) {
	r.message(b, func(n protowire.Number, v pbValue) {
		if n != 2 || !r.keep() {
			return
		}
		var x pbRecord
		r.message(v.bytes, func(n protowire.Number, v pbValue) {
			switch n {
			case 1:
				for _, f := range r.frame(nil, v.bytes) {
					x.frame = f
				}
			case 2:
				x.fp = v.number
			case 3:
				x.tag = v.number
			}
		})
		records = append(records, x)
	})
	return records
}

func readSignal(r *pbReader, b []byte) (s pbSignal) {
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			s.number = v.number
		case 2:
			s.name = v.text()
		case 3:
			s.code = v.number
		case 4:
			s.codeName = v.text()
		case 5:
			s.hasSender = v.number != 0
		case 6:
			s.senderUID = v.number
		case 7:
			s.senderPID = v.number
		case 8:
			s.hasAddress = v.number != 0
		case 9:
			s.address = v.number
		}
	})
	return s
}

func readCause(r *pbReader, b []byte) (c pbCause) {
	r.message(b, func(n protowire.Number, v pbValue) {
		if n == 1 {
			c.text = v.text()
		}
		if n != 2 {
			return
		}
		r.message(v.bytes, func(n protowire.Number, v pbValue) { // MemoryError
			if n != 3 {
				return
			}
			r.message(v.bytes, func(n protowire.Number, v pbValue) { // HeapObject
				switch n {
				case 3:
					c.allocTID = v.number
				case 4:
					c.allocated = r.frame(c.allocated, v.bytes)
				case 5:
					c.freeTID = v.number
				case 6:
					c.deallocated = r.frame(c.deallocated, v.bytes)
				}
			})
		})
	})
	return c
}

// readThread reads an entry of the map of threads.
func readThread(r *pbReader, b []byte) (t pbThread) {
	r.message(b, func(n protowire.Number, v pbValue) {
		if n == 1 && t.id == 0 {
			t.id = v.number
		}
		if n != 2 {
			return
		}
		r.message(v.bytes, func(n protowire.Number, v pbValue) {
			switch n {
			case 1:
				t.id = v.number
			case 2:
				t.name = v.text()
			case 3:
				if r.keep() {
					t.registers = append(t.registers, readRegister(r, v.bytes))
				}
			case 4:
				t.frames = r.frame(t.frames, v.bytes)
			case 7:
				if r.keep() {
					t.notes = append(t.notes, v.text())
				}
			}
		})
	})
	return t
}

func readRegister(r *pbReader, b []byte) (x pbRegister) {
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			x.name = v.text()
		case 2:
			x.value = v.number
		}
	})
	return x
}

// frame appends a frame.
func (r *pbReader) frame(to []pbFrame, b []byte) []pbFrame {
	if !r.keep() {
		return to
	}
	var f pbFrame
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			f.relPC = v.number
		case 4:
			f.FunctionName = v.text()
		case 5:
			f.offset = v.number
		case 6:
			f.file = v.text()
		case 7:
			f.mapOffset = v.number
		case 8:
			f.build = v.text()
		}
	})
	return append(to, f)
}

func readMap(r *pbReader, b []byte) (m pbMap) {
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			m.begin = v.number
		case 2:
			m.end = v.number
		case 3:
			m.offset = v.number
		case 4:
			m.read = v.number != 0
		case 5:
			m.write = v.number != 0
		case 6:
			m.execute = v.number != 0
		case 7:
			m.name = v.text()
		case 8:
			m.build = v.text()
		case 9:
			m.bias = v.number
		}
	})
	return m
}

func readLog(r *pbReader, b []byte) (l pbLog) {
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			l.name = v.text()
		case 2:
			if !r.keep() {
				return
			}
			var at, tag, text string
			var pid, tid, priority uint64
			r.message(v.bytes, func(n protowire.Number, v pbValue) {
				switch n {
				case 1:
					at = v.text()
				case 2:
					pid = v.number
				case 3:
					tid = v.number
				case 4:
					priority = v.number
				case 5:
					tag = v.text()
				case 6:
					text = v.text()
				}
			})
			const priorities = "!.VDIWEFS"
			level := byte('?')
			if priority < uint64(len(priorities)) {
				level = priorities[priority]
			}
			l.lines = append(l.lines, fmt.Sprintf("%s %5d %5d %c %-8s: %s", at, pid, tid, level, tag, text))
		}
	})
	return l
}
