package row

import (
	"fmt"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Reseal gives a copy of l, to be the load next, whose rows are sealed under a data key of its own; row makes of each
// row of l the same row of that load. It is for loads of ranges: where classes stand depends on
// the data key, so those are encoded anew.
func (k *Keyring) Reseal(id symbol.ID, l *Loaded, next sinks.Load) (out *Loaded, row func(sinks.Row) (sinks.Row, error), err error) {
	secret, err := k.unwrapData(id, l)
	if err != nil {
		return nil, nil, err
	}
	old, err := newSealer(secret, forRows)
	if err != nil {
		return nil, nil, err
	}
	fresh, err := NewSecret()
	if err != nil {
		return nil, nil, err
	}
	new, err := newSealer(fresh.data, forRows)
	if err != nil {
		return nil, nil, err
	}
	copied := *l
	copied.Load = next
	k.wrap(&copied, id, fresh.data)
	was := LoadPrefix(id, l.Load)
	return &copied, func(r sinks.Row) (sinks.Row, error) {
		if len(r.Key) != keyBytes || string(r.Key[:prefixBytes]) != string(was) || len(r.Value) < rowHeader {
			return sinks.Row{}, fmt.Errorf("row %x: %w", r.Key, ErrUnauthentic)
		}
		plain, err := old.open(nil, rowHeader, r.Key, r.Value)
		if err != nil {
			return sinks.Row{}, fmt.Errorf("row %x: %w", r.Key, err)
		}
		key := append(LoadPrefix(id, next), r.Key[prefixBytes:]...)
		return sinks.Row{Key: key, Value: new.seal(r.Value[:rowHeader], key, plain)}, nil
	}, nil
}
