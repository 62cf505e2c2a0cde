package iceberg

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/symlake/symlake/sinks/internal/icemeta"
)

// Catalog is a REST catalog and symlake's proof of identity. The zero value is the file system.
type Catalog struct {
	URL       string // below which /v1 begins
	Warehouse string // "": the catalog's only one
	Namespace string // levels with dots between them; "": symlake
	// Of these three one is set, or none: a bearer token; ID:SECRET of a client of OAuth2; the name of a service of AWS, to sign
	// for it by SigV4.
	Token      string
	Credential string
	Sign       string
	OAuth      string // where tokens are had; "": at the catalog
	Scope      string // of tokens; "": PRINCIPAL_ROLE:ALL
	// Region and Credentials sign for a service of AWS.
	Region      string
	Credentials aws.CredentialsProvider
	Timeout     time.Duration // of a request; 0: a minute
}

const (
	defaultTimeout = time.Minute
	// maxAnswer bounds the bytes of an answer, and maxRefusal the bytes of a refusal.
	maxAnswer  = icemeta.MaxBytes + 1<<20
	maxRefusal = 64 << 10
)

// refusal is an answer with a status that is no success.
type refusal struct {
	status int
	text   string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%d %s: %s", r.status, http.StatusText(r.status), r.text)
}

// identity proves symlake's identity.
type identity struct {
	o    *Catalog
	http *http.Client

	mu    sync.Mutex
	token string
	until time.Time
}

func newIdentity(o *Catalog, client *http.Client) (*identity, error) {
	ways := 0
	for _, way := range []string{o.Token, o.Credential, o.Sign} {
		if way != "" {
			ways++
		}
	}
	switch id, secret, ok := strings.Cut(o.Credential, ":"); {
	case ways > 1:
		return nil, errors.New("catalog: give a token, a credential or a service to sign for, not several")
	case o.Credential != "" && (!ok || id == "" || secret == ""):
		return nil, errors.New("catalog: the credential is not ID:SECRET")
	case o.Sign != "" && (o.Region == "" || o.Credentials == nil):
		return nil, fmt.Errorf("catalog: to sign for %s, name its region", o.Sign)
	}
	return &identity{o: o, http: client}, nil
}

// prove adds a proof to a request.
func (i *identity) prove(ctx context.Context, q *http.Request, body []byte) error {
	switch {
	case i.o.Token != "":
		q.Header.Set("Authorization", "Bearer "+i.o.Token)
	case i.o.Credential != "":
		token, err := i.get(ctx)
		if err != nil {
			return err
		}
		q.Header.Set("Authorization", "Bearer "+token)
	case i.o.Sign != "":
		c, err := i.o.Credentials.Retrieve(ctx)
		if err != nil {
			return fmt.Errorf("find credentials of AWS for the catalog: %w", err)
		}
		sum := sha256.Sum256(body)
		q.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
		return v4.NewSigner().SignHTTP(ctx, c, q, hex.EncodeToString(sum[:]), i.o.Sign, i.o.Region, time.Now())
	}
	return nil
}

// drop forgets a token that the catalog does not take, and reports whether another one can be had.
func (i *identity) drop() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	had := i.token != ""
	i.token = ""
	return had
}

// get returns a token of OAuth2 for the client's credentials.
func (i *identity) get(ctx context.Context) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.token != "" && time.Now().Before(i.until) {
		return i.token, nil
	}
	at, scope := i.o.OAuth, i.o.Scope
	if at == "" {
		at = i.o.URL + "/v1/oauth/tokens"
	}
	if scope == "" {
		scope = "PRINCIPAL_ROLE:ALL"
	}
	id, secret, _ := strings.Cut(i.o.Credential, ":")
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}, "scope": {scope}}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, at, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	var answer struct {
		Token   string `json:"access_token"`
		Type    string `json:"token_type"`
		Seconds int    `json:"expires_in"`
	}
	if err := send(i.http, q, &answer); err != nil {
		return "", fmt.Errorf("get a token at %s: %w", at, err)
	}
	if answer.Token == "" || !strings.EqualFold(answer.Type, "bearer") {
		return "", fmt.Errorf("%w: %s sent no bearer token", ErrCatalog, at)
	}
	life := time.Duration(min(max(answer.Seconds, 0), 24*60*60)) * time.Second
	if answer.Seconds == 0 {
		life = 5 * time.Minute
	}
	i.token, i.until = answer.Token, time.Now().Add(life*9/10)
	return i.token, nil
}

// call sends a request with a proof. An answer that is no success is a *refusal in ErrCatalog.
func (i *identity) call(ctx context.Context, method, at string, body, answer any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	for again := false; ; again = true {
		q, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(text))
		if err != nil {
			return err
		}
		if body != nil {
			q.Header.Set("Content-Type", "application/json")
		}
		q.Header.Set("Accept", "application/json")
		if err := i.prove(ctx, q, text); err != nil {
			return err
		}
		err = send(i.http, q, answer)
		if no := new(refusal); !again && errors.As(err, &no) && no.status == http.StatusUnauthorized && i.drop() {
			continue
		}
		return err
	}
}

// send sends a request and decodes the answer, if it is a success.
func send(client *http.Client, q *http.Request, answer any) error {
	r, err := client.Do(q)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCatalog, err)
	}
	defer r.Body.Close()
	if r.StatusCode < 200 || r.StatusCode > 299 {
		text, _ := io.ReadAll(io.LimitReader(r.Body, maxRefusal)) // the status tells enough
		return fmt.Errorf("%w: %w", ErrCatalog, &refusal{r.StatusCode, saying(text)})
	}
	if answer == nil {
		_, err := io.Copy(io.Discard, io.LimitReader(r.Body, maxAnswer))
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrCatalog, err)
		}
		return err
	}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer+1))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCatalog, err)
	}
	if len(text) > maxAnswer {
		return fmt.Errorf("%w: its answer has more than %d bytes", ErrCatalog, maxAnswer)
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return fmt.Errorf("%w: it answered no JSON of the REST catalog: %w", ErrCatalog, err)
	}
	return nil
}

// saying returns what a refusal says, on one line.
func saying(text []byte) string {
	var e struct {
		Error struct{ Message, Type string }
	}
	said := string(text)
	if json.Unmarshal(text, &e) == nil && e.Error.Message != "" {
		said = e.Error.Type + ": " + e.Error.Message
	}
	said = strings.Join(strings.Fields(said), " ")
	return strings.ToValidUTF8(said[:min(len(said), 500)], "?")
}
