package krb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"time"

	"github.com/jcmturner/gokrb5/v8/client"
	"github.com/jcmturner/gokrb5/v8/config"
	"github.com/jcmturner/gokrb5/v8/credentials"
	"github.com/jcmturner/gokrb5/v8/iana/errorcode"

	"github.com/symlake/symlake/sinks/hbase/security"
)

// DefaultService is the principal of HBase's servers unless security.Options.ServerPrincipal names another.
const DefaultService = "hbase/_HOST"

// Credentials are this process's identity. Safe for concurrent use.
type Credentials struct {
	s      *settings
	keytab string
	cache  cacheName
	want   Principal // of the settings; zero: the only principal of the cache or keytab

	turn    chan struct{} // a lock: it holds one value while the fields below are free
	owner   Principal
	tgt     *Ticket
	tickets map[Principal]*Ticket
	file    string // the cache's file
	stamp   stamp
	retry   time.Time // no KDC is asked before, while the tickets are good
}

// stamp tells versions of a file apart.
type stamp struct {
	size int64
	time time.Time
}

// New finds credentials: the keytab if Options name one, else the credential cache. It reads files and asks no KDC. The error wraps ErrNone if there is no cache, or none that symlake can read; callers may go on without
// Kerberos then. An expired ticket is Ticket's error.
func New(o security.Options) (*Credentials, error) {
	s, err := loadSettings(o.Config)
	if err != nil {
		return nil, err
	}
	c := &Credentials{s: s, keytab: o.Keytab, cache: cacheName(o.Cache), turn: make(chan struct{}, 1), tickets: make(map[Principal]*Ticket)}
	c.turn <- struct{}{}
	if o.Principal != "" {
		if c.want, err = ParsePrincipal(o.Principal); err != nil {
			return nil, fmt.Errorf("hbase.principal: %w", err)
		}
		if c.want.Realm == "" && c.keytab == "" {
			c.want.Realm = s.gokrb5.LibDefaults.DefaultRealm
		}
	}
	if c.keytab != "" {
		kt, err := readKeytab(c.keytab)
		if err != nil {
			return nil, err
		}
		c.owner, err = owner(kt, c.keytab, c.want, s.gokrb5.LibDefaults.DefaultRealm)
		return c, err
	}
	if c.cache == "" {
		c.cache = s.defaultCache()
	}
	if err := c.readCache(); err != nil {
		return nil, err
	}
	return c, nil
}

// Principal names the credentials' owner.
func (c *Credentials) Principal() Principal {
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	return c.owner
}

// readCache takes over what the cache holds now.
func (c *Credentials) readCache() error {
	files, err := c.cache.files(c.want)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	var other *cache
	for _, file := range files {
		f, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		got, err := readCache(file)
		for n := 0; errors.Is(err, errShort) && n < 5; n++ { // kinit writes it just now
			time.Sleep(20 * time.Millisecond)
			got, err = readCache(file)
		}
		if err != nil {
			return err
		}
		if c.want.Name != "" && got.owner != c.want {
			other = got
			continue
		}
		return c.adopt(got, file, stamp{f.Size(), f.ModTime()})
	}
	if other != nil {
		return final("the ticket in %s belongs to %s, and hbase.principal is %s: run kinit %s, or set hbase.keytab", c.cache, other.owner, c.want, c.want)
	}
	return fmt.Errorf("%w: there is no credential cache %s: run kinit, or set hbase.keytab and hbase.principal", ErrNone, c.cache)
}

func (c *Credentials) adopt(got *cache, file string, s stamp) error {
	tickets := make(map[Principal]*Ticket)
	var tgt *Ticket
	for _, e := range got.entries {
		t, err := e.open()
		if err != nil {
			return fmt.Errorf("credential cache %s: the ticket for %s: %w", file, e.server, err)
		}
		switch {
		case e.isTGT(got.owner):
			if tgt == nil || t.End.After(tgt.End) {
				tgt = t
			}
		case e.client == got.owner && isAES(t.Key.KeyType):
			tickets[e.server] = t
		}
	}
	c.owner, c.tgt, c.tickets, c.file, c.stamp, c.retry = got.owner, tgt, tickets, file, s, time.Time{}
	return nil
}

func isAES(kind int32) bool {
	for _, t := range aesTypes {
		if t == kind {
			return true
		}
	}
	return false
}

// refresh makes the ticket-granting ticket as good as it can be. With an error there is no ticket that a KDC takes.
func (c *Credentials) refresh(ctx context.Context) error {
	now := time.Now()
	if c.keytab == "" {
		f, err := os.Stat(c.file)
		if err != nil || (stamp{f.Size(), f.ModTime()}) != c.stamp {
			if err := c.readCache(); err != nil && (c.tgt == nil || c.tgt.over(now)) {
				return err
			}
		}
	}
	if c.tgt != nil && !c.tgt.due(now) {
		return nil
	}
	usable := c.tgt != nil && !c.tgt.over(now)
	if usable && now.Before(c.retry) {
		return nil
	}
	var fresh *Ticket
	var err error
	switch {
	case c.keytab != "":
		fresh, err = c.login(ctx)
	case c.tgt == nil:
		return final("the credential cache %s holds no ticket-granting ticket of %s: run kinit", c.cache, c.owner)
	case usable && c.tgt.renew.After(c.tgt.End):
		fresh, err = c.s.exchange(ctx, c.tgt, c.owner.Realm, c.tgt.Service, true)
	case usable:
		return nil
	default:
		return final("the ticket of %s in %s expired at %s: run kinit", c.owner, c.cache, c.tgt.End.Local().Format("2006-01-02 15:04:05"))
	}
	if err == nil {
		c.tgt, c.retry = fresh, time.Time{}
		return nil
	}
	if !usable {
		return err
	}
	c.retry = now.Add(min(10*time.Second, c.tgt.End.Sub(now)/4))
	return nil
}

func (c *Credentials) login(ctx context.Context) (*Ticket, error) {
	kt, err := readKeytab(c.keytab)
	if err != nil {
		return nil, err
	}
	return c.s.login(ctx, c.owner, kt, c.keytab)
}

// Ticket returns a ticket for a server. pattern is the server's principal; "" is DefaultService. _HOST stands for
// host, which is the name that HBase gives the server, in lower case. A pattern without a realm gets the realm that
// krb5.conf maps the host to, else the default realm. If the KDC does not know the server by that name, Ticket asks
// DNS for the full name, as krb5.conf permits.
//
// An *Error holds one sentence about the cause. Unless it is Final, it may go away.
func (c *Credentials) Ticket(ctx context.Context, pattern, host string) (*Ticket, error) {
	if pattern == "" {
		pattern = DefaultService
	}
	p, err := ParsePrincipal(pattern)
	if err != nil {
		return nil, fmt.Errorf("hbase.server_principal: %w", err)
	}
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if !strings.HasSuffix(p.Name, "/_HOST") {
		return c.take(ctx, c.realm(p, host))
	}
	service, _, _ := strings.Cut(p.Name, "/")
	var first error
	var tried string
	for _, name := range c.names(ctx, host) {
		if name == tried {
			continue
		}
		tried = name
		t, err := c.take(ctx, c.realm(Principal{service + "/" + name, p.Realm}, name))
		if e := (*Error)(nil); !errors.As(err, &e) || e.code != errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN {
			return t, err
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// names yields the names that a server may have: as it is called, then by DNS. It asks DNS when asked for more.
func (c *Credentials) names(ctx context.Context, host string) func(yield func(int, string) bool) {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return func(yield func(int, string) bool) {
		ip := net.ParseIP(host)
		if ip == nil && !yield(0, host) {
			return
		}
		if c.s.canon && ip == nil {
			if full, err := net.DefaultResolver.LookupCNAME(ctx, host); err == nil {
				if !yield(1, strings.ToLower(strings.TrimSuffix(full, "."))) {
					return
				}
			}
		}
		var addresses []string
		if ip != nil {
			addresses = []string{host}
		} else if c.s.canon && c.s.rdns {
			addresses, _ = net.DefaultResolver.LookupHost(ctx, host)
		}
		for _, a := range addresses[:min(1, len(addresses))] {
			names, _ := net.DefaultResolver.LookupAddr(ctx, a)
			for _, n := range names[:min(3, len(names))] {
				if !yield(2, strings.ToLower(strings.TrimSuffix(n, "."))) {
					return
				}
			}
		}
		if ip != nil {
			yield(3, host)
		}
	}
}

// realm fills in a service's realm.
func (c *Credentials) realm(p Principal, host string) Principal {
	if p.Realm == "" {
		p.Realm = c.s.gokrb5.ResolveRealm(strings.ToLower(host))
	}
	if p.Realm == "" {
		p.Realm = c.s.gokrb5.LibDefaults.DefaultRealm
	}
	if p.Realm == "" {
		p.Realm = c.owner.Realm
	}
	return p
}

// take returns the ticket for a service, a kept one or a new one.
func (c *Credentials) take(ctx context.Context, service Principal) (*Ticket, error) {
	err := c.refresh(ctx)
	now := time.Now()
	have := c.tickets[service]
	if have != nil && have.Client != c.owner {
		have = nil
	}
	if have != nil && !have.doubted && (!have.due(now) || !have.over(now) && (err != nil || have.End.Equal(c.tgt.End) || now.Before(c.retry))) {
		return have, nil // a ticket that ends with the ticket-granting ticket cannot be bettered
	}
	var t *Ticket
	if err == nil {
		t, err = c.s.ticket(ctx, c.tgt, service)
	}
	if err == nil && !isAES(t.Key.KeyType) {
		err = final("the ticket for %s has a session key that is not AES: give the service AES keys", service)
	}
	if err != nil {
		if have != nil && !have.over(now) {
			c.retry = now.Add(min(10*time.Second, have.End.Sub(now)/4))
			return have, nil
		}
		return nil, err
	}
	c.tickets[service] = t
	return t, nil
}

// Doubt says that a server refused a ticket. Ticket gets a new one then, if a KDC gives it. Doubt is false where that
// cannot help: the ticket is fresh, or was in doubt before.
func (c *Credentials) Doubt(t *Ticket) bool {
	<-c.turn
	defer func() { c.turn <- struct{}{} }()
	if t.doubted || time.Since(t.Start) < fresh {
		return false
	}
	t.doubted = true
	return true
}

// fresh is how old a ticket may be for a refusal to have another reason than the server's new keys.
const fresh = 5 * time.Second

// Client returns a client of gokrb5 that is logged in, for libraries that want one. With a keytab it renews its
// tickets until Destroy; from a cache it is good as long as the ticket. The caller owns it.
func (c *Credentials) Client(ctx context.Context) (*client.Client, error) {
	select {
	case <-c.turn:
		defer func() { c.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := c.refresh(ctx); err != nil { // says in a sentence what gokrb5 says in four
		return nil, err
	}
	settings := *c.s.gokrb5
	settings.Realms = nil
	for _, r := range c.s.gokrb5.Realms { // gokrb5 shuffles the KDCs in place
		r.KDC = append([]string(nil), r.KDC...)
		settings.Realms = append(settings.Realms, r)
	}
	if c.keytab == "" {
		return fromTicket(c.tgt, &settings)
	}
	kt, err := readKeytab(c.keytab)
	if err != nil {
		return nil, err
	}
	settings.LibDefaults.DefaultTktEnctypeIDs = keyTypes(kt, c.owner, settings.LibDefaults.DefaultTktEnctypeIDs)
	cl := client.NewWithKeytab(c.owner.Name, c.owner.Realm, kt, &settings, client.DisablePAFXFAST(true))
	if err := guard(cl.Login); err != nil {
		return nil, final("%v", err)
	}
	return cl, nil
}

// fromTicket makes a client that has t and no key.
func fromTicket(t *Ticket, c *config.Config) (*client.Client, error) {
	b, err := t.Message.Marshal()
	if err != nil {
		return nil, err
	}
	cc := &credentials.CCache{Version: 4}
	cc.DefaultPrincipal.Realm = t.Client.Realm
	cc.DefaultPrincipal.PrincipalName = t.Client.name(1)
	entry := &credentials.Credential{Key: t.Key, AuthTime: t.Start, StartTime: t.Start, EndTime: t.End, RenewTill: t.renew, Ticket: b}
	entry.Client = cc.DefaultPrincipal
	entry.Server.Realm, entry.Server.PrincipalName = t.Service.Realm, t.Service.name(2)
	cc.Credentials = []*credentials.Credential{entry}
	var cl *client.Client
	err = guard(func() (err error) { cl, err = client.NewFromCCache(cc, c, client.DisablePAFXFAST(true)); return err })
	return cl, err
}
