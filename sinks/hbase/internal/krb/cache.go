package krb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

const (
	maxCache = 16 << 20 // bytes of a credential cache
	maxNames = 64       // components of a principal
)

// cache is the content of a credential cache file.
type cache struct {
	owner   Principal
	entries []cached
}

// cached is one credential of a cache.
type cached struct {
	client, server Principal
	key            types.EncryptionKey
	start, end     time.Time
	renew          time.Time // zero: not renewable
	ticket         []byte
}

// isTGT tells whether the entry is the ticket-granting ticket of the cache's owner.
func (e *cached) isTGT(owner Principal) bool {
	return e.client == owner && e.server == Principal{"krbtgt/" + owner.Realm, owner.Realm}
}

// open makes a Ticket of the entry.
func (e *cached) open() (*Ticket, error) {
	t := &Ticket{Client: e.client, Service: e.server, Key: e.key, Start: e.start, End: e.end, renew: e.renew}
	err := guard(func() error { return t.Message.Unmarshal(e.ticket) })
	if err == nil && len(t.Message.SName.NameString) == 0 {
		err = errors.New("a ticket without a service")
	}
	return t, err
}

// errShort says that a cache ends within an entry: it is damaged, or is being written.
var errShort = errors.New("the file ends within an entry")

// parseCache reads versions 3 and 4 of the format, which all programs of this century write.
func parseCache(b []byte) (*cache, error) {
	r := &cacheReader{b: b}
	version := r.number(2)
	switch {
	case r.short:
		return nil, errShort
	case version == 0x0504:
		r.take(int(r.number(2))) // header: the KDC's clock
	case version != 0x0503:
		return nil, fmt.Errorf("it is no credential cache of version 3 or 4 (first bytes %04x)", version)
	}
	c := &cache{owner: r.principal()}
	for len(r.b) > 0 && !r.short && r.err == nil {
		e := cached{client: r.principal(), server: r.principal()}
		e.key.KeyType = int32(int16(r.number(2)))
		if version == 0x0503 { // which has it twice
			r.take(2)
		}
		e.key.KeyValue = r.data()
		auth := r.time()
		e.start, e.end, e.renew = r.time(), r.time(), r.time()
		if e.start.IsZero() {
			e.start = auth
		}
		r.take(1) // whether the key is a session key
		flags := r.number(4)
		if flags&(1<<23) == 0 { // renewable
			e.renew = time.Time{}
		}
		for range 2 { // addresses, authorization data
			for n := r.number(4); n > 0 && !r.short; n-- {
				r.take(2)
				r.data()
			}
		}
		e.ticket = r.data()
		r.data() // second ticket
		if !strings.HasPrefix(e.server.Realm, "X-CACHECONF") && len(e.ticket) > 0 {
			c.entries = append(c.entries, e)
		}
	}
	if r.short {
		return nil, errShort
	}
	return c, r.err
}

// cacheReader takes fields off b.
type cacheReader struct {
	b     []byte
	short bool
	err   error
}

func (r *cacheReader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.short, r.b = true, nil
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *cacheReader) number(size int) uint32 {
	v := r.take(size)
	switch len(v) {
	case 2:
		return uint32(binary.BigEndian.Uint16(v))
	case 4:
		return binary.BigEndian.Uint32(v)
	}
	return 0
}

func (r *cacheReader) data() []byte {
	n := r.number(4)
	if n > maxCache {
		r.short = true
		return nil
	}
	return r.take(int(n))
}

// time reads seconds since 1970, unsigned, so that tickets may end after 2038.
func (r *cacheReader) time() time.Time {
	if n := r.number(4); n > 0 {
		return time.Unix(int64(n), 0)
	}
	return time.Time{}
}

func (r *cacheReader) principal() Principal {
	r.number(4) // name type
	n := r.number(4)
	if n > maxNames {
		r.err = fmt.Errorf("a principal of %d components", n)
		r.short = r.short || n > maxCache
		return Principal{}
	}
	p := Principal{Realm: string(r.data())}
	names := make([]string, 0, n)
	for range n {
		names = append(names, string(r.data()))
	}
	p.Name = strings.Join(names, "/")
	return p
}

// cacheName names a credential cache: FILE:path, DIR:folder, DIR::file or a bare path.
type cacheName string

// defaultCache is the name by KRB5CCNAME, krb5.conf's default_ccache_name, or MIT's default.
func (s *settings) defaultCache() cacheName {
	if v := os.Getenv("KRB5CCNAME"); v != "" {
		return cacheName(v)
	}
	if v := s.p.first("libdefaults", "default_ccache_name"); v != "" {
		return cacheName(strings.NewReplacer(
			"%{uid}", fmt.Sprint(os.Getuid()), "%{USERID}", fmt.Sprint(os.Getuid()), "%{euid}", fmt.Sprint(os.Geteuid()),
			"%{username}", os.Getenv("USER"), "%{TEMP}", os.TempDir(), "%{null}", "").Replace(v))
	}
	return cacheName(fmt.Sprintf("FILE:/tmp/krb5cc_%d", os.Getuid()))
}

// errKind says that symlake cannot read a kind of cache.
var errKind = errors.New("symlake reads credential caches in files only: run kinit -c FILE:PATH and set hbase.credential_cache to FILE:PATH, or set hbase.keytab")

// files are the files to look into, in order. With want, a folder's caches are all looked into.
func (n cacheName) files(want Principal) ([]string, error) {
	kind, rest, ok := strings.Cut(string(n), ":")
	switch {
	case !ok, len(kind) == 1 && filepath.IsAbs(string(n)): // a bare path, perhaps with a drive
		return []string{string(n)}, nil
	case strings.EqualFold(kind, "FILE"):
		return []string{rest}, nil
	case strings.EqualFold(kind, "DIR") && strings.HasPrefix(rest, ":"):
		return []string{rest[1:]}, nil
	case strings.EqualFold(kind, "DIR"):
		primary := "tkt"
		if b, err := os.ReadFile(filepath.Join(rest, "primary")); err == nil {
			if v := strings.TrimSpace(string(b)); strings.HasPrefix(v, "tkt") && filepath.Base(v) == v {
				primary = v
			}
		}
		list := []string{filepath.Join(rest, primary)}
		if want == (Principal{}) {
			return list, nil
		}
		others, err := filepath.Glob(filepath.Join(rest, "tkt*"))
		return append(list, others...), err
	}
	return nil, fmt.Errorf("credential cache %s: %w", n, errKind)
}

// readCache reads one file.
func readCache(file string) (*cache, error) {
	f, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if f.Size() > maxCache {
		return nil, fmt.Errorf("credential cache %s: %d bytes are too many", file, f.Size())
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c, err := parseCache(b)
	if err != nil {
		return nil, fmt.Errorf("credential cache %s: %w", file, err)
	}
	return c, nil
}

// Ticket is a ticket with its session key.
type Ticket struct {
	Client, Service Principal
	Message         messages.Ticket
	Key             types.EncryptionKey
	Start, End      time.Time
	renew           time.Time // zero: not renewable
	doubted         bool      // a server refused it
}

// due tells whether four fifths of the ticket's life are over.
func (t *Ticket) due(now time.Time) bool {
	return now.After(t.End.Add(-t.End.Sub(t.Start) / 5))
}

// over tells whether servers take the ticket no more.
func (t *Ticket) over(now time.Time) bool { return !now.Before(t.End) }

// guard makes an error of a panic of gokrb5's decoders.
func guard(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("malformed Kerberos message (%v)", r)
		}
	}()
	return do()
}
