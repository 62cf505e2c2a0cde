package speedscope

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"

	"github.com/symlake/symlake/formats/internal/json"
	"github.com/symlake/symlake/formats/profile"
	"github.com/symlake/symlake/formats/profile/internal/named"
	"github.com/symlake/symlake/formats/profile/internal/rewrite"
	"github.com/symlake/symlake/formats/report"
	"github.com/symlake/symlake/formats/report/scripts"
)

const (
	// mostValue bounds the bytes of a frame, an event, or a sample.
	mostValue = 16 << 20
	// frameBytes is about what a frame takes.
	frameBytes = 96
)

// Faults of files.
const (
	whyLong   = "a frame or a sample is longer than memory allows, and stays as it came"
	whyFrames = "the file has more frames than memory holds: all stay as they came"
	whyNames  = "the file has more places than memory holds: the rest stays as it came"
	whyIndex  = "a stack names a frame that the file does not have"
	whyOdd    = "the JSON ends early or is damaged: its frames stay as they came"
)

// errOdd says that the second reading of an input found other things than the first.
var errOdd = errors.New("speedscope: the input changed while it was read")

// answer writes the file with answers.
func answer(ctx context.Context, in *profile.Input, out io.Writer, o *profile.Options) error {
	a := &answerer{ctx: ctx, o: o, set: named.New(o.Room() / 2), room: o.Room() / 2}
	if err := a.read(in, nil); err != nil {
		return err
	}
	if a.set.Full {
		o.Counts.Keep(whyNames, "shared.frames")
	}
	if err := a.set.Ask(ctx, o); err != nil {
		return err
	}
	a.number()
	a.writing = true
	w := bufio.NewWriterSize(out, 32<<10)
	if err := a.read(in, w); err != nil {
		return err
	}
	return w.Flush()
}

// answerer answers one file in two readings.
type answerer struct {
	ctx     context.Context
	o       *profile.Options
	r       *rewrite.Reader
	set     *named.Set
	room    int64
	writing bool
	stays   bool      // frames keep their numbers: too many, or damage
	frames  []int32   // by number: of the set; -1: it says no place
	to      [][]int32 // by number: the frames that it becomes, outermost first; nil: all frames stay
	own     []bool    // by number: its frames are written where it stood
	done    []bool    // by number in the file that is written: the frame stands there
	at      int       // the next frame
	text    []byte
	list    []byte
}

// read reads the input once.
func (a *answerer) read(in *profile.Input, out *bufio.Writer) (err error) {
	from, err := in.Open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	a.r, a.at = rewrite.New(from, out), 0
	err = a.r.Run(func() error {
		return a.r.Object(func(key string) error {
			switch c := a.r.Peek(); {
			case key == "shared" && c == '{':
				return a.r.Object(func(key string) error {
					if key == "frames" {
						return a.r.Array(func(int) error { return a.frame() })
					}
					return nil
				})
			case key == "profiles" && c == '[':
				return a.r.Array(func(int) error { return a.profile() })
			}
			return nil
		})
	})
	if err == nil && a.r.Fault != "" && !a.writing {
		a.stays = true
		a.o.Counts.Keep(whyOdd, a.r.Fault)
	}
	return err
}

// take removes the value at hand, and returns it; nil: it is too long, and was copied.
func (a *answerer) take() ([]byte, error) {
	at := a.r.Offset()
	value, whole, err := a.r.Take(mostValue)
	if err == nil && !whole {
		if !a.writing {
			a.stays = true
			a.o.Counts.Keep(whyLong, fmt.Sprintf("byte %#x", at))
		}
		return nil, nil
	}
	return value, err
}

// frame reads a frame.
func (a *answerer) frame() error {
	if a.at&0xfff == 0 && a.ctx.Err() != nil {
		return a.ctx.Err()
	}
	text, err := a.take()
	if err != nil || text == nil {
		return err
	}
	if !a.writing {
		if a.room -= frameBytes; a.room < 0 {
			if !a.stays {
				a.o.Counts.Keep(whyFrames, "shared.frames")
			}
			a.stays = true
			return nil
		}
		a.frames = append(a.frames, a.place(text))
		return nil
	}
	i := a.at
	a.at++
	if a.to == nil {
		a.r.Write(text)
		return nil
	}
	if i >= len(a.frames) {
		return errOdd
	}
	if a.own[i] {
		a.text = a.written(a.text[:0], text, i)
		a.r.Write(a.text)
	}
	return nil
}

// shape is a frame's members, with their places.
type shape struct {
	name, file string
	line, col  int64
	at         map[string][2]int
}

func shapeOf(text []byte) (s shape) {
	s.at = map[string][2]int{}
	j := &json.Walker{Bytes: text}
	j.Object(func(key string) {
		j.Peek()
		from := j.Pos
		switch key {
		case "name":
			s.name = j.Text()
		case "file":
			s.file = j.Text()
		case "line":
			s.line = int64(j.Number())
		case "col":
			s.col = int64(j.Number())
		default:
			return
		}
		s.at[key] = [2]int{from, j.Pos}
	})
	return s
}

// place adds the place of a frame to the set, and returns its number; -1: it says none.
func (a *answerer) place(text []byte) int32 {
	s := shapeOf(text)
	if s.file != "" && !isSource(s.file) && s.line > 0 && s.col > 0 && s.line < 1<<31 && s.col < 1<<31 {
		// The column from 1 is the one behind a function's first, where names are surest.
		if f, ok := scripts.Place("", s.file, uint64(s.line), uint64(s.col)); ok {
			p := named.Place{Kind: named.Script, Frame: f, Function: s.name}
			if id, ok := a.set.Put(p, s.name+"\x00"+s.file+"\x00"+strconv.FormatInt(s.line, 10)+":"+strconv.FormatInt(s.col, 10), false); ok {
				return id
			}
			return -1
		}
	}
	caller := a.o.Frame0 != report.Stepped && a.o.Frame0 != report.Exact
	if id, ok := a.set.Add(s.name, caller); ok {
		return id
	}
	return -1
}

// isSource: the file is a source of another language, and leads through no source map.
func isSource(file string) bool {
	switch path.Ext(file) {
	case ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".m", ".mm", ".rs", ".go", ".java", ".kt", ".py", ".pyx", ".rb", ".swift", ".dart", ".cs", ".s", ".S":
		return true
	}
	return false
}

// number gives the frames their numbers in the file that is written.
func (a *answerer) number() {
	changed := false
	for _, id := range a.frames {
		changed = changed || id >= 0 && a.set.Names(id) != nil
	}
	if a.stays || !changed {
		return
	}
	type function struct {
		named.Function
		of named.Kind
	}
	known := map[function]int32{}
	a.to, a.own = make([][]int32, len(a.frames)), make([]bool, len(a.frames))
	next := int32(0)
	for i, id := range a.frames {
		if id < 0 || a.set.Names(id) == nil {
			a.to[i], a.own[i] = []int32{next}, true
			next++
			continue
		}
		for _, f := range a.set.Names(id) {
			key := function{f, a.set.Place(id).Kind}
			n, there := known[key]
			if !there {
				n = next
				known[key], a.own[i] = n, true
				next++
			}
			a.to[i] = append(a.to[i], n)
		}
	}
	a.done = make([]bool, next)
}

// written appends the frames that stand in the place of frame i, each once in the file.
func (a *answerer) written(to, text []byte, i int) []byte {
	id := a.frames[i]
	if id < 0 || a.set.Names(id) == nil {
		a.done[a.to[i][0]] = true
		return append(to, text...)
	}
	comma := false
	all := a.set.Names(id)
	for k := range all {
		n := a.to[i][k]
		if a.done[n] {
			continue
		}
		a.done[n] = true
		if comma {
			to = append(to, ',')
		}
		comma = true
		to = a.function(to, text, a.set.Place(id), &all[k])
	}
	return to
}

// function appends a frame for a function. Members that the frame has besides stay.
func (a *answerer) function(to, text []byte, p *named.Place, f *named.Function) []byte {
	if f.Inlined {
		text = []byte("{}")
	}
	s := shapeOf(text)
	var edits []rewrite.Edit
	var more []byte
	put := func(key string, value []byte) {
		if at, ok := s.at[key]; ok {
			edits = append(edits, rewrite.Edit{From: at[0], To: at[1], Text: value})
			return
		}
		more = append(append(append(append(more, `,"`...), key...), `":`...), value...)
	}
	name := f.Name
	if p.Kind == named.Java {
		name = p.Text(f)
	}
	put("name", []byte(`"`+json.Quote(name)+`"`))
	if f.File != "" {
		put("file", []byte(`"`+json.Quote(f.File)+`"`))
	}
	if f.Line > 0 {
		put("line", strconv.AppendUint(nil, uint64(f.Line), 10))
		if f.Column > 0 {
			put("col", strconv.AppendUint(nil, uint64(f.Column), 10))
		}
	}
	if len(more) > 0 {
		end := bytes.LastIndexByte(text, '}')
		if bytes.HasSuffix(bytes.TrimRight(text[:end], " \t\r\n"), []byte{'{'}) {
			more = more[1:]
		}
		edits = append(edits, rewrite.Edit{From: end, To: end, Text: more})
	}
	return rewrite.Apply(to, text, edits)
}
