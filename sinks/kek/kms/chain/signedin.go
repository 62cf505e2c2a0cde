package chain

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/symlake/symlake/sinks/kek/kms/profile"
)

// signedIn returns a role's credentials by a session of IAM Identity Center, which aws sso login has begun.
func (f finder) signedIn(s *profile.Settings) (aws.CredentialsProvider, error) {
	name, region := s.Get("sso_start_url"), s.Get("sso_region")
	if of := s.Get("sso_session"); of != "" {
		section, ok := s.Section("sso-session", of)
		if !ok {
			return nil, fmt.Errorf("profile %s: AWS's files have no section [sso-session %s]", s.Name(), of)
		}
		name, region = of, cmp.Or(section["sso_region"], region)
	}
	account, role := s.Get("sso_account_id"), s.Get("sso_role_name")
	if account == "" || role == "" || region == "" {
		return nil, fmt.Errorf("profile %s: it needs sso_account_id, sso_role_name and sso_region", s.Name())
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum([]byte(name)) // AWS's tools name the file so
	path := filepath.Join(home, ".aws", "sso", "cache", hex.EncodeToString(sum[:])+".json")
	return aws.CredentialsProviderFunc(func(ctx context.Context) (c aws.Credentials, err error) {
		token, err := accessToken(path)
		if err != nil {
			return c, fmt.Errorf("%v: run aws sso login --profile %s", err, s.Name())
		}
		at := s.Endpoint("portal.sso", region)
		if own := os.Getenv("AWS_ENDPOINT_URL_SSO"); own != "" {
			at = own
		}
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"/federation/credentials?"+url.Values{"account_id": {account}, "role_name": {role}}.Encode(), nil)
		if err != nil {
			return c, err
		}
		q.Header.Set("x-amz-sso_bearer_token", token)
		status, text, err := f.do(q)
		if err != nil {
			return c, err
		}
		var a struct {
			RoleCredentials struct {
				AccessKeyID     string `json:"accessKeyId"`
				SecretAccessKey string `json:"secretAccessKey"`
				SessionToken    string `json:"sessionToken"`
				Expiration      int64  `json:"expiration"` // milliseconds since 1970
			} `json:"roleCredentials"`
			Message string `json:"message"`
		}
		if err := json.Unmarshal(text, &a); status != http.StatusOK || err != nil {
			return c, fmt.Errorf("IAM Identity Center answered %d %s: run aws sso login --profile %s", status, a.Message, s.Name())
		}
		k := a.RoleCredentials
		return aws.Credentials{AccessKeyID: k.AccessKeyID, SecretAccessKey: k.SecretAccessKey, SessionToken: k.SessionToken,
			CanExpire: true, Expires: time.UnixMilli(k.Expiration), Source: "SSO"}, nil
	}), nil
}

// accessToken returns the token of a session that has not ended.
func accessToken(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("no session of IAM Identity Center: %v", err)
	}
	var kept struct {
		AccessToken string    `json:"accessToken"`
		ExpiresAt   time.Time `json:"expiresAt"`
	}
	if err := json.Unmarshal(text, &kept); err != nil || kept.AccessToken == "" {
		return "", fmt.Errorf("%s has no session of IAM Identity Center", path)
	}
	if !kept.ExpiresAt.IsZero() && time.Now().After(kept.ExpiresAt) {
		return "", fmt.Errorf("the session of IAM Identity Center ended at %s", kept.ExpiresAt.Format(time.RFC3339))
	}
	return kept.AccessToken, nil
}
