package row

import (
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

type Fence []byte

type Table struct {
	Strings []string
	Runs    []uint32
}

type Encoder struct{}

func NewEncoder(k *Keyring, a *symbol.Artifact, l sinks.Load, t Table, write func(sinks.Row) error) (*Encoder, error) {
	return nil, errSkeleton
}
func (e *Encoder) Add(r *symbol.Run) error { return errSkeleton }
func (e *Encoder) Close() (*Loaded, error) { return nil, errSkeleton }

type Opened struct{}

func (k *Keyring) Open(id symbol.ID, l *Loaded) (*Opened, error) { return nil, errSkeleton }
func (o *Opened) At(pos uint64) (sinks.Span, bool)               { return sinks.Span{}, false }
func (o *Opened) Row(i int) sinks.Span                           { return sinks.Span{} }
func (o *Opened) Index(pos uint64) (i int, ok bool)              { return 0, false }
func (o *Opened) Rows() int                                      { return 0 }
func (o *Opened) Dictionary() (sinks.Span, bool)                 { return sinks.Span{}, false }
func (o *Opened) SetDictionary(r sinks.Row) error                { return errSkeleton }
func (o *Opened) Block(i int, r sinks.Row) (*Block, error)       { return nil, errSkeleton }

type Block struct{}

func (b *Block) Find(pos uint64, to []symbol.Frame) (frames []symbol.Frame, found bool) {
	return to, false
}
func (b *Block) Bytes() int64                         { return 0 }
func (b *Block) Range(pos uint64) (start, end uint64) { return 0, 0 }
func (b *Block) Each(emit func(start, end uint64, chain []symbol.Frame) error) error {
	return errSkeleton
}
