package chain

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/symlake/symlake/sinks/kek/kms/profile"
)

// answerBytes bounds what a service may answer with.
const answerBytes = 1 << 20

// session is the name of a role's session unless the settings have one.
func session() string { return "symlake-" + strconv.FormatInt(time.Now().Unix(), 10) }

// role assumes a role by other credentials.
func (f finder) role(s *profile.Settings, by aws.CredentialsProvider, arn string) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		own, err := by.Retrieve(ctx)
		if err != nil {
			return aws.Credentials{}, err
		}
		form := url.Values{"Action": {"AssumeRole"}, "RoleArn": {arn}, "RoleSessionName": {cmp.Or(s.Get("role_session_name"), session())}}
		if id := s.Get("external_id"); id != "" {
			form.Set("ExternalId", id)
		}
		return f.assume(ctx, s, form, &own)
	})
}

// webIdentity assumes a role by a token in a file, which its owner renews.
func (f finder) webIdentity(s *profile.Settings, path, arn, name string) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		token, err := os.ReadFile(path)
		if err != nil {
			return aws.Credentials{}, fmt.Errorf("read the web identity's token: %v", err)
		}
		form := url.Values{"Action": {"AssumeRoleWithWebIdentity"}, "RoleArn": {arn}, "RoleSessionName": {cmp.Or(name, session())}, "WebIdentityToken": {strings.TrimSpace(string(token))}}
		return f.assume(ctx, s, form, nil)
	})
}

// assumed is STS's answer to both questions, or its refusal.
type assumed struct {
	Role    *roleKeys `xml:"AssumeRoleResult>Credentials"`
	Web     *roleKeys `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	Code    string    `xml:"Error>Code"`
	Message string    `xml:"Error>Message"`
}

type roleKeys struct {
	AccessKeyID     string `xml:"AccessKeyId"`
	SecretAccessKey string
	SessionToken    string
	Expiration      time.Time
}

// assume asks STS. by signs the question; nil: it needs no signature.
func (f finder) assume(ctx context.Context, s *profile.Settings, form url.Values, by *aws.Credentials) (c aws.Credentials, err error) {
	form.Set("Version", "2011-06-15")
	if seconds := s.Get("duration_seconds"); seconds != "" {
		form.Set("DurationSeconds", seconds)
	}
	body := form.Encode()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Endpoint("sts", f.region)+"/", strings.NewReader(body))
	if err != nil {
		return c, err
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if by != nil {
		sum := sha256.Sum256([]byte(body))
		if err := v4.NewSigner().SignHTTP(ctx, *by, q, hex.EncodeToString(sum[:]), "sts", f.region, time.Now()); err != nil {
			return c, err
		}
	}
	status, text, err := f.do(q)
	if err != nil {
		return c, err
	}
	var a assumed
	if err := xml.Unmarshal(text, &a); err != nil && status == http.StatusOK {
		return c, fmt.Errorf("STS answered no XML: %v", err)
	}
	keys := a.Role
	if keys == nil {
		keys = a.Web
	}
	if status != http.StatusOK || keys == nil {
		return c, fmt.Errorf("assume role %s: STS answered %d %s: %s", form.Get("RoleArn"), status, a.Code, strings.TrimSpace(a.Message))
	}
	return aws.Credentials{AccessKeyID: keys.AccessKeyID, SecretAccessKey: keys.SecretAccessKey, SessionToken: keys.SessionToken,
		CanExpire: true, Expires: keys.Expiration, Source: "STS"}, nil
}

func (f finder) do(q *http.Request) (status int, text []byte, err error) {
	a, err := f.http.Do(q)
	if err != nil {
		return 0, nil, err
	}
	defer a.Body.Close()
	text, err = io.ReadAll(io.LimitReader(a.Body, answerBytes))
	return a.StatusCode, text, err
}
