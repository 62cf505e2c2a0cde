package row

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// rowHeader is the clear head of a row's value, before the key check: form
// and what the body is. Durable.
const rowHeader = 2

const (
	bodyDictionary    byte = 1
	bodyRanges        byte = 2
	bodyScript        byte = 3
	bodyClasses       byte = 4
	bodyText          byte = 5
	bodyTextDirectory byte = 6
)

// Encoder turns the swept runs of one load into sealed rows. What failed once
// fails ever after. One goroutine.
type Encoder struct {
	ring   *Keyring
	out    *Loaded
	secret []byte
	seals  *sealer
	write  func(sinks.Row) error
	comp   *compressor
	block  *blockWriter
	class  *classEncoder // instead of block, where the rows are of classes
	texts  *texts        // nil: no text came yet
	sum    hash.Hash
	from   uint64 // first position that no row speaks for yet
	end    uint64 // of the range added last
	err    error
}

// NewEncoder begins a load of a, under a data key of its own, and writes its
// dictionary if it is worth one. write takes the rows in key order and may
// keep them; its error comes back wrapped.
func NewEncoder(k *Keyring, a *symbol.Artifact, l sinks.Load, t Table, write func(sinks.Row) error) (*Encoder, error) {
	e := &Encoder{ring: k, write: write, secret: make([]byte, secretBytes), sum: newContent(a),
		out: &Loaded{Load: l, Artifact: *a}}
	rand.Read(e.secret)
	if t.Secret != nil {
		copy(e.secret, t.Secret.data)
	}
	var err error
	if e.seals, err = newSealer(e.secret, forRows); err != nil {
		return nil, err
	}
	e.comp = k.compressor()
	picked := t.choose()
	e.out.Fence = binary.AppendUvarint(nil, uint64(len(picked)))
	var content io.Writer = e.sum
	if rowsOf(a.Kind) == Classes {
		if t.Secret == nil {
			return nil, fmt.Errorf("encode %s: classes without the key that gave them their positions", a.ID)
		}
		e.class = &classEncoder{classWriter: newClassWriter(&t, picked)}
		content = io.Discard // what stands in the dictionary is no content of theirs
	} else {
		e.block = newBlockWriter(t.Strings, picked, rangesForm(a.Kind) == bodyScript)
		addCount(e.sum, len(picked))
	}
	if len(picked) > 0 {
		e.emit(Dictionary, 0, bodyDictionary, encodeDictionary(e.comp, &t, picked, content))
	}
	return e, e.err
}

// Add encodes a run of code: swept, so after and apart from the runs before. Its Strings must be the
// table's.
func (e *Encoder) Add(r *symbol.Run) error {
	if !e.takes(e.block != nil && !e.block.script.is) {
		return e.err
	}
	return e.add(r, nil)
}

// AddScript encodes a run of a script, as Add does with code.
func (e *Encoder) AddScript(s *symbol.Script) error {
	if !e.takes(e.block != nil && e.block.script.is && len(s.Marks) == len(s.Ranges)) {
		return e.err
	}
	strings := uint32(len(e.block.strings))
	for i := range s.Marks {
		if name := s.Marks[i].Name; name >= strings {
			e.err = fmt.Errorf("encode %s: range %d of a script refers to name %d", e.out.Artifact.ID, i, name)
			return e.err
		}
	}
	return e.add(&s.Run, s.Marks)
}

// AddClass encodes a class. Classes come in the order of their positions, no two of one name.
func (e *Encoder) AddClass(c *Packed) error {
	if !e.takes(e.class != nil) {
		return e.err
	}
	return e.addClass(c)
}

// takes reports whether the encoder has not failed, and fails it if a piece is not of its
// artifact's kind.
func (e *Encoder) takes(kind bool) bool {
	if e.err == nil && (!kind || e.texts != nil) {
		e.err = fmt.Errorf("encode %s: a run of another kind than its artifact", e.out.Artifact.ID)
	}
	return e.err == nil
}

// add encodes a run, of a script with the marks of its ranges.
func (e *Encoder) add(r *symbol.Run, marks []symbol.Mark) error {
	if err := e.check(r); err != nil {
		e.err = err
		return err
	}
	w := e.block
	w.begin(r, marks)
	strings := uint32(len(w.strings))
	for i := range r.Ranges {
		g := &r.Ranges[i]
		if g.Scope < 0 || int(g.Scope) >= len(r.Scopes) || g.At.File >= strings {
			e.err = fmt.Errorf("encode %s: range %d of a run refers to scope %d, file %d", e.out.Artifact.ID, i, g.Scope, g.At.File)
			return e.err
		}
		if g.Start < e.end || g.End <= g.Start {
			return e.disorder(g)
		}
		if w.script.is && g.Start>>32 != (g.End-1)>>32 {
			e.err = fmt.Errorf("encode %s: range [%#x, %#x) of a script goes over the end of its line", e.out.Artifact.ID, g.Start, g.End)
			return e.err
		}
		cost := w.cost(i)
		if w.full(g, cost) {
			if e.flush(w.end - 1); e.err != nil {
				return e.err
			}
			w.begin(r, marks)
			cost = w.cost(i)
		}
		if cost > maxBodyBytes-blockSlack {
			// No reader would take the row: the range is left a hole, counted.
			if e.out.Dropped.Ranges++; e.out.Dropped.Ranges == 1 {
				e.out.Dropped.First = g.Start
			}
			e.end = g.End
			continue
		}
		if w.ranges == 0 {
			w.open(e.from)
		}
		if w.script.is {
			w.addPart(g, &marks[i])
		} else {
			w.add(g)
		}
		e.end = g.End
		e.out.Ranges++
	}
	return nil
}

// check refuses a run whose scopes do not refer to each other as they must: a mistake of ours, not of an object.
func (e *Encoder) check(r *symbol.Run) error {
	n := uint32(len(e.block.strings))
	for i := range r.Scopes {
		s := &r.Scopes[i]
		if s.Parent < -1 || int(s.Parent) >= i || s.Function >= n || s.Call.File >= n {
			return fmt.Errorf("encode %s: scope %d of a run refers to parent %d, function %d, file %d",
				e.out.Artifact.ID, i, s.Parent, s.Function, s.Call.File)
		}
	}
	return nil
}

func (e *Encoder) disorder(g *symbol.Range) error {
	id, l := e.out.Artifact.ID, e.out.Load
	e.err = fmt.Errorf("encode %s: range [%#x, %#x) with key %x after one that ends at %#x with key %x",
		id, g.Start, g.End, rowKey(id, l, Ranges, g.End-1), e.end, rowKey(id, l, Ranges, e.end-1))
	return e.err
}

// Close writes the last block and gives all that is known of the load: Load,
// Artifact, KeyVersion, WrappedKey, Fence, Rows, Ranges, TextRows, TextsLeft, Bytes, Dropped and
// Digest. The last row speaks for the positions up to the image's end, so
// holes after the last range are as provable as those between.
func (e *Encoder) Close() (*Loaded, error) {
	if e.err != nil {
		return nil, e.err
	}
	if e.texts == nil {
		if err := e.endRanges(); err != nil {
			return nil, err
		}
	} else if len(e.texts.files) > 0 {
		e.closeTexts()
	}
	if e.err != nil {
		return nil, e.err
	}
	e.err = fmt.Errorf("encode %s: closed", e.out.Artifact.ID)
	e.sum.Sum(e.out.Digest[:0])
	e.ring.wrap(e.out, e.out.Artifact.ID, e.secret)
	e.ring.compressors.Put(e.comp)
	e.comp = nil
	return e.out, nil
}

// endRanges writes what is open of ranges or classes.
func (e *Encoder) endRanges() error {
	if e.class != nil {
		e.closeClasses()
	} else if end := max(e.end, e.out.Artifact.End); end > e.from {
		if e.block.ranges == 0 {
			e.block.open(e.from)
		}
		e.flush(end - 1)
	}
	return e.err
}

// flush writes the open block as the row that speaks for [from, last].
func (e *Encoder) flush(last uint64) {
	e.out.Fence = appendFence(e.out.Fence, e.from, last)
	e.out.Rows++
	if e.block.script.is {
		e.block.endParts(last)
	}
	addBlock(e.sum, last, e.block.cols[:e.block.used])
	e.emit(Ranges, last, rangesForm(e.out.Artifact.Kind), e.block.body(e.comp))
	e.from = last + 1
	e.block.reset()
}

func (e *Encoder) emit(k Kind, last uint64, form byte, body []byte) {
	if e.err != nil {
		return
	}
	key := rowKey(e.out.Artifact.ID, e.out.Load, k, last)
	value := e.seals.seal([]byte{version1, form}, key, body)
	e.out.Bytes += uint64(len(key) + len(value))
	if err := e.write(sinks.Row{Key: key, Value: value}); err != nil {
		e.err = fmt.Errorf("write row %x: %w", key, err)
	}
}

// rangesForm is the form of the rows of ranges of an artifact.
func rangesForm(k symbol.Kind) byte {
	switch k {
	case symbol.SourceMap:
		return bodyScript
	case symbol.R8, symbol.DartNames:
		return bodyClasses
	}
	return bodyRanges
}

// rowsOf is the kind of an artifact's rows.
func rowsOf(k symbol.Kind) Kind {
	if k.HasClasses() {
		return Classes
	}
	return Ranges
}

// newContent begins a digest: identity, base, end, anchors. The order and the
// form of what follows is that of the rows, opened and decoded.
func newContent(a *symbol.Artifact) hash.Hash {
	h := sha256.New()
	var b []byte
	for _, s := range []string{"symlake content 1", string(a.Kind), a.Canonical} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	h.Write(appendLayout(b, a))
	return h
}

func addCount(h hash.Hash, n int) { h.Write(binary.BigEndian.AppendUint64(nil, uint64(n))) }

func addBlock(h hash.Hash, last uint64, cols [][]byte) {
	h.Write(binary.BigEndian.AppendUint64(nil, last))
	for _, c := range cols {
		addCount(h, len(c))
		h.Write(c)
	}
}
