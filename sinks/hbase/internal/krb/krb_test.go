package krb

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jcmturner/gokrb5/v8/iana/errorcode"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/symlake/symlake/sinks/hbase/security"
)

func write(t testing.TB, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Files as distributions and administrators write them: includes, braces on one line, sections twice, spellings of
// truth, directives of other programs.
func TestProfile(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "krb5.conf.d"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "krb5.conf.d", "crypto-policies"), "[libdefaults]\npermitted_enctypes = aes256-cts-hmac-sha384-192 camellia256-cts-cmac\n")
	write(t, filepath.Join(dir, "krb5.conf.d", "realm.conf"), "[realms]\nONE.TEST = { kdc = one.test }\n")
	write(t, filepath.Join(dir, "krb5.conf.d", "ignored.conf~"), "junk")
	write(t, filepath.Join(dir, "more"), "[domain_realm]\n.one.test = ONE.TEST\n")
	main := write(t, filepath.Join(dir, "krb5.conf"), `includedir `+dir+`/krb5.conf.d
include `+dir+`/more
includedir `+dir+`/absent
module /usr/lib/x.so:y
# a comment
[logging]
 default = FILE:/var/log/krb5libs.log
[libdefaults]
	default_realm = TWO.TEST
	dns_lookup_kdc = off
	forwardable=yes
	clockskew = 3m 20s
	ticket_lifetime = 1d
	renew_lifetime = 0
	default_ccache_name = KEYRING:persistent:%{uid}
	TWO.TEST = {
		default_tkt_enctypes = rc4-hmac
	}
[realms]
 TWO.TEST = {
  kdc = kdc.two.test:1088
  kdc = tcp/[::1]
  kdc = https://proxy.two.test/KdcProxy
  admin_server = kdc.two.test
  auth_to_local = RULE:[1:$1@$0](.*@TWO.TEST)s/@.*//
  v4_name_convert = {
   host = { rcmd = host }
  }
 }
[realms]
 THREE.TEST = {
  kdc = three.test
 }
[domain_realm]
 host.two.test = TWO.TEST
 .sub.two.test = THREE.TEST
`)
	s, err := loadSettings(main)
	if err != nil {
		t.Fatal(err)
	}
	l := s.gokrb5.LibDefaults
	if l.DefaultRealm != "TWO.TEST" || l.DNSLookupKDC || !l.Forwardable || l.Clockskew != 200*time.Second || l.TicketLifetime != 24*time.Hour || l.RenewLifetime != 0 {
		t.Errorf("%+v", l)
	}
	if len(l.DefaultTktEnctypeIDs) != 1 || l.DefaultTktEnctypeIDs[0] != 20 {
		t.Errorf("encryption types %v", l.DefaultTktEnctypeIDs)
	}
	for realm, want := range map[string]string{"ONE.TEST": "one.test:88", "TWO.TEST": "kdc.two.test:1088 [::1]:88", "THREE.TEST": "three.test:88"} {
		if list, err := s.kdcs(t.Context(), realm); err != nil || strings.Join(list, " ") != want {
			t.Errorf("%s: %v, %v", realm, list, err)
		}
	}
	for host, want := range map[string]string{"host.two.test": "TWO.TEST", "a.sub.two.test": "THREE.TEST", "x.one.test": "ONE.TEST", "elsewhere": ""} {
		if got := s.gokrb5.ResolveRealm(host); got != want {
			t.Errorf("%s is of %q, want %q", host, got, want)
		}
	}
	for text, want := range map[string]string{
		"[libdefaults]\nclockskew = soon\n":                         "clockskew = soon",
		"[libdefaults]\nforwardable = perhaps\n":                    "forwardable = perhaps",
		"[libdefaults]\npermitted_enctypes = des-cbc-crc\n":         "needs an AES type",
		"default_realm = X\n":                                       "line 1",
		"[realms]\nX = {\n":                                         "is not closed",
		"[realms]\n}\n":                                             "none is open",
		"include " + dir + "/loop\n":                                "more than 256 files",
		"[libdefaults]\n" + strings.Repeat("a = {\n", 40):           "too deeply",
		"include " + filepath.Join(dir, "nowhere") + "\n[realms]\n": "nowhere",
	} {
		write(t, filepath.Join(dir, "loop"), "include "+dir+"/loop\n")
		if _, err := loadSettings(write(t, filepath.Join(dir, "bad"), text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := loadSettings(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Caches that symlake cannot read, or that are not there, are no fault before a server demands Kerberos.
func TestNone(t *testing.T) {
	dir := t.TempDir()
	config := write(t, filepath.Join(dir, "krb5.conf"), "[libdefaults]\n default_realm = X.TEST\n")
	for cache, want := range map[string]string{
		"FILE:" + dir + "/none":   "run kinit",
		dir + "/none":             "run kinit",
		"DIR:" + dir + "/none":    "run kinit",
		"KEYRING:persistent:1000": "reads credential caches in files only",
		"KCM:0":                   "reads credential caches in files only",
	} {
		if _, err := New(security.Options{Config: config, Cache: cache}); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", cache, err)
		}
		t.Setenv("KRB5CCNAME", cache)
		if _, err := New(security.Options{Config: config}); !errors.Is(err, ErrNone) || !strings.Contains(err.Error(), want) {
			t.Errorf("KRB5CCNAME=%s: %v", cache, err)
		}
	}
	for name, text := range map[string]string{"junk": "hello", "short": "\x05\x04\x00\x0c\x00", "old": "\x05\x02\x00\x00\x00\x00"} {
		if _, err := New(security.Options{Config: config, Cache: write(t, filepath.Join(dir, name), text)}); err == nil || errors.Is(err, ErrNone) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := New(security.Options{Config: config, Keytab: filepath.Join(dir, name)}); err == nil || !strings.Contains(err.Error(), "hbase.keytab") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New(security.Options{Config: config, Keytab: filepath.Join(dir, "absent")}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := New(security.Options{Config: config, Principal: "a b"}); err == nil {
		t.Error("a principal with a space")
	}
}

// fakeKDC answers each request by answer and returns a krb5.conf that names it.
func fakeKDC(t testing.TB, answer func(request []byte) []byte) *settings {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				var head [4]byte
				if _, err := io.ReadFull(c, head[:]); err != nil {
					return
				}
				b := make([]byte, binary.BigEndian.Uint32(head[:]))
				if _, err := io.ReadFull(c, b); err == nil {
					_, _ = c.Write(answer(b))
				}
			}()
		}
	}()
	s, err := loadSettings(write(t, filepath.Join(t.TempDir(), "krb5.conf"), "[libdefaults]\n default_realm = X.TEST\n[realms]\n X.TEST = {\n  kdc = "+l.Addr().String()+"\n }\n"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func framed(b []byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }

// Each refusal of a KDC is one sentence, and says whether to try again.
func TestRefusals(t *testing.T) {
	client, service := Principal{"loader", "X.TEST"}, Principal{"hbase/h", "X.TEST"}
	for code, want := range map[int32]string{
		errorcode.KDC_ERR_C_PRINCIPAL_UNKNOWN: "knows no principal loader@X.TEST",
		errorcode.KDC_ERR_S_PRINCIPAL_UNKNOWN: "knows no service hbase/h@X.TEST",
		errorcode.KDC_ERR_ETYPE_NOSUPP:        "needs AES keys",
		errorcode.KDC_ERR_CLIENT_REVOKED:      "has locked",
		errorcode.KDC_ERR_KEY_EXPIRED:         "make the keytab anew",
		errorcode.KRB_AP_ERR_TKT_EXPIRED:      "run kinit",
		errorcode.KRB_AP_ERR_SKEW:             "behind the clock of the KDC of X.TEST: set them by NTP",
		errorcode.KDC_ERR_WRONG_REALM:         "is not of realm",
		errorcode.KDC_ERR_POLICY:              "KDC policy rejects request",
	} {
		e := messages.NewKRBError(types.NewPrincipalName(2, "krbtgt/X.TEST"), "X.TEST", code, "")
		e.STime = e.STime.Add(10 * time.Minute)
		b, err := e.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		s := fakeKDC(t, func([]byte) []byte { return framed(b) })
		_, err = s.ask(t.Context(), "X.TEST", func() ([]byte, error) { return []byte("?"), nil })
		var no messages.KRBError
		if !errors.As(err, &no) {
			t.Fatal(err)
		}
		got := refused(no, "X.TEST", client, service)
		if !strings.Contains(got.Error(), want) || !got.Final {
			t.Errorf("%d: %v, want %q", code, got, want)
		}
	}
	for name, answer := range map[string][]byte{"http": []byte("HTTP/1.1 400 Bad Request"), "long": {0x7f, 0, 0, 0}, "empty": {0, 0, 0, 0}, "short": {0, 0, 1, 0, 1}, "nothing": nil} {
		s := fakeKDC(t, func([]byte) []byte { return answer })
		_, err := s.ask(t.Context(), "X.TEST", func() ([]byte, error) { return []byte("?"), nil })
		var e *Error
		if !errors.As(err, &e) || e.Final {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fakeKDC(t, nil).ask(ctx, "X.TEST", func() ([]byte, error) { return nil, nil }); err == nil {
		t.Error("a call that was given up")
	}
	var e *Error
	if _, err := fakeKDC(t, nil).kdcs(ctx, "Y.TEST"); !errors.As(err, &e) || !e.Final || !strings.Contains(err.Error(), "Y.TEST") {
		t.Error(err)
	}
}

// A KDC that answers with junk gives no ticket.
func TestJunk(t *testing.T) {
	for _, answer := range []string{"junk", "\x6b\x03\x02\x01\x05", "\x6d\x80", strings.Repeat("\x30\x80", 1000)} {
		s := fakeKDC(t, func([]byte) []byte { return framed([]byte(answer)) })
		tgt := &Ticket{Client: Principal{"a", "X.TEST"}, Service: Principal{"krbtgt/X.TEST", "X.TEST"}, Key: types.EncryptionKey{KeyType: 17, KeyValue: make([]byte, 16)}}
		tgt.Message.SName = types.NewPrincipalName(2, "krbtgt/X.TEST")
		tgt.Message.Realm = "X.TEST"
		if _, err := s.ticket(t.Context(), tgt, Principal{"hbase/h", "X.TEST"}); err == nil || !strings.Contains(err.Error(), "malformed") {
			t.Errorf("%q: %v", answer, err)
		}
	}
}
