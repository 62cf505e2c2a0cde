// Package loads writes and reads one load whole: all its rows, sealed. It puts together what the
// packages dictionary, ranges, classes and texts make of the parts.
//
// An [Encoder] takes the pieces of a load in order and writes sealed rows. [Open] unwraps the data key
// of a published load; [Opened] says which row speaks for a position, and opens it. A [Verifier]
// computes the digest of a load from its rows.
//
// It leaves to callers where rows live and which rows they fetch.
package loads

import (
	"fmt"
	"hash"
	"io"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/internal/column"
	"github.com/symlake/symlake/sinks/row"
	"github.com/symlake/symlake/sinks/row/classes"
	"github.com/symlake/symlake/sinks/row/dictionary"
	"github.com/symlake/symlake/sinks/row/ranges"
	"github.com/symlake/symlake/sinks/row/texts"
	"github.com/symlake/symlake/sinks/row/unwinds"
)

// Encoder turns the pieces of one load into sealed rows. After an error it returns that error for
// ever. One goroutine.
type Encoder struct {
	ring   *row.Keyring
	out    *row.Loaded
	secret *row.Secret
	seals  *row.Sealer
	write  func(sinks.Row) error
	coder  *column.Encoder
	form   row.Form
	ranges *ranges.Writer  // of code and scripts; nil: the rows are of classes
	class  *classes.Writer // nil: they are not
	texts  *texts.Writer   // nil: no text came yet
	sum    hash.Hash
	err    error
	beside *beside // codes, seals and writes blocks; nil: the encoder's own goroutine does

	unwinds *unwinds.Writer // nil: no call frame information came yet
}

// NewEncoder begins a load of a, under secret (nil: a new data key), and writes its dictionary if it
// is worth one. Classes need the secret that gave them their positions. write takes the rows in key
// order and may keep them; its error comes back wrapped.
func NewEncoder(k *row.Keyring, a *symbol.Artifact, l sinks.Load, secret *row.Secret, t dictionary.Table, write func(sinks.Row) error) (*Encoder, error) {
	return newEncoder(k, a, l, secret, t, write, nil)
}

// NewEncoderBeside does as NewEncoder, and is not for classes. Another goroutine codes, seals and writes the
// rows while the caller adds runs: each step within guard. Close ends the goroutine, and so does Abort, which may be called after
// Close too.
func NewEncoderBeside(k *row.Keyring, a *symbol.Artifact, l sinks.Load, t dictionary.Table, write func(sinks.Row) error,
	guard func(step func() error) error) (*Encoder, error) {
	return newEncoder(k, a, l, nil, t, write, guard)
}

// newEncoder makes an encoder. guard is nil if it works alone.
func newEncoder(k *row.Keyring, a *symbol.Artifact, l sinks.Load, secret *row.Secret, t dictionary.Table, write func(sinks.Row) error,
	guard func(step func() error) error) (*Encoder, error) {
	kind, form := kindOf(a.Kind)
	if secret == nil {
		if kind == row.Classes {
			return nil, fmt.Errorf("encode %s: classes without the key that gave them their positions", a.ID)
		}
		secret = row.NewSecret()
	}
	seals, err := secret.Sealer(a.ID, l)
	if err != nil {
		return nil, err
	}
	e := &Encoder{ring: k, write: write, secret: secret, seals: seals, coder: column.NewEncoder(), form: form,
		sum: newContent(a), out: &row.Loaded{Load: l, Artifact: *a}}

	key := func(last uint64) []byte { return seals.Key(kind, last) }
	picked := t.Choose()
	e.out.Fence = row.NewFence(len(picked))
	numbers := picked.Numbers(len(t.Strings))
	var content io.Writer = e.sum
	if kind == row.Classes {
		e.class = classes.NewWriter(&t, numbers, e.coder, key, e.emitClasses)
		content = io.Discard // the strings of a dictionary are no content of classes
	} else {
		e.ranges = ranges.NewWriter(t.Strings, numbers, form == row.FormScript, key, e.emitRanges)
		addCount(e.sum, len(picked))
	}
	if guard != nil {
		e.beside = newBeside(guard)
	}
	if len(picked) > 0 {
		e.fail(e.step(func() error { return e.emit(row.Dictionary, 0, row.FormDictionary, t.Encode(e.coder, picked, content)) }))
	}
	return e, e.err
}

// Add encodes a run of code: swept, so after and apart from the runs before. Its Strings must be the
// table's.
func (e *Encoder) Add(r *symbol.Run) error {
	if e.takes(e.form == row.FormRanges) {
		e.fail(e.ranges.Add(r))
	}
	return e.err
}

// AddScript encodes a run of a script, as Add does with code.
func (e *Encoder) AddScript(s *symbol.Script) error {
	if e.takes(e.form == row.FormScript) {
		e.fail(e.ranges.AddScript(s))
	}
	return e.err
}

// AddClass encodes a class. Classes come in the order of their positions, no two of one name.
func (e *Encoder) AddClass(c *classes.Packed) error {
	if e.takes(e.class != nil) {
		e.fail(e.class.Add(c))
	}
	return e.err
}

// AddText stores the text of a source file, which frames name so, beside the rows of a script. Texts
// come after the last run. A text that no reader will be served counts in Loaded.TextsLeft.
func (e *Encoder) AddText(file string, text []byte) error {
	if e.err == nil && e.unwinds != nil {
		e.fail(fmt.Errorf("a text after call frame information"))
	}
	if e.err == nil && e.texts == nil {
		e.end()
		e.texts = texts.NewWriter(e.coder, e.emitText)
	}
	if e.err == nil {
		e.fail(e.texts.Add(file, text))
	}
	return e.err
}

// takes reports whether the encoder has not failed, and fails it if a piece is not of its artifact's
// kind.
func (e *Encoder) takes(kind bool) bool {
	if e.err == nil && (!kind || e.texts != nil || e.unwinds != nil) {
		e.err = fmt.Errorf("encode %s: a run of another kind than its artifact", e.out.Artifact.ID)
	}
	return e.err == nil
}

// fail keeps an error, unless there is one.
func (e *Encoder) fail(err error) {
	if e.err == nil && err != nil {
		e.err = fmt.Errorf("encode %s: %w", e.out.Artifact.ID, err)
	}
}

// Close writes the last block. It returns all fields of the load that an encoder knows: Load,
// Artifact, KeyVersion, WrappedKey, Fence, Rows, Ranges, Members, TextRows, TextsLeft, Unwind,
// UnwindRanges, UnwindBytes, Bytes, Dropped and Digest. The last row speaks for the positions up to the image's end, so holes after the last
// range are as provable as those between.
func (e *Encoder) Close() (*row.Loaded, error) {
	e.end()
	if e.err == nil && e.unwinds != nil {
		e.fail(e.endUnwinds())
	}
	e.Abort()
	if e.err != nil {
		return nil, e.err
	}
	e.err = fmt.Errorf("encode %s: closed", e.out.Artifact.ID)
	e.sum.Sum(e.out.Digest[:0])
	e.ring.Wrap(e.out, e.out.Artifact.ID, e.secret)
	e.coder.Release()
	e.coder = nil
	return e.out, nil
}

// Abort ends the encoder's other goroutine.
func (e *Encoder) Abort() {
	if e.beside != nil {
		e.beside.end()
	}
}

// step runs f, or leaves it to the other goroutine. It returns the error of f, or of an earlier step.
func (e *Encoder) step(f func() error) error {
	if e.beside == nil {
		return f()
	}
	return e.beside.add(f)
}

// end writes what came last: the open block of ranges or classes, or the directory of texts. The second time it does nothing.
func (e *Encoder) end() {
	switch {
	case e.err != nil, e.unwinds != nil:
	case e.texts != nil:
		e.fail(e.texts.Close())
		e.out.TextRows, e.out.TextsLeft = e.texts.Rows, e.texts.Left
	case e.class != nil:
		e.fail(e.class.Close(e.sum))
		e.out.Ranges, e.out.Members, e.out.Dropped = e.class.Classes, e.class.Members, e.class.Dropped
	default:
		e.fail(e.ranges.Close(e.out.Artifact.End))
		if e.beside != nil { // what follows uses the same coder and digest
			e.fail(e.beside.end())
			e.beside = nil
		}
		e.out.Ranges, e.out.Dropped = e.ranges.Ranges, e.ranges.Dropped
	}
}

func (e *Encoder) emitRanges(b *ranges.Full) (next *ranges.Full, err error) {
	code := func() error {
		addBlock(e.sum, b.Last, b.Columns())
		return e.emitBlock(row.Ranges, b.From, b.Last, b.Body(e.coder))
	}
	if e.beside == nil {
		return b, code()
	}
	return e.beside.code(b, code)
}

func (e *Encoder) emitClasses(from, last uint64, body []byte) error {
	return e.emitBlock(row.Classes, from, last, body)
}

// emitBlock writes a block as the row that speaks for [from, last].
func (e *Encoder) emitBlock(k row.Kind, from, last uint64, body []byte) error {
	e.out.Fence = e.out.Fence.Append(from, last)
	e.out.Rows++
	return e.emit(k, last, e.form, body)
}

func (e *Encoder) emitText(position uint64, form row.Form, body []byte, count int, columns [][]byte) error {
	addCount(e.sum, count)
	addBlock(e.sum, position, columns)
	return e.emit(row.Texts, position, form, body)
}

func (e *Encoder) emit(k row.Kind, last uint64, form row.Form, body []byte) error {
	r := e.seals.Seal(k, last, form, body)
	e.out.Bytes += uint64(len(r.Key) + len(r.Value))
	if err := e.write(r); err != nil {
		return fmt.Errorf("write row %x: %w", r.Key, err)
	}
	return nil
}

// kindOf returns the kind and the form of the rows of an artifact.
func kindOf(k symbol.Kind) (row.Kind, row.Form) {
	switch {
	case k.HasClasses():
		return row.Classes, row.FormClasses
	case k == symbol.SourceMap:
		return row.Ranges, row.FormScript
	}
	return row.Ranges, row.FormRanges
}
