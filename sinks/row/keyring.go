package row

import (
	"context"
	"errors"
	"time"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks"
)

var (
	ErrUnauthentic = errors.New("stored bytes are not what was written")
	ErrSealed      = errors.New("key refused or wrong")
	ErrShredded    = errors.New("key destroyed")
	ErrKeyless     = errors.New("store has no keys yet")
)

type Kind uint8

const (
	Dictionary Kind = 0
	Ranges     Kind = 1
	Classes    Kind = 2
)

type Keyring struct{}

func OpenKeyring(ctx context.Context, c sinks.Catalog, kek sinks.KEK) (*Keyring, error) {
	return nil, errSkeleton
}
func CreateKeyring(ctx context.Context, c sinks.Catalog, kek sinks.KEK) (*Keyring, error) {
	return nil, errSkeleton
}
func NewLoad(now time.Time) sinks.Load { return sinks.Load{} }

func LoadPrefix(id symbol.ID, l sinks.Load) []byte {
	return append(append([]byte{}, id[:]...), l[:]...)
}
