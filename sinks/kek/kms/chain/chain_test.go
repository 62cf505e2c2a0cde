package chain

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/symlake/symlake/sinks/kek/kms/profile"
)

// services answers for STS, IAM Identity Center and a container's agent, and notes what it was asked.
type services struct {
	mu    sync.Mutex
	asked []string
}

func (s *services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.ParseForm()
	until := time.Now().Add(time.Hour).UTC()
	keys := func(name string) string {
		return "<Credentials><AccessKeyId>" + name + "</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>" + until.Format(time.RFC3339) + "</Expiration></Credentials>"
	}
	signer, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), "/")
	said := strings.Join([]string{r.Form.Get("Action"), r.Form.Get("RoleArn"), r.Form.Get("ExternalId"), r.Form.Get("WebIdentityToken"), r.URL.Path, signer, r.Header.Get("x-amz-sso_bearer_token"), r.Form.Get("role_name")}, "|")
	s.mu.Lock()
	s.asked = append(s.asked, said)
	s.mu.Unlock()
	switch {
	case r.Form.Get("RoleArn") == "arn:refused":
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>`)
	case r.Form.Get("Action") == "AssumeRole":
		fmt.Fprint(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>`+keys("ROLE")+`</AssumeRoleResult></AssumeRoleResponse>`)
	case r.Form.Get("Action") == "AssumeRoleWithWebIdentity":
		fmt.Fprint(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>`+keys("WEB")+`</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`)
	case r.URL.Path == "/federation/credentials":
		fmt.Fprintf(w, `{"roleCredentials":{"accessKeyId":"SSO","secretAccessKey":"s","sessionToken":"t","expiration":%d}}`, until.UnixMilli())
	default:
		fmt.Fprintf(w, `{"AccessKeyId":"BOX","SecretAccessKey":"s","Token":"t","Expiration":%q}`, until.Format(time.RFC3339))
	}
}

// world is a home without settings but these, and services.
func world(t *testing.T, configText string) (*services, string) {
	t.Helper()
	home := t.TempDir()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	s := new(services)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	t.Setenv("HOME", home)
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, ".aws", "config")) // AWS's library looked for HOME before this test
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_ENDPOINT_URL_STS", h.URL)
	t.Setenv("AWS_ENDPOINT_URL_SSO", h.URL)
	t.Setenv("BOX", h.URL)
	write(t, filepath.Join(home, ".aws", "config"), strings.ReplaceAll(configText, "HOME", home))
	write(t, filepath.Join(home, "token"), "web-token")
	for name, ends := range map[string]time.Duration{"corp": time.Hour, "https://start": time.Hour, "old": -time.Hour} {
		sum := sha1.Sum([]byte(name))
		write(t, filepath.Join(home, ".aws", "sso", "cache", hex.EncodeToString(sum[:])+".json"), fmt.Sprintf(`{"accessToken":"bearer","expiresAt":%q}`, time.Now().Add(ends).UTC().Format(time.RFC3339)))
	}
	return s, home
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const example = `[default]
region = eu-central-1
[profile keys]
aws_access_key_id = KEYS
aws_secret_access_key = s
[profile process]
credential_process = echo '{"Version":1,"AccessKeyId":"PROCESS","SecretAccessKey":"s"}'
[profile role]
role_arn = arn:role
source_profile = keys
external_id = me
[profile self]
role_arn = arn:role
source_profile = self
aws_access_key_id = SELF
aws_secret_access_key = s
[profile twice]
role_arn = arn:twice
source_profile = role
[profile environment]
role_arn = arn:role
credential_source = Environment
[profile refused]
role_arn = arn:refused
source_profile = keys
[profile web]
role_arn = arn:web
web_identity_token_file = HOME/token
[profile circle]
role_arn = arn:role
source_profile = round
[profile round]
role_arn = arn:role
source_profile = circle
[profile device]
role_arn = arn:role
source_profile = keys
mfa_serial = arn:device
[profile login]
login_session = me
[sso-session corp]
sso_region = eu-west-1
sso_start_url = https://corp
[profile sso]
sso_session = corp
sso_account_id = 1
sso_role_name = reader
[profile legacy]
sso_start_url = https://start
sso_region = eu-west-1
sso_account_id = 1
sso_role_name = legacy
[sso-session old]
sso_region = eu-west-1
[profile ended]
sso_session = old
sso_account_id = 1
sso_role_name = reader
`

// Each source gives the credentials that AWS's own library finds, by the same requests.
func TestLikeAWS(t *testing.T) {
	for _, c := range []struct{ profile, variables, want, asked string }{
		{"", "AWS_ACCESS_KEY_ID=VAR AWS_SECRET_ACCESS_KEY=s AWS_SESSION_TOKEN=t", "VAR", ""},
		{"", "AWS_ACCESS_KEY_ID=VAR AWS_SECRET_ACCESS_KEY=s AWS_PROFILE=keys", "VAR", ""},
		{"keys", "AWS_ACCESS_KEY_ID=VAR AWS_SECRET_ACCESS_KEY=s", "KEYS", ""},
		{"", "AWS_PROFILE=keys", "KEYS", ""},
		{"process", "", "PROCESS", ""},
		{"role", "", "ROLE", "AssumeRole|arn:role|me||/|KEYS||"},
		{"self", "", "ROLE", "AssumeRole|arn:role|||/|SELF||"},
		{"twice", "", "ROLE", "AssumeRole|arn:role|me||/|KEYS|| AssumeRole|arn:twice|||/|ROLE||"},
		{"environment", "AWS_ACCESS_KEY_ID=VAR AWS_SECRET_ACCESS_KEY=s", "ROLE", "AssumeRole|arn:role|||/|VAR||"},
		{"web", "", "WEB", "AssumeRoleWithWebIdentity|arn:web||web-token|/|||"},
		{"", "AWS_WEB_IDENTITY_TOKEN_FILE=$HOME/token AWS_ROLE_ARN=arn:pod", "WEB", "AssumeRoleWithWebIdentity|arn:pod||web-token|/|||"},
		{"sso", "", "SSO", "||||/federation/credentials||bearer|reader"},
		{"legacy", "", "SSO", "||||/federation/credentials||bearer|legacy"},
		{"", "AWS_CONTAINER_CREDENTIALS_FULL_URI=$BOX/keys AWS_CONTAINER_AUTHORIZATION_TOKEN=secret", "BOX", "||||/keys|secret||"},
		{"", "AWS_CONTAINER_CREDENTIALS_FULL_URI=$BOX/keys AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE=$HOME/token", "BOX", "||||/keys|web-token||"},
	} {
		t.Run(c.profile+" "+c.variables, func(t *testing.T) {
			s, home := world(t, example)
			for _, v := range strings.Fields(c.variables) {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, strings.NewReplacer("$HOME", home, "$BOX", os.Getenv("BOX")).Replace(value))
			}
			settings, err := profile.Load(c.profile)
			if err != nil {
				t.Fatal(err)
			}
			p, err := Find(settings, "eu-central-1", http.DefaultClient)
			if err != nil {
				t.Fatal(err)
			}
			ours, err := p.Retrieve(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			asked := s.asked
			s.asked = nil
			var load []func(*config.LoadOptions) error
			if c.profile != "" {
				load = append(load, config.WithSharedConfigProfile(c.profile))
			}
			sdk, err := config.LoadDefaultConfig(t.Context(), load...)
			if err != nil {
				t.Fatal(err)
			}
			theirs, err := sdk.Credentials.Retrieve(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if ours.AccessKeyID != c.want || ours.AccessKeyID != theirs.AccessKeyID || ours.SecretAccessKey != theirs.SecretAccessKey || ours.SessionToken != theirs.SessionToken || ours.CanExpire != theirs.CanExpire {
				t.Errorf("%+v, want %s; AWS's library says %+v", ours, c.want, theirs)
			}
			if got := strings.Join(asked, " "); got != c.asked || got != strings.Join(s.asked, " ") {
				t.Errorf("asked %q, want %q; AWS's library asks %q", got, c.asked, s.asked)
			}
			if _, err := p.Retrieve(t.Context()); err != nil || len(asked) > 0 && len(s.asked) != len(asked) {
				t.Errorf("not kept: %v", err)
			}
		})
	}
}

func TestNone(t *testing.T) {
	for _, c := range []struct{ profile, variables, want string }{
		{"", "", "EC2"},
		{"refused", "", "AccessDenied: not you"},
		{"circle", "", "circle"},
		{"device", "", "device"},
		{"login", "", "aws configure export-credentials --profile login"},
		{"ended", "", "aws sso login --profile ended"},
		{"web", "AWS_CONFIG_FILE=$HOME/absent AWS_PROFILE=", "no profile"},
		{"", "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://192.0.2.1/keys", "needs https"},
		{"", "AWS_WEB_IDENTITY_TOKEN_FILE=$HOME/absent AWS_ROLE_ARN=a", "token"},
	} {
		t.Run(c.profile+" "+c.variables, func(t *testing.T) {
			_, home := world(t, example)
			for _, v := range strings.Fields(c.variables) {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, strings.ReplaceAll(value, "$HOME", home))
			}
			settings, err := profile.Load(c.profile)
			if err == nil {
				var p aws.CredentialsProvider
				if p, err = Find(settings, "", http.DefaultClient); err == nil {
					_, err = p.Retrieve(t.Context())
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
