package krb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
)

const defaultConfig = "/etc/krb5.conf"

// settings are krb5.conf as this package uses it.
type settings struct {
	file   string
	p      profile
	gokrb5 *config.Config
	canon  bool // dns_canonicalize_hostname: DNS may tell a server's full name
	rdns   bool

	mu   sync.Mutex
	good map[string]string // by realm, the KDC that answered last
}

// Encryption types that this client takes, the default order of MIT. The tokens of RFC 4121 need AES.
var aesTypes = []int32{
	etypeID.AES256_CTS_HMAC_SHA1_96, etypeID.AES128_CTS_HMAC_SHA1_96,
	etypeID.AES256_CTS_HMAC_SHA384_192, etypeID.AES128_CTS_HMAC_SHA256_128,
}

// loadSettings reads krb5.conf: file, else KRB5_CONFIG, else /etc/krb5.conf. Only the last may be absent.
func loadSettings(file string) (*settings, error) {
	from := "hbase.krb5_conf"
	if file == "" {
		file, from = os.Getenv("KRB5_CONFIG"), "KRB5_CONFIG"
	}
	chosen := file != ""
	if !chosen {
		file = defaultConfig
	}
	p, err := readProfile(file)
	if errors.Is(err, fs.ErrNotExist) && !chosen {
		p, err = profile{}, nil
	}
	if err != nil {
		if chosen {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
		return nil, err
	}
	s := &settings{file: file, p: p, good: make(map[string]string)}
	return s, s.fill()
}

// fill makes gokrb5's settings of the profile. Defaults are MIT's where gokrb5 has others.
func (s *settings) fill() error {
	c := config.New()
	l := &c.LibDefaults
	l.DefaultRealm = s.p.first("libdefaults", "default_realm")
	l.UDPPreferenceLimit = 1 // TCP
	// The KDC grants what it likes; a client that asks for noaddresses = false is of another age.
	l.NoAddresses = true
	var err error
	l.DNSLookupKDC = s.flag("dns_lookup_kdc", true, &err)
	l.Forwardable = s.flag("forwardable", false, &err)
	l.Proxiable = s.flag("proxiable", false, &err)
	l.Canonicalize = false
	s.rdns = s.flag("rdns", true, &err)
	s.canon = s.p.first("libdefaults", "dns_canonicalize_hostname") == "fallback" || s.flag("dns_canonicalize_hostname", true, &err)
	l.Clockskew = s.duration("clockskew", 5*time.Minute, &err)
	l.TicketLifetime = s.duration("ticket_lifetime", 24*time.Hour, &err)
	l.RenewLifetime = s.duration("renew_lifetime", 0, &err)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	if l.DefaultTktEnctypeIDs, err = s.types("default_tkt_enctypes"); err == nil {
		l.DefaultTGSEnctypeIDs, err = s.types("default_tgs_enctypes")
	}
	if err == nil {
		l.PermittedEnctypeIDs, err = s.types("permitted_enctypes")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	realms := map[string]*config.Realm{}
	var order []string
	for path := range s.p {
		part := strings.Split(path, "/")
		switch {
		case len(part) == 3 && part[0] == "realms":
			if realms[part[1]] == nil {
				realms[part[1]] = &config.Realm{Realm: part[1]}
				order = append(order, part[1])
			}
			if part[2] == "kdc" {
				realms[part[1]].KDC = kdcs(s.p[path])
			}
		case len(part) == 2 && part[0] == "domain_realm":
			c.DomainRealm[strings.ToLower(part[1])] = s.p[path][0]
		}
	}
	slices.Sort(order)
	for _, r := range order {
		c.Realms = append(c.Realms, *realms[r])
	}
	s.gokrb5 = c
	return nil
}

// kdcs completes addresses of KDCs with the port 88.
func kdcs(list []string) (out []string) {
	for _, v := range list {
		v = strings.TrimSpace(strings.TrimSuffix(v, "*"))
		v = strings.TrimPrefix(strings.TrimPrefix(v, "tcp/"), "udp/")
		if v == "" || strings.Contains(v, "://") { // a proxy over HTTPS, which no HBase cluster needs
			continue
		}
		switch i := strings.LastIndexByte(v, ':'); {
		case i < 0, strings.HasSuffix(v, "]"):
			v += ":88"
		case strings.Count(v, ":") > 1 && v[0] != '[': // a bare address of version 6
			v = "[" + v + "]:88"
		}
		out = append(out, v)
	}
	return out
}

// flag reads a truth value in any of MIT's spellings.
func (s *settings) flag(name string, otherwise bool, err *error) bool {
	v := s.p.first("libdefaults", name)
	switch strings.ToLower(v) {
	case "":
		return otherwise
	case "y", "yes", "true", "t", "1", "on":
		return true
	case "n", "no", "false", "nil", "0", "off":
		return false
	}
	*err = fmt.Errorf("%s = %s: it is true or false", name, v)
	return otherwise
}

// duration reads 300, 5m, 1d 2h, 10:30 or 10:30:00.
func (s *settings) duration(name string, otherwise time.Duration, err *error) time.Duration {
	v := s.p.first("libdefaults", name)
	if v == "" {
		return otherwise
	}
	d, ok := parseDuration(v)
	if !ok {
		*err = fmt.Errorf("%s = %s: it is a time such as 600, 10h or 1d 12h", name, v)
		return otherwise
	}
	return d
}

func parseDuration(v string) (d time.Duration, ok bool) {
	const most = 10 * 365 * 24 * time.Hour
	if n, err := strconv.ParseUint(v, 10, 32); err == nil {
		return min(time.Duration(n)*time.Second, most), true
	}
	if part := strings.Split(v, ":"); len(part) == 2 || len(part) == 3 {
		for i, unit := range []time.Duration{time.Hour, time.Minute, time.Second}[:len(part)] {
			n, err := strconv.ParseUint(strings.TrimSpace(part[i]), 10, 16)
			if err != nil {
				return 0, false
			}
			d += time.Duration(n) * unit
		}
		return d, true
	}
	units := map[byte]time.Duration{'d': 24 * time.Hour, 'h': time.Hour, 'm': time.Minute, 's': time.Second}
	for v = strings.ReplaceAll(v, " ", ""); v != ""; {
		i := strings.IndexAny(v, "dhms")
		if i < 1 {
			return 0, false
		}
		n, err := strconv.ParseUint(v[:i], 10, 24)
		if err != nil {
			return 0, false
		}
		d, v = min(d+min(time.Duration(n), 1<<20)*units[v[i]], most), v[i+1:]
	}
	return d, true
}

// types reads a list of encryption types and keeps what this client can do, in the list's order.
func (s *settings) types(name string) ([]int32, error) {
	v := s.p.first("libdefaults", name)
	if v == "" && name != "permitted_enctypes" {
		v = s.p.first("libdefaults", "permitted_enctypes")
	}
	if v == "" {
		return slices.Clone(aesTypes), nil
	}
	var out []int32
	for _, t := range strings.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' }) {
		drop := t[0] == '-'
		var ids []int32
		switch t = strings.ToLower(strings.TrimLeft(t, "-+")); t {
		case "default":
			ids = aesTypes
		case "aes":
			ids = aesTypes
		default:
			if id := etypeID.ETypesByName[t]; slices.Contains(aesTypes, id) {
				ids = []int32{id}
			}
		}
		for _, id := range ids {
			out = slices.DeleteFunc(out, func(have int32) bool { return have == id })
			if !drop {
				out = append(out, id)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s = %s: symlake needs an AES type there, such as aes256-cts-hmac-sha1-96", name, v)
	}
	return out, nil
}
