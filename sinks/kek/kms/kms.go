// Package kms uses keys of AWS KMS as key-encryption keys. It is apart from sinks/kek so that a client with a keyset brings
// no AWS.
package kms

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	awskms "github.com/aws/aws-sdk-go-v2/service/kms"
	"github.com/aws/smithy-go"
	tinkkms "github.com/tink-crypto/tink-go-awskms/v3/integration/awskms"
	"github.com/tink-crypto/tink-go/v2/tink"

	"github.com/symlake/symlake/sinks/kek"
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

	pause time.Duration // longestPause, but for tests
}

// Key is a key of AWS KMS, a sinks.KEK. Safe for concurrent use.
type Key struct {
	key         string
	a           tink.AEADWithContext
	credentials aws.CredentialsProvider
}

// Open gets ready to use a key. It asks no server: the first Encrypt or Decrypt looks for credentials
// and uses the key.
func Open(ctx context.Context, o Options) (*Key, error) {
	region, pause := o.Region, cmp.Or(o.pause, longestPause)
	if part := strings.Split(o.Key, ":"); region == "" && len(part) >= 6 && part[0] == "arn" && part[2] == "kms" {
		region = part[3]
	}
	load := []func(*config.LoadOptions) error{
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(r *retry.StandardOptions) { r.MaxAttempts, r.MaxBackoff = attempts, pause })
		}),
		config.WithHTTPClient(awshttp.NewBuildableClient().WithDialerOptions(func(d *net.Dialer) { d.Timeout = connectTime })),
	}
	if region != "" {
		load = append(load, config.WithRegion(region))
	}
	if o.Profile != "" {
		load = append(load, config.WithSharedConfigProfile(o.Profile))
	}
	c, err := config.LoadDefaultConfig(ctx, load...)
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", o.Key, err)
	}
	if c.Region == "" {
		return nil, fmt.Errorf("key %s: its region is not known: give its ARN, or set the region", o.Key)
	}
	client := awskms.NewFromConfig(c, func(k *awskms.Options) {
		if o.Endpoint != "" {
			k.BaseEndpoint = aws.String(o.Endpoint)
		}
	})
	a, err := tinkkms.NewAEADWithContext(ctx, o.Key, tinkkms.WithKMS(client))
	if err != nil {
		return nil, fmt.Errorf("key %s: %w", o.Key, err)
	}
	return &Key{o.Key, a, c.Credentials}, nil
}

// ID is the key as it was named.
func (k *Key) ID() string { return k.key }

// Encrypt is one call of KMS. The additional data stands in its encryption context, in hex.
func (k *Key) Encrypt(ctx context.Context, plain, aad []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	sealed, err := k.a.EncryptWithContext(ctx, plain, aad)
	if err != nil {
		return nil, k.said(ctx, err)
	}
	return sealed, nil
}

// Decrypt is one call of KMS.
func (k *Key) Decrypt(ctx context.Context, sealed, aad []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	plain, err := k.a.DecryptWithContext(ctx, sealed, aad)
	if err != nil {
		return nil, k.said(ctx, err)
	}
	return plain, nil
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
	var api smithy.APIError
	if errors.As(err, &api) {
		text := fmt.Sprintf("key %s: %s: %s", k.key, api.ErrorCode(), strings.TrimSpace(api.ErrorMessage()))
		if why, ok := refusals[api.ErrorCode()]; ok {
			return kek.Refused{Err: fmt.Errorf("%s (%s)", text, why)}
		}
		return fmt.Errorf("%s: %w", text, errService)
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("key %s: %w: no answer: %w", k.key, errService, cause)
	}
	if _, cerr := k.credentials.Retrieve(ctx); cerr != nil {
		return fmt.Errorf("key %s: %w: no credentials of AWS: %w", k.key, errService, innermost(cerr))
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

// errService: the key service gave no answer, or none about the key.
var errService = errors.New("the key service cannot be used at present")
