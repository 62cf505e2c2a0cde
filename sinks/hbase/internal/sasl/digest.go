package sasl

import (
	"bytes"
	"crypto/cipher"
	"crypto/des"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/rc4"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
)

const (
	// methodToken is HBase's byte for delegation tokens.
	methodToken = 0x52
	// digestURI is how HBase's servers name themselves, all alike.
	digestURI = "null/default"
	// digestOverhead is the most that a token adds to its text: padding, the sum, and the number.
	digestOverhead = 8 + digestTail
	digestTail     = 10 + 2 + 4
)

// Digest is DIGEST-MD5 (RFC 2831) for one connection: a delegation token proves the client's identity, and the server
// proves that it knows the token's password. Its layers are as strong as 3DES and MD5 are: TLS protects better.
type Digest struct {
	Most Layer // the highest layer to take; 0: the server's best

	user, password string
	uri            string
	cnonce         string
	least          Layer
	step           int
	rspauth        string // what the server has to answer
	layer          Layer
	limit          int

	send, take digestWay
}

// digestWay is one direction of the stream.
type digestWay struct {
	key    []byte // of the sum
	number uint32
	block  cipher.BlockMode // 3des, or nil
	stream cipher.Stream    // rc4, or nil
}

// NewDigest begins a handshake with a delegation token. The handshake ends with ErrProtection if the server does not
// offer least or more; else it takes the highest layer that the server offers.
func NewDigest(identifier, password []byte, least Layer) *Digest {
	var nonce [24]byte
	rand.Read(nonce[:]) // never fails
	return &Digest{user: base64.StdEncoding.EncodeToString(identifier), password: base64.StdEncoding.EncodeToString(password),
		uri: digestURI, cnonce: base64.RawURLEncoding.EncodeToString(nonce[:]), least: least}
}

// Name is DIGEST-MD5.
func (d *Digest) Name() string { return "DIGEST-MD5" }

// Method is HBase's byte for tokens.
func (d *Digest) Method() byte { return methodToken }

// Layer is the negotiated protection.
func (d *Digest) Layer() Layer { return d.layer }

// Limit is how many bytes a token may protect, by the server's word.
func (d *Digest) Limit() int { return d.limit }

// Step answers the server's challenge, and then checks its proof.
func (d *Digest) Step(challenge []byte) (response []byte, done bool, err error) {
	d.step++
	switch d.step {
	case 1: // the server begins
		return []byte{}, false, nil
	case 2:
		response, err = d.answer(challenge)
		return response, false, err
	case 3:
		if err := d.check(challenge); err != nil {
			return nil, false, err
		}
		return nil, true, nil
	}
	return nil, false, errors.New("the handshake is over")
}

// Words of the protocol for layers and ciphers, the best first.
var (
	digestLayers = []struct {
		layer Layer
		word  string
	}{{Privacy, "auth-conf"}, {Integrity, "auth-int"}, {Authentication, "auth"}}
	digestCiphers = []string{"3des", "rc4"}
)

// answer makes the response to the server's challenge.
func (d *Digest) answer(b []byte) ([]byte, error) {
	c, err := parseChallenge(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrServer, err)
	}
	var qop, sealed string
	var offered byte
	for _, l := range slices.Backward(digestLayers) {
		if !slices.Contains(c.qop, l.word) {
			continue
		}
		if l.layer == Privacy {
			i := slices.IndexFunc(digestCiphers, func(s string) bool { return slices.Contains(c.ciphers, s) })
			if i < 0 {
				continue
			}
			sealed = digestCiphers[i]
		}
		offered |= byte(l.layer)
		if d.Most > 0 && l.layer > d.Most {
			continue
		}
		d.layer, qop = l.layer, l.word
	}
	if d.layer == 0 || d.layer < d.least {
		return nil, fmt.Errorf("%w: it offers %s, and %s is the least", ErrProtection, layers(offered), max(d.least, Authentication))
	}
	if d.limit = c.maxbuf - digestOverhead; d.limit < leastToken && d.layer != Authentication {
		return nil, fmt.Errorf("the server takes tokens of %d bytes at most: nothing fits in", c.maxbuf)
	}
	secret := md5.Sum([]byte(d.user + ":" + c.realm + ":" + d.password))
	a1 := md5.Sum(slices.Concat(secret[:], []byte(":"+c.nonce+":"+d.cnonce)))
	proof := func(verb string) string {
		a2 := verb + ":" + d.uri
		if d.layer != Authentication {
			a2 += ":00000000000000000000000000000000"
		}
		return hexMD5(hex.EncodeToString(a1[:]) + ":" + c.nonce + ":00000001:" + d.cnonce + ":" + qop + ":" + hexMD5(a2))
	}
	d.rspauth = proof("")
	d.send, err = newDigestWay(a1[:], sealed, "client-to-server", d.layer, true)
	if err == nil {
		d.take, err = newDigestWay(a1[:], sealed, "server-to-client", d.layer, false)
	}
	if err != nil {
		return nil, err
	}
	out := fmt.Sprintf("charset=utf-8,username=%s,realm=%s,nonce=%s,nc=00000001,cnonce=%s,digest-uri=%s,maxbuf=%d,response=%s,qop=%s",
		quote(d.user), quote(c.realm), quote(c.nonce), quote(d.cnonce), quote(d.uri), maxToken, proof("AUTHENTICATE"), qop)
	if sealed != "" && d.layer == Privacy {
		out += ",cipher=" + quote(sealed)
	}
	return []byte(out), nil
}

// check compares the server's proof.
func (d *Digest) check(b []byte) error {
	list, err := directives(b)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrServer, err)
	}
	for _, v := range list {
		if v.name == "rspauth" && hmac.Equal([]byte(v.value), []byte(d.rspauth)) {
			return nil
		}
	}
	return fmt.Errorf("%w: it does not know the token's password", ErrServer)
}

func hexMD5(s string) string {
	sum := md5.Sum([]byte(s))
	return hex.EncodeToString(sum[:])
}

// newDigestWay derives the keys of one direction.
func newDigestWay(a1 []byte, sealed, way string, layer Layer, encrypt bool) (w digestWay, err error) {
	sum := md5.Sum(append(slices.Clone(a1), "Digest session key to "+way+" signing key magic constant"...))
	w.key = sum[:]
	if layer != Privacy {
		return w, nil
	}
	key := md5.Sum(append(slices.Clone(a1), "Digest H(A1) to "+way+" sealing key magic constant"...))
	if sealed == "rc4" {
		w.stream, err = rc4.NewCipher(key[:])
		return w, err
	}
	one, two := desKey(key[:7]), desKey(key[7:14])
	block, err := des.NewTripleDESCipher(slices.Concat(one, two, one))
	if err != nil {
		return w, err
	}
	if encrypt {
		w.block = cipher.NewCBCEncrypter(block, key[8:])
	} else {
		w.block = cipher.NewCBCDecrypter(block, key[8:])
	}
	return w, nil
}

// desKey spreads 7 bytes over 8. The cipher does not use their lowest bits.
func desKey(b []byte) []byte {
	var bits uint64
	for _, v := range b {
		bits = bits<<8 | uint64(v)
	}
	key := make([]byte, 8)
	for i := range key {
		key[i] = byte(bits>>(49-7*i)) << 1
	}
	return key
}

// sum is the first 10 bytes of the HMAC over number and text.
func (w *digestWay) sum(parts ...[]byte) []byte {
	h := hmac.New(md5.New, w.key)
	h.Write(binary.BigEndian.AppendUint32(nil, w.number))
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)[:10]
}

// Wrap appends one token.
func (d *Digest) Wrap(dst []byte, parts ...[]byte) ([]byte, error) {
	w, at := &d.send, len(dst)
	sum := w.sum(parts...)
	for _, p := range parts {
		dst = append(dst, p...)
	}
	if w.block != nil {
		n := 8 - (len(dst)-at+len(sum))%8
		dst = append(dst, bytes.Repeat([]byte{byte(n)}, n)...)
	}
	dst = append(dst, sum...)
	switch text := dst[at:]; {
	case w.block != nil:
		w.block.CryptBlocks(text, text)
	case w.stream != nil:
		w.stream.XORKeyStream(text, text)
	}
	dst = binary.BigEndian.AppendUint32(append(dst, 0, 1), w.number)
	w.number++
	return dst, nil
}

// Unwrap opens a token in place.
func (d *Digest) Unwrap(token []byte) ([]byte, error) {
	w := &d.take
	n := len(token) - 6
	if n < 10 || token[n] != 0 || token[n+1] != 1 || binary.BigEndian.Uint32(token[n+2:]) != w.number || w.block != nil && n%8 != 0 {
		return nil, ErrTampered
	}
	text := token[:n]
	switch {
	case w.block != nil:
		w.block.CryptBlocks(text, text)
	case w.stream != nil:
		w.stream.XORKeyStream(text, text)
	}
	text, sum := text[:n-10], text[n-10:]
	if w.block != nil {
		if len(text) == 0 {
			return nil, ErrTampered
		}
		pad := int(text[len(text)-1])
		if pad < 1 || pad > 8 || pad > len(text) {
			return nil, ErrTampered
		}
		text = text[:len(text)-pad]
	}
	if !hmac.Equal(sum, w.sum(text)) {
		return nil, ErrTampered
	}
	w.number++
	return text, nil
}
