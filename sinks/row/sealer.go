package row

import (
	"bytes"
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Form says what the body of a row is. Durable.
type Form byte

// The forms.
const (
	FormDictionary    Form = 1
	FormRanges        Form = 2
	FormScript        Form = 3
	FormClasses       Form = 4
	FormText          Form = 5
	FormTextDirectory Form = 6
	FormUnwinds       Form = 7
	FormUnwindRules   Form = 8
)

// rowHeader is the clear head of a row's value, before the key check: version and form. Durable.
const rowHeader = 2

// Sealer seals and opens the rows of one load. Safe for concurrent use.
type Sealer struct {
	id    symbol.ID
	load  sinks.Load
	seals *sealer
}

// Sealer returns the sealer of the rows of a load. s is the load's data key.
func (s *Secret) Sealer(id symbol.ID, l sinks.Load) (*Sealer, error) {
	seals, err := newSealer(s.data, forRows)
	if err != nil {
		return nil, err
	}
	return &Sealer{id, l, seals}, nil
}

// Key returns the key of a row. last is inclusive.
func (s *Sealer) Key(k Kind, last uint64) []byte { return rowKey(s.id, s.load, k, last) }

// Seal makes a row of its body.
func (s *Sealer) Seal(k Kind, last uint64, form Form, body []byte) sinks.Row {
	key := s.Key(k, last)
	return sinks.Row{Key: key, Value: s.seals.seal([]byte{version1, byte(form)}, key, body)}
}

// Open opens a row, which must stand under that key and be of that form, and appends its body to dst.
func (s *Sealer) Open(dst, key []byte, r sinks.Row, form Form) ([]byte, error) {
	if !bytes.Equal(key, r.Key) {
		return nil, fmt.Errorf("row %x: %w: the store gave row %x", key, ErrUnauthentic, r.Key)
	}
	if len(r.Value) < rowHeader || r.Value[0] != version1 || r.Value[1] != byte(form) {
		return nil, fmt.Errorf("row %x: %w: want form %d.%d", key, ErrUnauthentic, version1, form)
	}
	body, err := s.seals.open(dst, rowHeader, key, r.Value)
	if err != nil {
		return nil, fmt.Errorf("row %x: %w", key, err)
	}
	return body, nil
}

// move seals a row of s as the same row of the load of to.
func (s *Sealer) move(r sinks.Row, to *Sealer) (sinks.Row, error) {
	if len(r.Key) != KeyBytes || string(r.Key[:prefixBytes]) != string(LoadPrefix(s.id, s.load)) || len(r.Value) < rowHeader {
		return sinks.Row{}, fmt.Errorf("row %x: %w", r.Key, ErrUnauthentic)
	}
	plain, err := s.seals.open(nil, rowHeader, r.Key, r.Value)
	if err != nil {
		return sinks.Row{}, fmt.Errorf("row %x: %w", r.Key, err)
	}
	key := append(LoadPrefix(to.id, to.load), r.Key[prefixBytes:]...)
	return sinks.Row{Key: key, Value: to.seals.seal(r.Value[:rowHeader], key, plain)}, nil
}
