// Package kms uses keys of AWS KMS as key-encryption keys. It is apart from sinks/kek so that a client with a keyset brings
// no AWS.
//
// It makes KMS's two calls itself: the SDK's client of KMS builds tables of all calls at each start, which takes longer
// than a look-up.
package kms

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/kek/kms/chain"
	"github.com/symlake/symlake/sinks/kek/kms/profile"
)

const (
	// A call is tried so often where KMS is busy or does not answer, with growing pauses up to:
	attempts     = 4
	longestPause = 2 * time.Second
	callTime     = 30 * time.Second
	connectTime  = 5 * time.Second
)

// Options say where a key of AWS KMS is. AWS's own variables and files fill empty fields; the region
// comes from the key's ARN first.
type Options struct {
	Key      string // ARN of a key or alias; with Region also an id or alias/NAME
	Region   string
	Endpoint string
	Profile  string
	// Credentials finds credentials; nil: as package chain does.
	Credentials Credentials

	pause time.Duration // longestPause, but for tests
}

// Credentials finds credentials of AWS. An empty profile is the one in AWS's variables and files.
type Credentials func(ctx context.Context, profile, region string) (aws.CredentialsProvider, error)

// Key is a key of AWS KMS, a sinks.KEK. Safe for concurrent use.
type Key struct {
	key         string
	region, url string
	credentials aws.CredentialsProvider
	http        *http.Client
	pause       time.Duration
}

// Open gets ready to use a key. It asks no server: the first Encrypt or Decrypt looks for credentials
// and uses the key.
func Open(ctx context.Context, o Options) (*Key, error) {
	k, err := open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", o.Key, err)
	}
	return k, nil
}

func open(ctx context.Context, o Options) (*Key, error) {
	settings, err := profile.Load(o.Profile)
	if err != nil {
		return nil, err
	}
	region := o.Region
	if part := strings.Split(o.Key, ":"); region == "" && len(part) >= 6 && part[0] == "arn" && part[2] == "kms" {
		region = part[3]
	}
	if region = cmp.Or(region, settings.Region()); region == "" {
		return nil, errors.New("its region is not known: give its ARN, or set the region")
	}
	client, err := newHTTP(settings.Bundle())
	if err != nil {
		return nil, err
	}
	k := &Key{key: o.Key, region: region, url: cmp.Or(strings.TrimSuffix(o.Endpoint, "/"), settings.Endpoint("kms", region)), http: client, pause: cmp.Or(o.pause, longestPause)}
	if o.Credentials != nil {
		k.credentials, err = o.Credentials(ctx, o.Profile, region)
	} else {
		k.credentials, err = chain.Find(settings, region, client)
	}
	return k, err
}

// ID is the key as it was named.
func (k *Key) ID() string { return k.key }

// Encrypt is one call of KMS. The additional data stands in its encryption context, in hex.
func (k *Key) Encrypt(ctx context.Context, plain, aad []byte) ([]byte, error) {
	a, err := k.ask(ctx, "Encrypt", question{KeyID: k.key, Plaintext: plain, EncryptionContext: bound(aad)})
	return a.CiphertextBlob, err
}

// Decrypt is one call of KMS.
func (k *Key) Decrypt(ctx context.Context, sealed, aad []byte) ([]byte, error) {
	a, err := k.ask(ctx, "Decrypt", question{KeyID: k.key, CiphertextBlob: sealed, EncryptionContext: bound(aad)})
	return a.Plaintext, err
}

// bound is additional data as Tink binds it, too.
func bound(aad []byte) map[string]string {
	if len(aad) == 0 {
		return nil
	}
	return map[string]string{"associatedData": hex.EncodeToString(aad)}
}

func (k *Key) ask(ctx context.Context, operation string, q question) (a answer, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	if a, err = k.call(ctx, operation, q); err != nil {
		return answer{}, k.said(ctx, err)
	}
	return a, nil
}

// refusals are KMS's words for a wrong key, or for a caller that may not use it. All other errors (a
// busy service, absent or old credentials) say nothing of the key.
var refusals = map[string]string{
	"InvalidCiphertextException": "it is not the key that this was sealed with, or the sealed bytes were changed",
	"IncorrectKeyException":      "it is not the key that this was sealed with",
	"AccessDeniedException":      "you may not use it",
	"DisabledException":          "it is disabled",
	"KMSInvalidStateException":   "its state does not allow it",
	"NotFoundException":          "there is no such key",
	"InvalidKeyUsageException":   "it is not a key to encrypt with",
	"InvalidArnException":        "that is no name of a key",
	"ValidationException":        "that is no name of a key",
}

// said puts what came of a call into one line.
func (k *Key) said(ctx context.Context, err error) error {
	var refused *exception
	if errors.As(err, &refused) {
		text := fmt.Sprintf("key %s: %s: %s", k.key, refused.code, strings.TrimSpace(refused.message))
		if why, ok := refusals[refused.code]; ok {
			return kek.Refused{Err: fmt.Errorf("%s (%s)", text, why)}
		}
		return fmt.Errorf("%s: %w", text, errService)
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("key %s: %w: no answer: %w", k.key, errService, cause)
	}
	var none absent
	if errors.As(err, &none) {
		return fmt.Errorf("key %s: %w: no credentials of AWS: %w", k.key, errService, innermost(none.error))
	}
	return fmt.Errorf("key %s: %w: %w", k.key, errService, innermost(err))
}

// innermost returns the cause of an error without the names of the calls around it; a connection's cause keeps its address.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if _, ok := err.(*net.OpError); ok || next == nil {
			return err
		}
		err = next
	}
}

// absent is an error of looking for credentials.
type absent struct{ error }

// errService: the key service gave no answer, or none about the key.
var errService = errors.New("the key service cannot be used at present")
