package namenode

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// Token is a delegation token: its bearer acts for its owner.
type Token struct {
	Identifier, Password []byte
	Kind, Service        string
}

// DelegationToken asks for a token that renewer may renew. nil: the NameNode gives none. It needs a login by Kerberos.
func (c *Conn) DelegationToken(renewer string) (*Token, error) {
	body, err := c.Call("getDelegationToken", protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), renewer))
	if err != nil {
		return nil, err
	}
	var t *Token
	var inner error
	err = fields(body, func(num protowire.Number, _ uint64, b []byte) {
		if num == 1 {
			t = &Token{}
			inner = t.read(b)
		}
	})
	return t, errors.Join(err, inner)
}

// CancelToken ends a token.
func (c *Conn) CancelToken(t *Token) error {
	b := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), t.Identifier)
	b = protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), t.Password)
	b = protowire.AppendString(protowire.AppendTag(b, 3, protowire.BytesType), t.Kind)
	b = protowire.AppendString(protowire.AppendTag(b, 4, protowire.BytesType), t.Service)
	_, err := c.Call("cancelDelegationToken", protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), b))
	return err
}
