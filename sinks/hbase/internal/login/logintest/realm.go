package logintest

import (
	"crypto/rand"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/symlake/symlake/sinks/hbase/security"
)

// Names of the realm, its client and its service.
const (
	Name    = "FAKE.TEST"
	Client  = "loader@" + Name
	Service = "hbase/localhost@" + Name
)

// Realm has one client and one service. Its KDC is away.
type Realm struct {
	Config string // krb5.conf
	dir    string
	kind   int32
	keys   *keytab.Keytab
}

// NewRealm makes a realm with keys of an encryption type, such as 18.
func NewRealm(t testing.TB, kind int32) *Realm {
	t.Helper()
	r := &Realm{dir: t.TempDir(), kind: kind, keys: keytab.New()}
	r.Config = filepath.Join(r.dir, "krb5.conf")
	text := "[libdefaults]\n default_realm = " + Name + "\n dns_canonicalize_hostname = false\n[realms]\n " + Name + " = {\n  kdc = 127.0.0.1:1\n }\n"
	if err := os.WriteFile(r.Config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(Service, "@")
	if err := r.keys.AddEntry(name, Name, "secret of the service", time.Now(), 1, kind); err != nil {
		t.Fatal(err)
	}
	if err := r.keys.AddEntry("krbtgt/"+Name, Name, "secret of the realm", time.Now(), 1, kind); err != nil {
		t.Fatal(err)
	}
	return r
}

// Options are a client's, with a cache of tickets that end after life.
func (r *Realm) Options(t testing.TB, life time.Duration) security.Options {
	t.Helper()
	cache := filepath.Join(t.TempDir(), "cache")
	r.Write(t, cache, life)
	return security.Options{Config: r.Config, Cache: "FILE:" + cache}
}

// Write writes a cache with a ticket-granting ticket and a ticket for the service.
func (r *Realm) Write(t testing.TB, file string, life time.Duration) {
	t.Helper()
	b := []byte{5, 4, 0, 0}
	b = principal(b, Client)
	for _, service := range []string{"krbtgt/" + Name + "@" + Name, Service} {
		start := time.Now().Add(-time.Minute)
		name, _, _ := strings.Cut(service, "@")
		ticket, key, err := r.ticket(name, start, time.Now().Add(life))
		if err != nil {
			t.Fatal(err)
		}
		message, err := ticket.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		b = principal(principal(b, Client), service)
		b = data(binary.BigEndian.AppendUint16(b, uint16(key.KeyType)), key.KeyValue)
		for _, at := range []time.Time{start, start, time.Now().Add(life), {}} {
			n := uint32(0)
			if !at.IsZero() {
				n = uint32(at.Unix())
			}
			b = binary.BigEndian.AppendUint32(b, n)
		}
		b = append(b, make([]byte, 1+4+4+4)...) // no session key of another's, no flags, addresses and authorizations
		b = data(data(b, message), nil)
	}
	if err := os.WriteFile(file+".new", b, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		t.Fatal(err)
	}
}

// ticket makes a ticket of our client. gokrb5's own makes keys of 24 bytes for type 20.
func (r *Realm) ticket(service string, start, end time.Time) (t messages.Ticket, session types.EncryptionKey, err error) {
	long, kvno, err := r.keys.GetEncryptionKey(types.NewPrincipalName(nametype.KRB_NT_SRV_INST, service), Name, 0, r.kind)
	if err != nil {
		return t, session, err
	}
	session = types.EncryptionKey{KeyType: r.kind, KeyValue: make([]byte, len(long.KeyValue))}
	_, _ = rand.Read(session.KeyValue)
	b, err := asn1.Marshal(messages.EncTicketPart{Flags: types.NewKrbFlags(), Key: session, CRealm: Name,
		CName: types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, "loader"), AuthTime: start.UTC(), StartTime: start.UTC(), EndTime: end.UTC()})
	if err != nil {
		return t, session, err
	}
	t = messages.Ticket{TktVNO: iana.PVNO, Realm: Name, SName: types.NewPrincipalName(nametype.KRB_NT_SRV_INST, service)}
	t.EncPart, err = crypto.GetEncryptedData(asn1tools.AddASNAppTag(b, asnAppTag.EncTicketPart), long, keyusage.KDC_REP_TICKET, kvno)
	return t, session, err
}

func principal(b []byte, s string) []byte {
	name, realm, _ := strings.Cut(s, "@")
	parts := strings.Split(name, "/")
	b = binary.BigEndian.AppendUint32(b, 1)
	b = binary.BigEndian.AppendUint32(b, uint32(len(parts)))
	b = data(b, []byte(realm))
	for _, p := range parts {
		b = data(b, []byte(p))
	}
	return b
}

func data(b, v []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
}
