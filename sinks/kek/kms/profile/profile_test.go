package profile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/google/go-cmp/cmp"
)

// files makes AWS's files the only settings of a test.
func files(t *testing.T, configText, keysText string) {
	t.Helper()
	home := t.TempDir()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "AWS_") {
			t.Setenv(name, "")
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("AWS_CONFIG_FILE", filepath.Join(home, ".aws", "config")) // AWS's library looked for HOME before this test
	if err := os.Mkdir(filepath.Join(home, ".aws"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"config": configText, "credentials": keysText} {
		if err := os.WriteFile(filepath.Join(home, ".aws", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParse(t *testing.T) {
	got := parse("lost = 1\n# all of it\n[ profile  a ] ; here\nRegion = eu-west-1 # near\nurl = http://x/#y\ns3 =\n  one = 1\n\ttwo=2\n\n; more\nempty =\nbroken\n[unclosed\nlost = 2\n[b]\nk==v\r\n[profile a]\nlast = 3\n")
	want := sections{"profile a": {"region": "eu-west-1", "url": "http://x/#y", "s3": "", "s3.one": "1", "s3.two": "2", "empty": "", "last": "3"}, "b": {"k": "=v"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

const example = `[default]
region = eu-west-1
endpoint_url = http://all:1
[profile work]
region = eu-west-2 # London
aws_access_key_id = FROMCONFIG
aws_secret_access_key = s
services = own
[services own]
kms =
  endpoint_url = http://kms:2/
[profile fips]
use_fips_endpoint = true
[profile both]
use_dualstack_endpoint = true
`

func TestEndpoint(t *testing.T) {
	files(t, example, "")
	for _, c := range []struct{ profile, region, variables, want string }{
		{"", "eu-west-1", "", "http://all:1"},
		{"work", "eu-west-2", "", "http://kms:2"},
		{"work", "eu-west-2", "AWS_ENDPOINT_URL=http://any:3", "http://any:3"},
		{"work", "eu-west-2", "AWS_ENDPOINT_URL=http://any:3 AWS_ENDPOINT_URL_KMS=http://own:4", "http://own:4"},
		{"work", "eu-west-2", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true", "https://kms.eu-west-2.amazonaws.com"},
		{"fips", "us-gov-west-1", "", "https://kms-fips.us-gov-west-1.amazonaws.com"},
		{"fips", "cn-north-1", "", "https://kms-fips.cn-north-1.amazonaws.com.cn"},
		{"both", "eu-west-1", "", "https://kms.eu-west-1.api.aws"},
		{"both", "us-iso-east-1", "AWS_USE_DUALSTACK_ENDPOINT=false", "https://kms.us-iso-east-1.c2s.ic.gov"},
		{"both", "us-isob-east-1", "AWS_USE_DUALSTACK_ENDPOINT=false", "https://kms.us-isob-east-1.sc2s.sgov.gov"},
		{"both", "eusc-de-east-1", "AWS_USE_DUALSTACK_ENDPOINT=false", "https://kms.eusc-de-east-1.amazonaws.eu"},
	} {
		t.Run(c.want, func(t *testing.T) {
			for _, v := range strings.Fields(c.variables) {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			s, err := Load(c.profile)
			if err != nil {
				t.Fatal(err)
			}
			if got := s.Endpoint("kms", c.region); got != c.want {
				t.Errorf("%q %q: %s, want %s", c.profile, c.variables, got, c.want)
			}
		})
	}
}

// AWS's own library finds the same region and profile.
func TestRegion(t *testing.T) {
	files(t, example, "[work]\naws_access_key_id = FROMKEYS\naws_secret_access_key = s\n")
	for _, variables := range []string{"", "AWS_PROFILE=work", "AWS_DEFAULT_PROFILE=work", "AWS_REGION=a-b-1 AWS_DEFAULT_REGION=c-d-2", "AWS_DEFAULT_REGION=c-d-2"} {
		t.Run(variables, func(t *testing.T) {
			for _, v := range strings.Fields(variables) {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			theirs, err := config.LoadDefaultConfig(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			ours, err := Load("")
			if err != nil {
				t.Fatal(err)
			}
			if ours.Region() != theirs.Region || ours.Region() == "" {
				t.Errorf("%q, AWS's library says %q", ours.Region(), theirs.Region)
			}
		})
	}
	s, err := Load("work")
	if err != nil || s.Get("aws_access_key_id") != "FROMKEYS" || !s.Named || s.Name() != "work" {
		t.Errorf("%+v, %v: the credentials file comes first", s, err)
	}
	if _, err := Load("absent"); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("an absent profile: %v", err)
	}
}
