package row

import (
	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

// Reseal returns a copy of l, to be the load next, with a data key of its own.
// row makes of each row of l the same row of that load. It is for loads of ranges: the positions of
// classes depend on the data key, so classes are encoded anew.
func (k *Keyring) Reseal(id symbol.ID, l *Loaded, next sinks.Load) (out *Loaded, row func(sinks.Row) (sinks.Row, error), err error) {
	secret, err := k.Unwrap(id, l)
	if err != nil {
		return nil, nil, err
	}
	old, err := secret.Sealer(id, l.Load)
	if err != nil {
		return nil, nil, err
	}
	secret = NewSecret()
	fresh, err := secret.Sealer(id, next)
	if err != nil {
		return nil, nil, err
	}
	copied := *l
	copied.Load = next
	k.Wrap(&copied, id, secret)
	return &copied, func(r sinks.Row) (sinks.Row, error) { return old.move(r, fresh) }, nil
}
