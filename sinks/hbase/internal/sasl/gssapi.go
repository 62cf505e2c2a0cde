package sasl

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/chksumtype"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/symlake/symlake/sinks/hbase/internal/krb"
	"github.com/symlake/symlake/sinks/hbase/internal/rfc4121"
)

const (
	// methodKerberos is HBase's byte for Kerberos.
	methodKerberos = 0x51
	// maxToken is how long a token we say we take, the most that SASL can say. HBase's servers do not keep to it.
	maxToken = 1<<24 - 1
	// leastToken is how long a token a server must take at least, for its limit to be of use.
	leastToken = 256
)

// Flags of RFC 4121, section 4.1.1.1: mutual, replay, sequence, confidentiality, integrity.
const contextFlags = 2 | 4 | 8 | 16 | 32

// kerberosOID begins each token of the handshake, DER-encoded.
var kerberosOID = []byte{0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02}

// Kinds of tokens of the handshake.
const (
	tokenRequest = 0x0100
	tokenReply   = 0x0200
	tokenError   = 0x0300
)

// GSSAPI is Kerberos for one connection. It asks for mutual authentication and chooses a key of its own for each
// connection, so that tokens of one say nothing on another.
type GSSAPI struct {
	Most Layer // the highest layer to take; 0: the server's best

	ticket *krb.Ticket
	least  Layer
	step   int
	auth   types.Authenticator
	w      *rfc4121.Wrapper
	layer  Layer
	limit  int
}

// NewGSSAPI begins a handshake with the ticket's service. The handshake ends with ErrProtection if the server does not
// offer least or more; else it takes the highest layer that the server offers.
func NewGSSAPI(t *krb.Ticket, least Layer) *GSSAPI { return &GSSAPI{ticket: t, least: least} }

// Name is GSSAPI.
func (g *GSSAPI) Name() string { return "GSSAPI" }

// Method is HBase's byte for Kerberos.
func (g *GSSAPI) Method() byte { return methodKerberos }

// Layer is the negotiated protection.
func (g *GSSAPI) Layer() Layer { return g.layer }

// Limit is how many bytes a token may protect, by the server's word.
func (g *GSSAPI) Limit() int { return g.limit }

// Wrap appends one token.
func (g *GSSAPI) Wrap(dst []byte, parts ...[]byte) ([]byte, error) {
	return g.w.Wrap(dst, parts...), nil
}

// Unwrap opens a token in place.
func (g *GSSAPI) Unwrap(token []byte) ([]byte, error) { return g.w.Unwrap(token, false) }

// Step goes through request, reply and the negotiation of the layer.
func (g *GSSAPI) Step(challenge []byte) (response []byte, done bool, err error) {
	g.step++
	switch g.step {
	case 1:
		response, err = g.request()
	case 2:
		if err = g.reply(challenge); err == nil {
			response = []byte{}
		}
	case 3:
		response, err = g.negotiate(challenge)
		done = err == nil
	default:
		err = errors.New("the handshake is over")
	}
	return response, done, err
}

// request makes the first token: the ticket, and a proof that we own it.
func (g *GSSAPI) request() ([]byte, error) {
	auth, err := types.NewAuthenticator(g.ticket.Client.Realm, types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, g.ticket.Client.Name))
	if err != nil {
		return nil, err
	}
	sum := make([]byte, 24) // no channel bindings
	binary.LittleEndian.PutUint32(sum, 16)
	binary.LittleEndian.PutUint32(sum[20:], contextFlags)
	auth.Cksum = types.Checksum{CksumType: chksumtype.GSSAPI, Checksum: sum}
	key := make([]byte, len(g.ticket.Key.KeyValue))
	_, _ = rand.Read(key)
	auth.SubKey = types.EncryptionKey{KeyType: g.ticket.Key.KeyType, KeyValue: key}
	g.auth = auth
	ap, err := messages.NewAPReq(g.ticket.Message, g.ticket.Key, auth)
	if err != nil {
		return nil, err
	}
	types.SetFlag(&ap.APOptions, flags.APOptionMutualRequired)
	b, err := ap.Marshal()
	if err != nil {
		return nil, err
	}
	return frame(tokenRequest, b), nil
}

// frame puts RFC 2743's frame around a message.
func frame(kind uint16, message []byte) []byte {
	n := len(kerberosOID) + 2 + len(message)
	b := []byte{0x60}
	switch {
	case n < 0x80:
		b = append(b, byte(n))
	case n < 1<<16:
		b = append(b, 0x82, byte(n>>8), byte(n))
	default:
		b = append(b, 0x84, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	b = append(b, kerberosOID...)
	b = binary.BigEndian.AppendUint16(b, kind)
	return append(b, message...)
}

// unframe takes the frame off.
func unframe(b []byte) (kind uint16, message []byte, err error) {
	bad := fmt.Errorf("%w: its answer of %d bytes is no Kerberos token", ErrServer, len(b))
	if len(b) < 2 || b[0] != 0x60 {
		return 0, nil, bad
	}
	n, at := int(b[1]), 2
	if n >= 0x80 {
		size := n & 0x7f
		if size < 1 || size > 4 || len(b) < 2+size {
			return 0, nil, bad
		}
		n, at = 0, 2+size
		for _, v := range b[2:at] {
			n = n<<8 | int(v)
		}
	}
	if n != len(b)-at {
		return 0, nil, bad
	}
	rest, ok := bytes.CutPrefix(b[at:], kerberosOID)
	if !ok || len(rest) < 2 {
		return 0, nil, bad
	}
	return binary.BigEndian.Uint16(rest), rest[2:], nil
}

// reply checks the server's proof. Only the ticket's key opens it, and it repeats the time that was sealed in the
// request.
func (g *GSSAPI) reply(b []byte) error {
	kind, message, err := unframe(b)
	if err != nil {
		return err
	}
	switch kind {
	case tokenError:
		var no messages.KRBError
		if err := guard(func() error { return no.Unmarshal(message) }); err != nil {
			return fmt.Errorf("%w: %w", ErrServer, err)
		}
		return fmt.Errorf("the server refuses the ticket: %s", errorcode.Lookup(no.ErrorCode))
	case tokenReply:
	default:
		return fmt.Errorf("%w: a token of kind %04x", ErrServer, kind)
	}
	var part messages.EncAPRepPart
	err = guard(func() error {
		var rep messages.APRep
		if err := rep.Unmarshal(message); err != nil {
			return err
		}
		if rep.EncPart.EType != g.ticket.Key.KeyType {
			return fmt.Errorf("encryption type %d in place of %d", rep.EncPart.EType, g.ticket.Key.KeyType)
		}
		b, err := crypto.DecryptEncPart(rep.EncPart, g.ticket.Key, keyusage.AP_REP_ENCPART)
		if err != nil {
			return err
		}
		return part.Unmarshal(b)
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrServer, err)
	}
	if part.CTime.Unix() != g.auth.CTime.Unix() || part.Cusec != g.auth.Cusec {
		return fmt.Errorf("%w: it answers to another request", ErrServer)
	}
	key, subkey := g.auth.SubKey, false
	if len(part.Subkey.KeyValue) > 0 {
		key, subkey = part.Subkey, true
	}
	g.w, err = rfc4121.New(key, subkey, false, uint64(g.auth.SeqNumber), uint64(uint32(part.SequenceNumber)))
	return err
}

// negotiate answers the server's offer: a byte of layers and the size of the longest token that it takes.
func (g *GSSAPI) negotiate(b []byte) ([]byte, error) {
	offer, err := g.w.Unwrap(b, true)
	if err != nil {
		return nil, err
	}
	if len(offer) != 4 {
		return nil, fmt.Errorf("%w: an offer of %d bytes", ErrTampered, len(offer))
	}
	for _, l := range []Layer{Privacy, Integrity, Authentication} {
		if Layer(offer[0])&l != 0 && (g.Most == 0 || l <= g.Most) {
			g.layer = l
			break
		}
	}
	if g.layer == 0 || g.layer < g.least {
		return nil, fmt.Errorf("%w: it offers %s, and %s is the least", ErrProtection, layers(offer[0]), max(g.least, Authentication))
	}
	answer := []byte{byte(g.layer), 0, 0, 0}
	if g.layer != Authentication {
		most := int(offer[1])<<16 | int(offer[2])<<8 | int(offer[3])
		if most < leastToken {
			return nil, fmt.Errorf("the server takes tokens of %d bytes at most: nothing fits in", most)
		}
		g.w.Privacy = g.layer == Privacy
		g.limit = most - g.w.Overhead()
		answer[1], answer[2], answer[3] = maxToken>>16, maxToken>>8&0xff, maxToken&0xff
	}
	g.w.Privacy = false // for this token
	out := g.w.Wrap(nil, answer)
	g.w.Privacy = g.layer == Privacy
	return out, nil
}

// layers lists the layers of an offer.
func layers(b byte) string {
	var s string
	for _, l := range []Layer{Authentication, Integrity, Privacy} {
		if Layer(b)&l != 0 {
			if s != "" {
				s += ", "
			}
			s += l.String()
		}
	}
	if s == "" {
		return "none"
	}
	return s
}

// guard makes an error of a panic of gokrb5's decoders.
func guard(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed message (%v)", r)
		}
	}()
	return do()
}
