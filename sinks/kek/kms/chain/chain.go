// Package chain finds credentials of AWS by variables, files and the machine, in the order of AWS's own library. A
// program that only reads a store uses it, since that library's clients of three sign-in services cost more than the rest
// of the program's start.
//
// It knows variables, profiles with keys, a process, a role (of a source profile, a source, or a web identity) or a
// signed-in session of IAM Identity Center, containers of ECS and EKS, and EC2's metadata. Sessions that have ended it
// does not renew: aws sso login does.
package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/processcreds"

	"github.com/symlake/symlake/sinks/kek/kms/profile"
)

// deepest is how many profiles may follow another by source_profile.
const deepest = 8

// finder makes providers.
type finder struct {
	region string
	http   *http.Client
}

// Find returns the credentials that the settings lead to. It asks no server: the first use of them does. The result keeps
// credentials until they end.
func Find(s *profile.Settings, region string, client *http.Client) (aws.CredentialsProvider, error) {
	f := finder{region: cmp.Or(region, "us-east-1"), http: client}
	fixed := fromVariables()
	token := os.Getenv("AWS_WEB_IDENTITY_TOKEN_FILE")
	switch {
	case s.Named:
	case fixed.HasKeys():
		return kept(static(fixed)), nil
	case token != "":
		return kept(f.webIdentity(s, token, os.Getenv("AWS_ROLE_ARN"), os.Getenv("AWS_ROLE_SESSION_NAME"))), nil
	}
	p, err := f.ofProfile(s, 0)
	if err != nil {
		return nil, err
	}
	return kept(p), nil
}

// kept keeps credentials until some minutes before they end.
func kept(p aws.CredentialsProvider) aws.CredentialsProvider {
	return aws.NewCredentialsCache(p, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = 5 * time.Minute })
}

func static(c aws.Credentials) aws.CredentialsProvider {
	return credentials.StaticCredentialsProvider{Value: c}
}

func fromVariables() aws.Credentials {
	return aws.Credentials{
		AccessKeyID:     cmp.Or(os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_ACCESS_KEY")),
		SecretAccessKey: cmp.Or(os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SECRET_KEY")),
		SessionToken:    os.Getenv("AWS_SESSION_TOKEN"),
		Source:          "variables",
	}
}

// ofProfile returns the credentials of a profile. depth counts profiles that led to it.
func (f finder) ofProfile(s *profile.Settings, depth int) (p aws.CredentialsProvider, err error) {
	source, role := s.Get("source_profile"), s.Get("role_arn")
	keys := aws.Credentials{AccessKeyID: s.Get("aws_access_key_id"), SecretAccessKey: s.Get("aws_secret_access_key"), SessionToken: s.Get("aws_session_token"), Source: "profile " + s.Name()}
	switch {
	case role != "" && source != "" && (source != s.Name() || !keys.HasKeys()):
		if depth == deepest {
			return nil, fmt.Errorf("profile %s: its source_profile leads round in a circle", s.Name())
		}
		other, oerr := s.With(source)
		if oerr != nil {
			return nil, oerr
		}
		p, err = f.ofProfile(other, depth+1)
	case keys.HasKeys():
		p = static(keys)
	case role != "" && s.Get("credential_source") != "":
		p, err = f.ofSource(s.Get("credential_source"))
	case s.Get("web_identity_token_file") != "":
		return f.webIdentity(s, s.Get("web_identity_token_file"), role, s.Get("role_session_name")), nil
	case s.Get("sso_session") != "" || s.Get("sso_start_url") != "":
		p, err = f.signedIn(s)
	case s.Get("credential_process") != "":
		p = processcreds.NewProvider(s.Get("credential_process"))
	case s.Get("login_session") != "":
		return nil, fmt.Errorf("profile %s signs in by aws login, which this program cannot do: export AWS_ACCESS_KEY_ID and the others by aws configure export-credentials --profile %s --format env", s.Name(), s.Name())
	default:
		p, err = f.ofMachine()
	}
	if err != nil || role == "" {
		return p, err
	}
	if s.Get("mfa_serial") != "" {
		return nil, fmt.Errorf("profile %s asks for the code of a device: export AWS_ACCESS_KEY_ID and the others by aws configure export-credentials --profile %s --format env", s.Name(), s.Name())
	}
	return f.role(s, p, role), nil
}

// ofSource returns what a profile's credential_source names.
func (f finder) ofSource(source string) (aws.CredentialsProvider, error) {
	switch source {
	case "Environment":
		return static(fromVariables()), nil
	case "Ec2InstanceMetadata":
		return ec2rolecreds.New(), nil
	case "EcsContainer":
		p, err := ofContainer()
		if p == nil && err == nil {
			err = errors.New("credential_source is EcsContainer, and no variable tells of a container")
		}
		return p, err
	}
	return nil, fmt.Errorf("credential_source %q is none of Environment, Ec2InstanceMetadata and EcsContainer", source)
}

// ofMachine returns the credentials of the container or machine that this process runs in.
func (f finder) ofMachine() (aws.CredentialsProvider, error) {
	p, err := ofContainer()
	if p == nil && err == nil {
		p = ec2rolecreds.New()
	}
	return p, err
}

// ofContainer returns nil outside of containers of ECS and EKS.
func ofContainer() (aws.CredentialsProvider, error) {
	at := os.Getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI")
	if path := os.Getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"); path != "" {
		at = "http://169.254.170.2" + path
	} else if at == "" {
		return nil, nil
	} else if err := local(at); err != nil {
		return nil, err
	}
	return endpointcreds.New(at, func(o *endpointcreds.Options) {
		o.AuthorizationToken = os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN")
		if path := os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"); path != "" {
			o.AuthorizationTokenProvider = endpointcreds.TokenProviderFunc(func() (string, error) {
				text, err := os.ReadFile(path)
				return string(text), err
			})
		}
	}), nil
}

// local refuses a plain URL of another host: the token would travel there in the clear.
func local(at string) error {
	u, err := url.Parse(at)
	if err != nil || u.Hostname() == "" {
		return fmt.Errorf("AWS_CONTAINER_CREDENTIALS_FULL_URI: %q is no URL", at)
	}
	if u.Scheme == "https" {
		return nil
	}
	hosts := []string{u.Hostname()}
	if net.ParseIP(hosts[0]) == nil {
		if hosts, err = net.DefaultResolver.LookupHost(context.Background(), hosts[0]); err != nil {
			return fmt.Errorf("AWS_CONTAINER_CREDENTIALS_FULL_URI: %w", err)
		}
	}
	of := []string{"169.254.170.2", "169.254.170.23", "fd00:ec2::23"} // ECS, EKS
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() && !slices.Contains(of, ip.String()) {
			return fmt.Errorf("AWS_CONTAINER_CREDENTIALS_FULL_URI: %s is another host, which needs https", u.Hostname())
		}
	}
	return nil
}
