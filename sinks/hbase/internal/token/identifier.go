package token

import (
	"encoding/binary"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of the identifier of an HBase token.
const (
	fieldUser    = 2
	fieldExpires = 5 // milliseconds since 1970
)

// User is the user that an HBase token stands for; "an unknown user" if the identifier has another form.
func (t Token) User() string {
	if user, _ := t.field(fieldUser); user != "" {
		return user
	}
	return "an unknown user"
}

// Expires is the end of an HBase token; the zero time if the identifier does not tell it.
func (t Token) Expires() time.Time {
	if _, ms := t.field(fieldExpires); ms > 0 && ms < 1<<50 {
		return time.UnixMilli(int64(ms))
	}
	return time.Time{}
}

// field finds a field of an HBase token's identifier: a length of 4 bytes and a message.
func (t Token) field(want protowire.Number) (text string, n uint64) {
	b := t.Identifier
	if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) != uint64(len(b)-4) {
		return "", 0
	}
	for b = b[4:]; len(b) > 0; {
		id, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return "", 0
		}
		b = b[size:]
		if size = protowire.ConsumeFieldValue(id, kind, b); size < 0 {
			return "", 0
		}
		switch {
		case id == want && kind == protowire.BytesType:
			text, _ = protowire.ConsumeString(b)
			return text, 0
		case id == want && kind == protowire.VarintType:
			n, _ = protowire.ConsumeVarint(b)
			return "", n
		}
		b = b[size:]
	}
	return "", 0
}
