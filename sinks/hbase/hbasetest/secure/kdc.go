package secure

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks/hbase/hbasetest/internal/child"
)

// Realm is the realm of every KDC here.
const Realm = "SYMLAKE.TEST"

// Services are principals of servers, NAME/localhost. Users are principals of people and jobs.
var (
	Services = []string{"hbase", "hdfs", "HTTP", "zookeeper"}
	Users    = []string{"loader", "reader", "stranger", "worker"}
)

// KDC is a running MIT Kerberos.
type KDC struct {
	Dir     string
	Config  string // path of krb5.conf
	Address string // host:port, TCP

	proc *child.Process
}

// programs that a KDC needs, and the package of Debian that has each.
var programs = map[string]string{"krb5kdc": "krb5-kdc", "kdb5_util": "krb5-kdc", "kadmin.local": "krb5-admin-server", "kinit": "krb5-user"}

// program finds a program. Daemons are in folders that not every PATH has.
func program(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	path = filepath.Join("/usr/sbin", name)
	if _, e := os.Stat(path); e != nil {
		return "", err
	}
	return path, nil
}

// NeedKerberos skips a test where programs of MIT Kerberos are missing. Under formattest.Require it fails.
func NeedKerberos(t testing.TB) {
	t.Helper()
	for name := range programs {
		if _, err := program(name); err != nil {
			formattest.Missing(t, name, "apt-get install krb5-kdc krb5-admin-server krb5-user")
		}
	}
}

// StartKDC starts a KDC that ends with the test.
func StartKDC(t testing.TB) *KDC {
	t.Helper()
	NeedKerberos(t)
	k, err := NewKDC(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Stop)
	return k
}

// NewKDC starts a KDC with its files in dir, until Stop.
func NewKDC(dir string) (*KDC, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	k := &KDC{Dir: dir, Config: filepath.Join(dir, "krb5.conf"), Address: "127.0.0.1:" + port}
	for name, text := range map[string]string{"krb5.conf": clientConfig, "kdc.conf": serverConfig, "kadm5.acl": ""} {
		text = strings.NewReplacer("@DIR@", dir, "@PORT@", port, "@REALM@", Realm).Replace(text)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	if _, err := k.run("", "kdb5_util", "create", "-s", "-r", Realm, "-P", "master-of-test"); err != nil {
		return nil, err
	}
	var commands []string
	add := func(name, principal string) {
		commands = append(commands, "addprinc -randkey "+principal, "ktadd -k "+k.Keytab(name)+" "+principal)
	}
	for _, name := range Services {
		add(name, name+"/localhost")
	}
	for _, name := range Users {
		add(name, name)
	}
	if _, err := k.admin(commands...); err != nil {
		return nil, err
	}
	return k, k.Start()
}

// Start starts a stopped KDC again, on its old port.
func (k *KDC) Start() error {
	path, err := program("krb5kdc")
	if err != nil {
		return err
	}
	out, err := os.Create(filepath.Join(k.Dir, "kdc.out"))
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(path, "-n")
	cmd.Env, cmd.Stdout, cmd.Stderr = k.environment(), out, out
	if k.proc, err = child.Start(cmd); err != nil {
		return err
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, err := net.Dial("tcp", k.Address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-k.proc.Ended:
			text, _ := os.ReadFile(out.Name())
			return fmt.Errorf("krb5kdc ended: %s", text)
		default:
		}
		if time.Now().After(deadline) {
			k.Stop()
			return errors.New("krb5kdc does not listen")
		}
	}
}

// Stop ends the KDC. Its files stay.
func (k *KDC) Stop() { k.proc.Kill() }

// Keytab is the path of a principal's keytab, by the principal's first name.
func (k *KDC) Keytab(name string) string { return filepath.Join(k.Dir, name+".keytab") }

// Admin gives commands to kadmin.local and returns what it printed.
func (k *KDC) Admin(t testing.TB, commands ...string) string {
	t.Helper()
	out, err := k.admin(commands...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var failure = regexp.MustCompile(`(?m)^kadmin\.local: \S`)

func (k *KDC) admin(commands ...string) (string, error) {
	out, err := k.run(strings.Join(commands, "\n")+"\n", "kadmin.local", "-r", Realm)
	// kadmin.local exits 0 after a command that it could not do. Behind a prompt are two spaces.
	if err == nil && failure.MatchString(out) {
		err = fmt.Errorf("kadmin.local: %s", out)
	}
	return out, err
}

// Login gets a ticket by a keytab of this KDC and returns the path of the cache that holds it. Options are kinit's, such
// as "-l", "5s".
func (k *KDC) Login(t testing.TB, name string, options ...string) string {
	t.Helper()
	cache := filepath.Join(t.TempDir(), "cache")
	principal := name
	for _, s := range Services {
		if s == name {
			principal += "/localhost"
		}
	}
	if _, err := k.run("", "kinit", append(options, "-c", "FILE:"+cache, "-k", "-t", k.Keytab(name), principal)...); err != nil {
		t.Fatal(err)
	}
	return cache
}

// environment is for MIT's programs.
func (k *KDC) environment() []string {
	return append(os.Environ(), "KRB5_CONFIG="+k.Config, "KRB5_KDC_PROFILE="+filepath.Join(k.Dir, "kdc.conf"), "LC_ALL=C")
}

func (k *KDC) run(input, name string, args ...string) (string, error) {
	path, err := program(name)
	if err != nil {
		return "", err
	}
	cmd := exec.Command(path, args...)
	var out bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = k.environment(), strings.NewReader(input), &out, &out
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", name, err, out.Bytes())
	}
	return out.String(), nil
}

// clientConfig is krb5.conf. Java reads a realm's block only if it spans lines.
const clientConfig = `[libdefaults]
 default_realm = @REALM@
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
 ticket_lifetime = 10h
 renew_lifetime = 7d
 forwardable = true
 default_ccache_name = FILE:@DIR@/ccache
[realms]
 @REALM@ = {
  kdc = 127.0.0.1:@PORT@
 }
[domain_realm]
 localhost = @REALM@
`

const serverConfig = `[kdcdefaults]
 kdc_ports = ""
 kdc_tcp_ports = @PORT@
 kdc_listen = ""
 kdc_tcp_listen = 127.0.0.1:@PORT@
[realms]
 @REALM@ = {
  database_name = @DIR@/principal
  key_stash_file = @DIR@/stash
  acl_file = @DIR@/kadm5.acl
  max_renewable_life = 7d
  supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha1-96:normal
 }
[logging]
 kdc = FILE:@DIR@/kdc.log
`
