package kms

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// question and answer are the bodies of KMS's calls. Bytes are base64 in JSON.
type question struct {
	KeyID             string            `json:"KeyId"`
	Plaintext         []byte            `json:",omitempty"`
	CiphertextBlob    []byte            `json:",omitempty"`
	EncryptionContext map[string]string `json:",omitempty"`
}

type answer struct {
	Plaintext      []byte
	CiphertextBlob []byte
}

// answerBytes bounds an answer: KMS takes and gives some KiB.
const answerBytes = 1 << 20

// exception is KMS's answer instead of one.
type exception struct {
	status        int
	code, message string
	date          time.Time // KMS's clock
}

func (e *exception) Error() string { return fmt.Sprintf("%s: %s", e.code, e.message) }

// newHTTP returns a client that trusts the certificates in a file, too; "": only the system's certificates.
func newHTTP(bundle string) (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: connectTime}).DialContext
	if bundle != "" {
		text, err := os.ReadFile(bundle)
		if err != nil {
			return nil, fmt.Errorf("read AWS's certificates: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s has no certificate", bundle)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{Transport: transport}, nil
}

// call makes one call of KMS, again while KMS is busy or out of reach.
func (k *Key) call(ctx context.Context, operation string, q question) (a answer, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return a, err
	}
	var skew time.Duration // of KMS's clock to ours
	for tries := 1; ; tries++ {
		a, err = k.once(ctx, operation, body, skew)
		if err == nil || tries == attempts || !passing(err) || ctx.Err() != nil {
			return a, err
		}
		var e *exception
		if errors.As(err, &e) && clock(e.code) {
			skew = time.Until(e.date)
		}
		pause := time.NewTimer(min(k.pause, time.Duration(rand.Float64()*float64(time.Second<<tries))))
		select {
		case <-ctx.Done():
			pause.Stop()
			return a, err
		case <-pause.C:
		}
	}
}

// once makes a call as KMS's protocol wants it, AWS JSON 1.1 with a signature.
func (k *Key) once(ctx context.Context, operation string, body []byte, skew time.Duration) (a answer, err error) {
	c, err := k.credentials.Retrieve(ctx)
	if err != nil {
		return a, absent{err}
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, k.url+"/", bytes.NewReader(body))
	if err != nil {
		return a, err
	}
	q.Header.Set("Content-Type", "application/x-amz-json-1.1")
	q.Header.Set("X-Amz-Target", "TrentService."+operation)
	sum := sha256.Sum256(body)
	if err := v4.NewSigner().SignHTTP(ctx, c, q, hex.EncodeToString(sum[:]), "kms", k.region, time.Now().Add(skew)); err != nil {
		return a, err
	}
	r, err := k.http.Do(q)
	if err != nil {
		return a, err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(io.LimitReader(r.Body, answerBytes))
	if err != nil {
		return a, err
	}
	if r.StatusCode != http.StatusOK {
		return a, newException(r, text)
	}
	if err := json.Unmarshal(text, &a); err != nil {
		return a, fmt.Errorf("KMS answered no JSON: %w", err)
	}
	return a, nil
}

func newException(r *http.Response, text []byte) *exception {
	e := &exception{status: r.StatusCode}
	var said struct {
		Type    string `json:"__type"`
		Code    string `json:"code"`
		Message string `json:"message"` // Message, too: names of JSON match in any case
	}
	_ = json.Unmarshal(text, &said) // a proxy may answer with a page: then the status must do
	for _, code := range []string{r.Header.Get("X-Amzn-Errortype"), said.Type, said.Code, r.Status} {
		if code != "" {
			code, _, _ = strings.Cut(code, ":") // NAME:URL
			e.code = code[strings.LastIndexByte(code, '#')+1:]
			break
		}
	}
	e.message = said.Message
	if date, err := http.ParseTime(r.Header.Get("Date")); err == nil {
		e.date = date
	}
	return e
}

// busy are AWS's words for requests that should come again later.
var busy = []string{"Throttling", "ThrottlingException", "ThrottledException", "RequestThrottledException", "TooManyRequestsException", "LimitExceededException",
	"RequestLimitExceeded", "BandwidthLimitExceeded", "RequestThrottled", "SlowDown", "PriorRequestNotComplete", "RequestTimeout", "RequestTimeoutException"}

// clock reports whether an exception complains of the time of the signature.
func clock(code string) bool {
	return slices.Contains([]string{"RequestExpired", "RequestInTheFuture", "RequestTimeTooSkewed", "InvalidSignatureException", "SignatureDoesNotMatch"}, code)
}

// passing reports whether another attempt may help.
func passing(err error) bool {
	var e *exception
	if !errors.As(err, &e) {
		return !errors.As(err, new(absent))
	}
	const differs = 4 * time.Minute // AWS takes signatures of five minutes ago
	return e.status >= http.StatusInternalServerError || e.status == http.StatusTooManyRequests || slices.Contains(busy, e.code) ||
		clock(e.code) && !e.date.IsZero() && time.Until(e.date).Abs() > differs
}
