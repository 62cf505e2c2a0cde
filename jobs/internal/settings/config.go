// Package settings reads what a user configures: the flags of every command, the variables of the environment that
// set some of them, and symlake.yaml.
package settings

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/symlake/symlake/sinks/hbase/security"
)

// Config is symlake.yaml. Relative paths in it count from the file's folder.
type Config struct {
	Sources []SourceConfig `yaml:"sources"`
	Store   string         `yaml:"store"` // file:PATH, a plain path, hbase://… or hbase+zk://…
	HBase   HBaseConfig    `yaml:"hbase"`
	Redis   RedisConfig    `yaml:"redis"`
	Lake    LakeConfig     `yaml:"lake"` // off, or a map
	Keys    KeysConfig     `yaml:"keys"`
	Limits  LimitsConfig   `yaml:"limits"`
	Scratch string         `yaml:"scratch"` // folder for sealed scratch files; default: beside the store
	// ScriptNames says what names the functions of scripts: source (default), the sources in maps, or scope, the scripts' scopes alone.
	ScriptNames string `yaml:"script_names"`
	// MinQuality holds back a load that answers less than this share of what the published load of the same object does.
	MinQuality float64      `yaml:"min_quality"`
	Ingest     IngestConfig `yaml:"ingest"`

	// These stand for flags: FileValues.Apply takes them.
	Color       string               `yaml:"color"`
	NoProgress  bool                 `yaml:"no_progress"`
	LogLevel    string               `yaml:"log_level"`
	Metrics     string               `yaml:"metrics"`
	Pushgateway string               `yaml:"pushgateway"`
	Token       string               `yaml:"token"`
	Serve       map[string]yaml.Node `yaml:"serve"`

	File FileValues `yaml:"-"` // the keys that the file has
}

// SourceConfig is one place that objects come from.
type SourceConfig struct {
	URL       string   `yaml:"url"` // file, folder, s3://bucket/prefix or debuginfod://HOST
	Include   []string `yaml:"include"`
	Exclude   []string `yaml:"exclude"`
	Names     string   `yaml:"names"` // where APP@BUILD comes from: "android/{app}/{build}/**"
	Region    string   `yaml:"region"`
	Profile   string   `yaml:"profile"`
	Endpoint  string   `yaml:"endpoint"`
	PathStyle bool     `yaml:"path_style"`
	Anonymous bool     `yaml:"anonymous"`
	Checksums string   `yaml:"checksums"` // auto (default) or required
	// SourcesContent keeps the texts of sources that source maps carry, for lookup --context.
	SourcesContent bool `yaml:"sources_content"`
	// Owner and Rank protect what the source publishes from other owners' sources that have no higher rank.
	Owner string `yaml:"owner"`
	Rank  int    `yaml:"rank"`

	Dates    string        `yaml:"dates"`     // keys begin with a day: "%Y/%m/%d/"; then only the last days are listed
	LookBack int           `yaml:"look_back"` // days (default 3)
	Full     time.Duration `yaml:"full"`      // how often everything is listed all the same (default 24h)
	Hints    string        `yaml:"hints"`     // SQS queue (https://…) or file with one event a line
}

// LakeConfig says where the Parquet tables are, and how they are written.
type LakeConfig struct {
	URL          string `yaml:"url"`      // folder, s3://bucket/prefix, or off; default: lake beside the file store
	Profile      string `yaml:"profile"`  // sealed (default) or plain
	DataKey      string `yaml:"data_key"` // file (default): one a file; dataset: one for all
	SingleWriter bool   `yaml:"single_writer"`
	Region       string `yaml:"region"`
	AWSProfile   string `yaml:"aws_profile"`
	Endpoint     string `yaml:"endpoint"`
	PathStyle    bool   `yaml:"path_style"`
	Checksums    string `yaml:"checksums"` // auto (default) or required

	Catalog           string `yaml:"catalog"` // of Iceberg tables: files (default), off, or the URL of a REST catalog
	CatalogWarehouse  string `yaml:"catalog_warehouse"`
	CatalogNamespace  string `yaml:"catalog_namespace"`
	CatalogToken      string `yaml:"catalog_token"`
	CatalogCredential string `yaml:"catalog_credential"`
	CatalogOAuth      string `yaml:"catalog_oauth"`
	CatalogScope      string `yaml:"catalog_scope"`
	CatalogSign       string `yaml:"catalog_sign"`
}

// UnmarshalYAML takes "off" for a lake, too.
func (c *LakeConfig) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		c.URL = n.Value
		return nil
	}
	type plain LakeConfig
	known := reflect.TypeFor[plain]()
	for i := 0; i+1 < len(n.Content); i += 2 {
		found := false
		for f := range known.NumField() {
			found = found || known.Field(f).Tag.Get("yaml") == n.Content[i].Value
		}
		if !found {
			return fmt.Errorf("line %d: field %s not found in type settings.LakeConfig", n.Content[i].Line, n.Content[i].Value)
		}
	}
	return n.Decode((*plain)(c))
}

// KeysConfig says where the key-encryption key is.
type KeysConfig struct {
	Keyset    string `yaml:"keyset"`     // default: keyset.json beside the file store
	KeysetKMS string `yaml:"keyset_kms"` // ARN of the key of AWS KMS that seals the keyset
	KMS       string `yaml:"kms"`        // ARN of a key of AWS KMS, instead of a keyset
	Region    string `yaml:"region"`     // of KMS; default: the ARN's
	Endpoint  string `yaml:"endpoint"`   // of KMS; default: AWS's
	Profile   string `yaml:"profile"`    // AWS profile for KMS
}

// RedisConfig says where sealed rows are cached for many processes.
type RedisConfig struct {
	URL string        `yaml:"url"` // redis://[user:password@]host:port[/db], rediss:// or unix:///path
	TTL time.Duration `yaml:"ttl"` // default 168h
}

// HBaseConfig says how rows get into HBase, and how a client of HBase proves its identity.
type HBaseConfig struct {
	LoadMode   string `yaml:"load_mode"`   // hfiles (default) or puts
	HadoopConf string `yaml:"hadoop_conf"` // folder of core-site.xml and hdfs-site.xml; "": HADOOP_CONF_DIR

	Security              string `yaml:"security"` // kerberos or simple; default: what the environment has
	Principal             string `yaml:"principal"`
	Keytab                string `yaml:"keytab"`
	Krb5Conf              string `yaml:"krb5_conf"`
	CredentialCache       string `yaml:"credential_cache"`
	ServerPrincipal       string `yaml:"server_principal"`
	Protection            string `yaml:"protection"` // authentication (default), integrity or privacy
	AllowInsecureFallback bool   `yaml:"allow_insecure_fallback"`
	TokenFile             string `yaml:"token_file"`
	TLS                   bool   `yaml:"tls"`
	TLSCA                 string `yaml:"tls_ca"`
	TLSServerName         string `yaml:"tls_server_name"`
	TLSCertificate        string `yaml:"tls_certificate"`
	TLSKey                string `yaml:"tls_key"`
}

// Credentials returns the settings of security as the store takes them.
func (c *HBaseConfig) Credentials() security.Options {
	return security.Options{Mode: c.Security, Principal: c.Principal, Keytab: c.Keytab, Config: c.Krb5Conf, Cache: c.CredentialCache,
		ServerPrincipal: c.ServerPrincipal, Protection: c.Protection, AllowInsecureFallback: c.AllowInsecureFallback, TokenFile: c.TokenFile,
		TLS: security.TLS{On: c.TLS, CA: c.TLSCA, ServerName: c.TLSServerName, Certificate: c.TLSCertificate, Key: c.TLSKey}}
}

// files returns the settings that are paths.
func (c *HBaseConfig) files() []*string {
	return []*string{&c.HadoopConf, &c.Keytab, &c.Krb5Conf, &c.TokenFile, &c.TLSCA, &c.TLSCertificate, &c.TLSKey}
}

// loadHFiles and loadPuts are the ways of rows into HBase.
const (
	loadHFiles = "hfiles"
	LoadPuts   = "puts"
)

// IngestConfig says what a load keeps.
type IngestConfig struct {
	Unwind bool `yaml:"unwind"` // call frame information (default true)
}

// LimitsConfig bounds what a job may use.
type LimitsConfig struct {
	Memory  Bytes `yaml:"memory"`  // default 512MiB
	Workers int   `yaml:"workers"` // default: the processors
	Object  Bytes `yaml:"object"`  // default 16GiB
	Disk    Bytes `yaml:"disk"`    // scratch files; default: no bound
	// Time is what one object may take (default 1h).
	Time time.Duration `yaml:"time"`
}

// Bytes is a size written as "512MiB", "16GB" or a plain number.
type Bytes int64

var byteUnits = []struct {
	suffix string
	factor int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// UnmarshalText reads a size with its unit.
func (b *Bytes) UnmarshalText(text []byte) error {
	s, factor := strings.TrimSpace(string(text)), int64(1)
	for _, u := range byteUnits {
		if n, ok := strings.CutSuffix(s, u.suffix); ok {
			s, factor = strings.TrimSpace(n), u.factor
			break
		}
	}
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < 0 || n*float64(factor) > 1<<62 {
		return fmt.Errorf("size %q: want a number with KiB, MiB, GiB, KB, MB or GB", text)
	}
	*b = Bytes(n * float64(factor))
	return nil
}

// UnmarshalYAML reads a size of the configuration.
func (b *Bytes) UnmarshalYAML(n *yaml.Node) error {
	if err := b.UnmarshalText([]byte(n.Value)); err != nil {
		return fmt.Errorf("line %d: %w", n.Line, err)
	}
	return nil
}

// File is the file that is read when it is there and no other is named.
const File = "symlake.yaml"

// DefaultMemory bounds sort runs, names and staged or inflated bytes together;
// More goes to sealed scratch files.
const DefaultMemory = 512 << 20

// DefaultData is where ingest keeps everything when nothing is configured.
const DefaultData = "symlake-data"

// DefaultKeyset is the keyset's name, beside the rows or, if they are elsewhere, in the working folder.
const DefaultKeyset = "keyset.json"
