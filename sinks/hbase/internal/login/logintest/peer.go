package logintest

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/symlake/symlake/sinks/hbase/internal/rfc4121"
)

// Listen serves connections by script, each on a goroutine of its own, until the test ends. The connection closes with
// the script. got returns all bytes that clients sent so far.
func (r *Realm) Listen(t testing.TB, script func(p *Peer) error) (address string, got func() []byte) {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all bytes.Buffer
	var running sync.WaitGroup
	running.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer nc.Close()
				p := r.Peer(nc, func(b []byte) {
					mu.Lock()
					all.Write(b)
					mu.Unlock()
				})
				if err := script(p); err == nil { // what still comes is recorded
					_, _ = io.Copy(io.Discard, p)
				}
			})
		}
	})
	t.Cleanup(func() { l.Close(); running.Wait() })
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return "localhost:" + port, func() []byte {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Clone(all.Bytes())
	}
}

// Peer is the server's end of one connection.
type Peer struct {
	net.Conn
	W     *rfc4121.Wrapper // after Accept
	realm *Realm
	saw   func([]byte)
}

// Peer is the server's end of nc. saw gets all bytes that it reads.
func (r *Realm) Peer(nc net.Conn, saw func([]byte)) *Peer { return &Peer{Conn: nc, realm: r, saw: saw} }

// ErrEnd ends a script that hangs up.
var ErrEnd = errors.New("hang up")

func (p *Peer) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	p.saw(b[:n])
	return n, err
}

// Preamble reads the first 6 bytes and returns the method.
func (p *Peer) Preamble() (byte, error) {
	var b [6]byte
	if _, err := io.ReadFull(p, b[:]); err != nil {
		return 0, err
	}
	if string(b[:4]) != "HBas" {
		return 0, fmt.Errorf("a preamble of %q", b)
	}
	return b[5], nil
}

// Token reads a token, or any piece with a length of 4 bytes.
func (p *Peer) Token() ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(p, head[:]); err != nil {
		return nil, err
	}
	b := make([]byte, min(binary.BigEndian.Uint32(head[:]), 1<<24))
	_, err := io.ReadFull(p, b)
	return b, err
}

// Answer sends a status and a token.
func (p *Peer) Answer(status uint32, token []byte) error {
	return p.Piece(token, binary.BigEndian.AppendUint32(nil, status)...)
}

// Piece sends a piece with its length, behind some bytes.
func (p *Peer) Piece(token []byte, before ...byte) error {
	_, err := p.Write(append(binary.BigEndian.AppendUint32(before, uint32(len(token))), token...))
	return err
}

// Refuse sends an error with the name of a Java class.
func (p *Peer) Refuse(class, text string) error {
	b := binary.BigEndian.AppendUint32(nil, 1)
	_, err := p.Write(data(data(b, []byte(class)), []byte(text)))
	return err
}

// Reply is how Accept answers a request.
type Reply struct {
	Subkey bool                              // the server chooses a key
	Change func(part *messages.EncAPRepPart) // lies inside the seal
	Key    func(k *types.EncryptionKey)      // seals with another key

}

// Accept opens a request and makes the reply.
func (p *Peer) Accept(token []byte, how Reply) ([]byte, error) {
	frame := []byte{0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02}
	i := bytes.Index(token, frame)
	if i < 0 || len(token) < i+len(frame)+2 {
		return nil, errors.New("no frame of Kerberos")
	}
	var req messages.APReq
	if err := req.Unmarshal(token[i+len(frame)+2:]); err != nil {
		return nil, err
	}
	if err := req.Ticket.DecryptEncPart(p.realm.keys, &req.Ticket.SName); err != nil {
		return nil, err
	}
	session := req.Ticket.DecryptedEncPart.Key
	if err := req.DecryptAuthenticator(session); err != nil {
		return nil, err
	}
	auth := req.Authenticator
	part := messages.EncAPRepPart{CTime: auth.CTime, Cusec: auth.Cusec, SequenceNumber: 4242}
	key := auth.SubKey
	if how.Subkey {
		part.Subkey = types.EncryptionKey{KeyType: key.KeyType, KeyValue: make([]byte, len(key.KeyValue))}
		_, _ = rand.Read(part.Subkey.KeyValue)
		key = part.Subkey
	}
	if how.Change != nil {
		how.Change(&part)
	}
	b, err := asn1.Marshal(part)
	if err != nil {
		return nil, err
	}
	if how.Key != nil {
		how.Key(&session)
	}
	sealed, err := crypto.GetEncryptedData(asn1tools.AddASNAppTag(b, asnAppTag.EncAPRepPart), session, keyusage.AP_REP_ENCPART, 0)
	if err != nil {
		return nil, err
	}
	rep, err := asn1.Marshal(messages.APRep{PVNO: iana.PVNO, MsgType: msgtype.KRB_AP_REP, EncPart: sealed})
	if err != nil {
		return nil, err
	}
	p.W, err = rfc4121.New(key, how.Subkey, true, 4242, uint64(auth.SeqNumber))
	inner := append(append(bytes.Clone(frame), 2, 0), asn1tools.AddASNAppTag(rep, asnAppTag.APREP)...)
	return asn1tools.AddASNAppTag(inner, 0), err
}

// Handshake goes through all of it, offers layers and a limit, and returns the client's choice.
func (p *Peer) Handshake(how Reply, layers byte, limit uint32) (choice []byte, err error) {
	if _, err := p.Preamble(); err != nil {
		return nil, err
	}
	token, err := p.Token()
	if err != nil {
		return nil, err
	}
	reply, err := p.Accept(token, how)
	if err != nil {
		return nil, err
	}
	if err := p.Answer(0, reply); err != nil {
		return nil, err
	}
	if _, err := p.Token(); err != nil {
		return nil, err
	}
	if err := p.Answer(0, p.W.Wrap(nil, binary.BigEndian.AppendUint32(nil, uint32(layers)<<24|limit))); err != nil {
		return nil, err
	}
	if token, err = p.Token(); err != nil {
		return nil, err
	}
	choice, err = p.W.Unwrap(token, true)
	if err == nil && len(choice) > 0 {
		p.W.Privacy = choice[0] == 4
	}
	return choice, err
}
