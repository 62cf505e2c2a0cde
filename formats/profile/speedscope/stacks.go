package speedscope

import (
	"bytes"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
)

// profile reads one profile.
func (a *answerer) profile() error {
	return a.r.Object(func(key string) error {
		if a.r.Peek() != '[' {
			return nil
		}
		switch key {
		case "samples":
			return a.each(a.stack)
		case "events":
			return a.each(a.event)
		}
		return nil
	})
}

// each replaces the elements of a list.
func (a *answerer) each(text func([]byte) []byte) error {
	if a.writing && a.to == nil {
		return a.r.Skip()
	}
	return a.r.Array(func(i int) error {
		if i&0xfff == 0 && a.ctx.Err() != nil {
			return a.ctx.Err()
		}
		b, err := a.take()
		if err != nil || b == nil {
			return err
		}
		if b = text(b); a.writing {
			a.r.Write(b)
		}
		return nil
	})
}

// stack returns a sample's stack with the numbers that its frames have now.
func (a *answerer) stack(text []byte) []byte {
	if !a.writing {
		a.o.Counts.Samples++
		return nil
	}
	j := &json.Walker{Bytes: text}
	a.list = append(a.list[:0], '[')
	j.Array(func(int) {
		j.Peek()
		from := j.Pos
		j.Skip()
		if len(a.list) > 1 {
			a.list = append(a.list, ',')
		}
		a.list = a.frameNumbers(a.list, text[from:j.Pos])
	})
	return append(a.list, ']')
}

// frameNumbers appends the numbers that a frame has now.
func (a *answerer) frameNumbers(to, text []byte) []byte {
	all := a.now(text)
	if all == nil {
		return append(to, text...)
	}
	for k, n := range all {
		if k > 0 {
			to = append(to, ',')
		}
		to = strconv.AppendInt(to, int64(n), 10)
	}
	return to
}

// now returns the numbers that a frame has now; nil: there is no such frame.
func (a *answerer) now(text []byte) []int32 {
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n < 0 || int(n) >= len(a.to) {
		a.o.Counts.Keep(whyIndex, string(text[:min(len(text), 20)]))
		return nil
	}
	return a.to[n]
}

// event returns an event, or an event for each function that its frame became: inlined functions open last and close first.
func (a *answerer) event(text []byte) []byte {
	if !a.writing {
		if bytes.Contains(text, []byte(`"O"`)) {
			a.o.Counts.Samples++
		}
		return nil
	}
	var at [2]int
	kind := ""
	j := &json.Walker{Bytes: text}
	j.Object(func(key string) {
		j.Peek()
		from := j.Pos
		switch key {
		case "frame":
			j.Skip()
			at = [2]int{from, j.Pos}
		case "type":
			kind = j.Text()
		}
	})
	if at[1] == 0 {
		return text
	}
	all := a.now(text[at[0]:at[1]])
	if all == nil {
		return text
	}
	a.list = a.list[:0]
	for k := range all {
		n := all[k]
		if kind == "C" {
			n = all[len(all)-1-k]
		}
		if k > 0 {
			a.list = append(a.list, ',')
		}
		a.list = append(strconv.AppendInt(append(a.list, text[:at[0]]...), int64(n), 10), text[at[1]:]...)
	}
	return a.list
}
