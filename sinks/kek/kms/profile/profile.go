// Package profile reads AWS's variables and files: which region and endpoint to use, and where credentials are. It is the
// part of AWS's own library for it that a reader of a store needs.
package profile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Settings are variables and a profile of the files.
type Settings struct {
	// Named says that the program's own configuration named the profile, which then comes before credentials in variables.
	Named   bool
	name    string
	profile Section
	config  sections // the config file; the profile's section has the credentials file's properties too
	keys    sections // the credentials file
}

// Load reads the files and chooses a profile: name, else AWS_PROFILE, else default. Files may be missing, and a profile
// default too.
func Load(name string) (*Settings, error) {
	s := &Settings{Named: name != ""}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // then variables name the files, or there are none
	}
	for _, f := range []struct {
		to             *sections
		variable, file string
	}{{&s.config, "AWS_CONFIG_FILE", "config"}, {&s.keys, "AWS_SHARED_CREDENTIALS_FILE", "credentials"}} {
		path := os.Getenv(f.variable)
		if path == "" && home != "" {
			path = filepath.Join(home, ".aws", f.file)
		}
		text, err := os.ReadFile(path)
		if err != nil && path != "" && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read AWS's settings: %w", err)
		}
		*f.to = parse(string(text))
	}
	return s.With(cmp.Or(name, os.Getenv("AWS_PROFILE"), os.Getenv("AWS_DEFAULT_PROFILE"), "default"))
}

// With returns the settings of another profile of the same files.
func (s *Settings) With(name string) (*Settings, error) {
	merged := Section{}
	in, found := s.config["profile "+name]
	if !found && name == "default" {
		in, found = s.config[name]
	}
	keys, ok := s.keys[name]
	for _, from := range []Section{in, keys} {
		for k, v := range from {
			merged[k] = v
		}
	}
	if !found && !ok && name != "default" {
		return nil, fmt.Errorf("AWS's files have no profile %q", name)
	}
	return &Settings{Named: s.Named, name: name, profile: merged, config: s.config, keys: s.keys}, nil
}

// Name is the profile's.
func (s *Settings) Name() string { return s.name }

// Get returns a property of the profile; "": it has none.
func (s *Settings) Get(key string) string { return s.profile[key] }

// Section returns a section that profiles refer to, as sso-session NAME.
func (s *Settings) Section(kind, name string) (Section, bool) {
	found, ok := s.config[kind+" "+name]
	return found, ok
}

// Region is the region of variables, else of the profile; "": neither says.
func (s *Settings) Region() string {
	return cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), s.profile["region"])
}

// Bundle is the path of a file of certificates to trust; "": the system's certificates.
func (s *Settings) Bundle() string { return cmp.Or(os.Getenv("AWS_CA_BUNDLE"), s.profile["ca_bundle"]) }

// Endpoint is the URL of a service in a region. Names of services are small, as in kms.
func (s *Settings) Endpoint(service, region string) string {
	variable := "AWS_ENDPOINT_URL_" + strings.ToUpper(strings.ReplaceAll(service, "-", "_"))
	ignored := s.on("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "ignore_configured_endpoint_urls")
	if !ignored {
		own, _ := s.Section("services", s.profile["services"])
		url := cmp.Or(os.Getenv(variable), os.Getenv("AWS_ENDPOINT_URL"), own[strings.ReplaceAll(service, "-", "_")+".endpoint_url"], s.profile["endpoint_url"])
		if url != "" {
			return strings.TrimSuffix(url, "/")
		}
	}
	if s.on("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint") {
		service += "-fips"
	}
	domain := ""
	for _, d := range domains {
		if strings.HasPrefix(region, d.region) {
			domain = d.of
			if s.on("AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint") && d.both != "" {
				domain = d.both
			}
			break
		}
	}
	return "https://" + service + "." + region + "." + domain
}

// on reports whether a variable, else a property, says true.
func (s *Settings) on(variable, key string) bool {
	return strings.EqualFold(cmp.Or(os.Getenv(variable), s.profile[key]), "true")
}

// domains are the domains of AWS's partitions, by the start of their regions' names. both has IPv4 and IPv6.
var domains = []struct{ region, of, both string }{
	{"cn-", "amazonaws.com.cn", "api.amazonwebservices.com.cn"},
	{"us-isob-", "sc2s.sgov.gov", "api.aws.scloud"},
	{"us-isof-", "csp.hci.ic.gov", "api.aws.hci.ic.gov"},
	{"us-iso-", "c2s.ic.gov", "api.aws.ic.gov"},
	{"eu-isoe-", "cloud.adc-e.uk", "api.cloud-aws.adc-e.uk"},
	{"eusc-", "amazonaws.eu", "api.amazonwebservices.eu"},
	{"", "amazonaws.com", "api.aws"},
}
