package namenode

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// Defaults are what a NameNode gives new files.
type Defaults struct {
	BlockSize   int64
	Replication int
	Encrypt     bool // DataNodes take and give encrypted blocks only
}

// Defaults asks for them.
func (c *Conn) Defaults() (d Defaults, err error) {
	body, err := c.Call("getServerDefaults", nil)
	if err != nil {
		return d, err
	}
	var inner error
	err = fields(body, func(num protowire.Number, _ uint64, b []byte) {
		inner = errors.Join(inner, fields(b, func(num protowire.Number, v uint64, _ []byte) {
			switch num {
			case 1:
				d.BlockSize = int64(v)
			case 4:
				d.Replication = int(v)
			case 6:
				d.Encrypt = v != 0
			}
		}))
	})
	return d, errors.Join(err, inner)
}

// DataKey is a key for the encryption of blocks. All DataNodes know it.
type DataKey struct {
	ID         int32
	Pool       string
	Nonce, Key []byte
}

// DataKey asks for one.
func (c *Conn) DataKey() (k DataKey, err error) {
	body, err := c.Call("getDataEncryptionKey", nil)
	if err != nil {
		return k, err
	}
	var inner error
	err = fields(body, func(num protowire.Number, _ uint64, b []byte) {
		inner = errors.Join(inner, fields(b, func(num protowire.Number, v uint64, b []byte) {
			switch num {
			case 1:
				k.ID = int32(uint32(v))
			case 2:
				k.Pool = string(b)
			case 3:
				k.Nonce = b
			case 4:
				k.Key = b
			}
		}))
	})
	return k, errors.Join(err, inner)
}
