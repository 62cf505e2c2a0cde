// Package kmstest is a key service for tests: the part of AWS KMS that symlake uses, in AWS's JSON 1.1
// protocol over HTTP on the loopback interface. It refuses what KMS refuses, in KMS's words.
package kmstest

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Region and Account are parts of every key's ARN.
const (
	Region  = "eu-central-1"
	Account = "111122223333"
)

// Server is a key service. Its fields may be set between calls, under Change.
type Server struct {
	URL string

	mu      sync.Mutex
	keys    map[string]*key // by ARN
	aliases map[string]string
	calls   []Call
	faults  []Fault
}

type key struct {
	arn   string
	aead  cipher.AEAD
	state string // Enabled, Disabled, PendingDeletion
	deny  map[string]bool
}

// Call is one request as it came.
type Call struct {
	Operation string // Encrypt, Decrypt
	Key       string // as it was named; "": Decrypt without one
	Context   map[string]string
	Access    string // access key id of the signature
}

// Fault is what a request gets instead of an answer.
type Fault struct {
	Status int    // of HTTP; 0: the connection is cut
	Code   string // an exception of KMS
}

// New starts a service that ends with the test, and makes a key.
func New(t testing.TB) (s *Server, arn string) {
	t.Helper()
	s = &Server{keys: map[string]*key{}, aliases: map[string]string{}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	s.URL = h.URL
	return s, s.AddKey("alias/symlake")
}

// AddKey makes a key, with an alias unless that is empty.
func (s *Server) AddKey(alias string) (arn string) {
	var id [16]byte
	rand.Read(id[:])
	arn = fmt.Sprintf("arn:aws:kms:%s:%s:key/%x-%x-%x-%x-%x", Region, Account, id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	secret := make([]byte, 32)
	rand.Read(secret)
	block, err := aes.NewCipher(secret)
	if err != nil {
		panic(err) // 32 bytes are a key
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[arn] = &key{arn: arn, aead: aead, state: "Enabled", deny: map[string]bool{}}
	if alias != "" {
		s.aliases[alias] = arn
	}
	return arn
}

// SetState makes a key Enabled, Disabled or PendingDeletion.
func (s *Server) SetState(arn, state string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[arn].state = state
}

// Deny takes operations on a key from everybody; none gives all back.
func (s *Server) Deny(arn string, operations ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys[arn].deny = map[string]bool{}
	for _, op := range operations {
		s.keys[arn].deny[op] = true
	}
}

// Fail makes the next requests fail so.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = slices.Clone(faults)
}

// Calls returns the requests since the last call of Calls.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := s.calls
	s.calls = nil
	return calls
}

// request and answer are the bodies of Encrypt and Decrypt; bytes are base64 in JSON.
type request struct {
	KeyId             string
	Plaintext         []byte
	CiphertextBlob    []byte
	EncryptionContext map[string]string
}

type answer struct {
	KeyId               string
	Plaintext           []byte `json:",omitempty"`
	CiphertextBlob      []byte `json:",omitempty"`
	EncryptionAlgorithm string
}

// exception is what KMS answers with instead.
type exception struct {
	Type    string `json:"__type"`
	Message string `json:"message"`
}

const contentType = "application/x-amz-json-1.1"

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(status int, code, message string) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("X-Amzn-Requestid", "test")
		w.WriteHeader(status)
		json.NewEncoder(w).Encode(exception{code, message})
	}
	op, ok := strings.CutPrefix(r.Header.Get("X-Amz-Target"), "TrentService.")
	var q request
	switch err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&q); {
	case r.Method != http.MethodPost || r.Header.Get("Content-Type") != contentType || !ok:
		refuse(http.StatusBadRequest, "UnknownOperationException", "")
		return
	case err != nil:
		refuse(http.StatusBadRequest, "SerializationException", err.Error())
		return
	}
	access, signed := signature(r)
	s.calls = append(s.calls, Call{op, q.KeyId, q.EncryptionContext, access})
	if len(s.faults) > 0 {
		f := s.faults[0]
		s.faults = s.faults[1:]
		if f.Status == 0 {
			panic(http.ErrAbortHandler)
		}
		refuse(f.Status, f.Code, "as the test wants")
		return
	}
	if !signed {
		refuse(http.StatusForbidden, "MissingAuthenticationTokenException", "Missing Authentication Token")
		return
	}
	a, code, message := s.do(op, q)
	if code != "" {
		refuse(http.StatusBadRequest, code, message)
		return
	}
	w.Header().Set("Content-Type", contentType)
	json.NewEncoder(w).Encode(a)
}

// signature returns the signer's access key, as version 4 of AWS's signatures names it.
func signature(r *http.Request) (access string, ok bool) {
	rest, ok := strings.CutPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=")
	access, scope, _ := strings.Cut(rest, "/")
	return access, ok && strings.Contains(scope, "/"+Region+"/kms/aws4_request") && r.Header.Get("X-Amz-Date") != ""
}

func (s *Server) do(op string, q request) (a answer, code, message string) {
	var k *key
	var sealed []byte
	switch {
	case op == "Decrypt":
		// A ciphertext names its key: 32 bytes of the hash of its ARN.
		if len(q.CiphertextBlob) < sha256.Size {
			return a, "InvalidCiphertextException", ""
		}
		of, rest := q.CiphertextBlob[:sha256.Size], q.CiphertextBlob[sha256.Size:]
		sealed = rest
		for arn, other := range s.keys {
			if sum := sha256.Sum256([]byte(arn)); bytes.Equal(sum[:], of) {
				k = other
			}
		}
		if q.KeyId != "" {
			named := s.find(q.KeyId)
			if named == nil {
				return a, "NotFoundException", fmt.Sprintf("Key '%s' does not exist", q.KeyId)
			}
			if k != nil && k != named {
				return a, "IncorrectKeyException", "The key ID in the request does not identify a CMK that can perform this operation."
			}
		}
		if k == nil {
			return a, "InvalidCiphertextException", ""
		}
	case op == "Encrypt":
		if k = s.find(q.KeyId); k == nil {
			return a, "NotFoundException", fmt.Sprintf("Key '%s' does not exist", q.KeyId)
		}
		if len(q.Plaintext) == 0 || len(q.Plaintext) > 4096 {
			return a, "ValidationException", "1 validation error detected: Value at 'plaintext' failed to satisfy constraint"
		}
	default:
		return a, "UnknownOperationException", ""
	}
	switch {
	case k.deny[op]:
		return a, "AccessDeniedException", fmt.Sprintf("User: arn:aws:iam::%s:user/test is not authorized to perform: kms:%s on resource: %s", Account, op, k.arn)
	case k.state == "Disabled":
		return a, "DisabledException", k.arn + " is disabled."
	case k.state != "Enabled":
		return a, "KMSInvalidStateException", k.arn + " is pending deletion."
	}
	aad := encryptionContext(q.EncryptionContext)
	a = answer{KeyId: k.arn, EncryptionAlgorithm: "SYMMETRIC_DEFAULT"}
	if op == "Encrypt" {
		sum := sha256.Sum256([]byte(k.arn))
		a.CiphertextBlob = k.aead.Seal(sum[:], nil, q.Plaintext, aad)
		return a, "", ""
	}
	plain, err := k.aead.Open(nil, nil, sealed, aad)
	if err != nil {
		return a, "InvalidCiphertextException", ""
	}
	a.Plaintext = plain
	return a, "", ""
}

// find gives a key by ARN, id, alias or ARN of an alias.
func (s *Server) find(name string) *key {
	prefix := fmt.Sprintf("arn:aws:kms:%s:%s:", Region, Account)
	short := strings.TrimPrefix(name, prefix)
	if arn, ok := s.aliases[short]; ok {
		return s.keys[arn]
	}
	if k := s.keys[name]; k != nil {
		return k
	}
	return s.keys[prefix+"key/"+short]
}

// encryptionContext is a form of it that does not depend on its order.
func encryptionContext(c map[string]string) (b []byte) {
	names := make([]string, 0, len(c))
	for n := range c {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		for _, text := range []string{n, c[n]} {
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
		}
	}
	return b
}
