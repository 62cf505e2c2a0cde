package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/guess"
)

// Default returns the configuration of no file.
func Default() Config {
	return Config{Limits: LimitsConfig{Memory: DefaultMemory}, Ingest: IngestConfig{Unwind: true}}
}

// Read reads path, or the default file if path is empty and it exists.
// An unknown key is an error that names its line.
func Read(path string) (Config, error) {
	named := path != ""
	if !named {
		path = File
	}
	text, err := os.ReadFile(path)
	switch {
	case !named && errors.Is(err, fs.ErrNotExist):
		return Default(), nil
	case err != nil && named && errors.Is(err, fs.ErrNotExist):
		return Config{}, exit.Usage("configuration %s is missing: symlake init --config %[1]s makes it", path)
	case err != nil:
		var why *fs.PathError
		if errors.As(err, &why) {
			err = why.Err
		}
		return Config{}, exit.Usage("configuration %s cannot be read: %w", path, err)
	}
	return Parse(text, path, filepath.Dir(path))
}

// Parse reads the text of a configuration. Errors call it name. Relative paths in it count from dir.
func Parse(text []byte, name, dir string) (Config, error) {
	c := Config{Ingest: Default().Ingest}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, exit.Usage("configuration %s: %s", name, mendYAML(err, text))
	}
	if err := dec.Decode(new(Config)); !errors.Is(err, io.EOF) {
		return Config{}, exit.Usage("configuration %s: it has a second document behind ---: want one", name)
	}
	var err error
	if c.File, err = readValues(name, dir, text); err != nil {
		return Config{}, exit.Usage("configuration %s: %w", name, err)
	}
	if c.Limits.Memory == 0 {
		c.Limits.Memory = DefaultMemory
	}
	if err := c.check(); err != nil {
		return Config{}, exit.Usage("configuration %s: %w", name, err)
	}
	c.Store = relativeURL(dir, c.Store)
	for _, path := range c.HBase.files() {
		*path = relativePath(dir, *path)
	}
	if cache := &c.HBase.CredentialCache; !strings.Contains(*cache, ":") { // FILE:PATH, DIR:PATH
		*cache = relativePath(dir, *cache)
	}
	if strings.EqualFold(c.Lake.URL, LakeOff) {
		c.Lake.URL = LakeOff
	} else {
		c.Lake.URL = relativeURL(dir, c.Lake.URL)
	}
	c.Keys.Keyset = relativePath(dir, c.Keys.Keyset)
	c.Scratch = relativePath(dir, c.Scratch)
	for i := range c.Sources {
		c.Sources[i].URL = relativeURL(dir, c.Sources[i].URL)
	}
	return c, nil
}

// NamesByScope is the value of script_names that leaves the sources in maps unread.
const NamesByScope = "scope"

// check finds values that no command takes.
func (c *Config) check() error {
	if c.MinQuality < 0 || c.MinQuality > 1 {
		return fmt.Errorf("min_quality is %g, want a share from 0 to 1", c.MinQuality)
	}
	words := []struct {
		key, value string
		known      []string
	}{
		{"hbase.load_mode", c.HBase.LoadMode, []string{loadHFiles, LoadPuts}},
		{"hbase.security", c.HBase.Security, []string{"kerberos", "simple"}},
		{"hbase.protection", c.HBase.Protection, []string{"authentication", "integrity", "privacy"}},
		{"lake.profile", c.Lake.Profile, []string{"sealed", "plain"}},
		{"lake.data_key", c.Lake.DataKey, []string{"file", "dataset"}},
		{"lake.checksums", c.Lake.Checksums, []string{"auto", "required"}},
		{"script_names", c.ScriptNames, []string{"source", NamesByScope}},
	}
	for i, s := range c.Sources {
		if s.URL == "" {
			return fmt.Errorf("sources[%d] has no url", i)
		}
		words = append(words, struct {
			key, value string
			known      []string
		}{fmt.Sprintf("sources[%d].checksums", i), s.Checksums, []string{"auto", "required"}})
		if s.LookBack < 0 || s.Full < 0 {
			return fmt.Errorf("sources[%d]: look_back and full take no number below 0", i)
		}
	}
	for _, w := range words {
		if w.value != "" && !slices.Contains(w.known, w.value) {
			return fmt.Errorf("%s: %s", w.key, guess.Among(w.value, w.known))
		}
	}
	switch {
	case c.Keys.KMS != "" && (c.Keys.Keyset != "" || c.Keys.KeysetKMS != ""):
		return errors.New("keys has both kms and a keyset: want one")
	case (c.HBase.TLSCertificate == "") != (c.HBase.TLSKey == ""):
		return errors.New("hbase.tls_certificate and hbase.tls_key go together: give both")
	case c.Limits.Workers < 0 || c.Limits.Time < 0:
		return errors.New("limits.workers and limits.time take no number below 0")
	case c.Redis.TTL < 0:
		return errors.New("redis.ttl takes no time below 0")
	}
	return nil
}

// mendYAML rewords an error of the YAML library: the line, the key or value, and a guess.
func mendYAML(err error, text []byte) string {
	unknownKey := regexp.MustCompile(`line (\d+): field (.+) not found in type settings\.(\w+)`)
	wrongValue := regexp.MustCompile("line (\\d+): cannot unmarshal !!(\\w+)(?: `(.*)`)? into (.+)")
	tabIndent := regexp.MustCompile(`(?m)^ *\t`)
	var list []string
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		if m := unknownKey.FindStringSubmatch(line); m != nil {
			list = append(list, fmt.Sprintf("line %s: there is no key %s%s%s", m[1], m[2], within(m[3]), guess.Hint(m[2], keysOf(m[3]))))
		} else if m := wrongValue.FindStringSubmatch(line); m != nil {
			value := fmt.Sprintf("%q", m[3])
			if m[3] == "" {
				value = map[string]string{"map": "a group of keys", "seq": "a list"}[m[2]]
			}
			list = append(list, fmt.Sprintf("line %s: %s stands where %s is due", m[1], value, valueOf(m[4])))
		} else if !strings.HasSuffix(line, "unmarshal errors:") {
			list = append(list, strings.TrimPrefix(line, "yaml: "))
		}
	}
	said := strings.Join(list, "; ")
	if tabIndent.Match(text) && !strings.Contains(said, "no key") {
		said += ". YAML takes no tabs: indent with spaces"
	}
	return said
}

// group is a type of the configuration, with the key below which it stands.
type group struct {
	key string
	of  reflect.Type
}

// groupOf returns the group of a type's name.
func groupOf(name string) group {
	return map[string]group{
		"Config":       {"", reflect.TypeFor[Config]()},
		"SourceConfig": {"sources", reflect.TypeFor[SourceConfig]()},
		"LakeConfig":   {"lake", reflect.TypeFor[LakeConfig]()},
		"KeysConfig":   {"keys", reflect.TypeFor[KeysConfig]()},
		"RedisConfig":  {"redis", reflect.TypeFor[RedisConfig]()},
		"HBaseConfig":  {"hbase", reflect.TypeFor[HBaseConfig]()},
		"LimitsConfig": {"limits", reflect.TypeFor[LimitsConfig]()},
		"IngestConfig": {"ingest", reflect.TypeFor[IngestConfig]()},
	}[name]
}

// within says below which key another one stands.
func within(name string) string {
	if key := groupOf(name).key; key != "" {
		return " in " + key
	}
	return ""
}

// keysOf returns the keys of a group.
func keysOf(name string) (keys []string) {
	if t := groupOf(name).of; t != nil {
		for i := range t.NumField() {
			keys = append(keys, t.Field(i).Tag.Get("yaml"))
		}
	}
	return keys
}

// valueOf names the values of a Go type.
func valueOf(of string) string {
	switch {
	case of == reflect.TypeFor[time.Duration]().String():
		return "a time, such as 36h"
	case strings.HasPrefix(of, "int"):
		return "a whole number"
	case strings.HasPrefix(of, "float"):
		return "a number"
	case of == "bool":
		return "true or false"
	case strings.HasPrefix(of, "[]"):
		return "a list"
	case strings.HasPrefix(of, "settings."):
		return "a group of keys"
	}
	return "a text"
}

func relativePath(dir, p string) string {
	if p == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}

func relativeURL(dir, u string) string {
	if p, ok := strings.CutPrefix(u, "file:"); ok && !strings.HasPrefix(p, "//") {
		return "file:" + relativePath(dir, p)
	}
	if strings.Contains(u, ":") {
		return u
	}
	return relativePath(dir, u)
}
