package collapsed

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/internal/named"
	"github.com/symlake/symlake/formats/report"
)

// mostLine bounds the bytes of a line.
const mostLine = 1 << 20

// Faults of lines.
const (
	whyLong  = "a line is longer than a stack may be, and stays as it came"
	whyOdd   = "a line has no count, and stays as it came"
	whyNames = "the profile has more names than memory holds: the rest stays as it came"
)

// eachLine calls take for each line with its end, at its offset. Lines that are too long come in pieces, all but the first
// at -1.
func eachLine(ctx context.Context, in *profile.Input, take func(line []byte, at int64, long bool) error) (err error) {
	from, err := in.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	r := bufio.NewReaderSize(from, 64<<10)
	var held []byte
	at := int64(0)
	goesOn := false
	for n := 0; ; n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		part, err := r.ReadSlice('\n')
		if len(held) > 0 || errors.Is(err, bufio.ErrBufferFull) {
			held = append(held, part...)
			part = held
		}
		if errors.Is(err, bufio.ErrBufferFull) && len(held) < mostLine {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		cut := errors.Is(err, bufio.ErrBufferFull)
		if len(part) > 0 {
			where := at
			if goesOn {
				where = -1
			}
			if bad := take(part, where, cut || goesOn); bad != nil {
				return bad
			}
		}
		goesOn = cut
		at += int64(len(part))
		held = held[:0]
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil
		}
	}
}

// cutLine parts a line into stack and rest. stack is nil for lines without one.
func cutLine(line []byte, long bool) (stack, rest []byte) {
	if long {
		return nil, line
	}
	text := bytes.TrimRight(line, "\r\n")
	if len(text) == 0 || text[0] == '#' {
		return nil, line
	}
	if stack, _ = split(text); stack == nil {
		return nil, line
	}
	return stack, line[len(stack):]
}

// answer writes the stacks with answers.
func answer(ctx context.Context, in *profile.Input, out io.Writer, o *profile.Options) error {
	set := named.New(o.Room())
	returns := o.Frame0
	err := eachLine(ctx, in, func(line []byte, at int64, long bool) error {
		stack, _ := cutLine(line, long)
		if stack == nil {
			switch {
			case long && at >= 0:
				o.Counts.Keep(whyLong, fmt.Sprintf("byte %#x", at))
			case !long && len(bytes.TrimSpace(line)) > 0 && line[0] != '#':
				o.Counts.Keep(whyOdd, fmt.Sprintf("byte %#x", at))
			}
			return nil
		}
		o.Counts.Samples++
		each(stack, returns, func(name string, caller bool) { set.Add(name, caller) })
		return nil
	})
	if err != nil {
		return err
	}
	if set.Full {
		o.Counts.Keep(whyNames, "the profile")
	}
	if err := set.Ask(ctx, o); err != nil {
		return err
	}
	w := bufio.NewWriterSize(out, 32<<10)
	err = eachLine(ctx, in, func(line []byte, _ int64, long bool) error {
		stack, rest := cutLine(line, long)
		if stack == nil {
			_, err := w.Write(line)
			return err
		}
		first := true
		each(stack, returns, func(name string, caller bool) {
			if !first {
				_ = w.WriteByte(';')
			}
			first = false
			id, ok := set.Find(name, caller)
			if !ok || set.Names(id) == nil {
				_, _ = w.WriteString(name)
				return
			}
			put(w, set.Place(id), set.Names(id))
		})
		_, err := w.Write(rest)
		return err
	})
	return errors.Join(err, w.Flush())
}

// put writes the functions that a name became.
func put(w *bufio.Writer, p *named.Place, all []named.Function) {
	for i := range all {
		if i > 0 {
			_ = w.WriteByte(';')
		}
		text := clean(p.Text(&all[i]))
		if all[i].Inlined {
			text, _ = named.Suffix(text)
			text += inlined
		} else if p.Kind == named.Native {
			text += p.Behind
		}
		_, _ = w.WriteString(text)
	}
}

// inlined marks a function that was inlined into the one before it.
const inlined = "_[i]"

// clean replaces what parts stacks and lines.
func clean(name string) string {
	if strings.ContainsAny(name, ";\r\n") {
		return strings.NewReplacer(";", ":", "\r", " ", "\n", " ").Replace(name)
	}
	return name
}

// each calls take for each name of a stack; caller says that an address is where a call returns to.
func each(stack []byte, frame0 report.Frame0, take func(name string, caller bool)) {
	for {
		name, rest, more := bytes.Cut(stack, []byte{';'})
		take(string(name), frame0 != report.Stepped && (more || frame0 == report.Return))
		if !more {
			return
		}
		stack = rest
	}
}
