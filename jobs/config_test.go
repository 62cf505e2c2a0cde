package jobs

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// found is a record of config check --json: a setting or a finding.
type found struct{ Setting, Value, From, Check, Place, State, Reason, Do string }

// check runs config check in a folder and returns its records by name.
func check(t *testing.T, dir string, env []string, code int, args ...string) (map[string]found, string) {
	t.Helper()
	cmd := symlake(t, append([]string{"config", "check", "--json"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(append(cmd.Env, "SYMLAKE_LISTEN=127.0.0.1:0"), env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.Run()
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Errorf("config check %v %v: exit code %d, want %d\n%s%s", env, args, got, code, &out, &said)
	}
	all := map[string]found{}
	for line := range strings.Lines(out.String()) {
		var f found
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		all[f.Setting+f.Check+map[bool]string{true: "?"}[f.Check != ""]] = f
	}
	return all, out.String() + said.String()
}

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// Before init all is absent, that is no fault, and nothing is made.
	all, _ := check(t, dir, nil, 0)
	if all["store?"].State != "absent" || !strings.Contains(all["store?"].Do, "symlake init") || all["store"].From != "default" || all["serve.listen?"].State != "ok" {
		t.Errorf("before init: %+v", all)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("config check left %v, %v", left, err)
	}
	// Each setting has its place, and secrets are hidden.
	yaml := "lake:\n  url: off\n  region: mars\nredis: {url: \"redis://user:geheim@127.0.0.1:1/0\"}\ntoken: geheim\n" +
		"sources:\n  - {url: objects, names: \"{app}/{build}/**\"}\n  - {url: missing}\n"
	if err := os.WriteFile(filepath.Join(dir, "symlake.yaml"), []byte(yaml), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	all, text := check(t, dir, []string{"SYMLAKE_LIMITS_MEMORY=1GiB", "SYMLAKE_LAKE_REGION=venus"}, 1, "--log-level", "warn", "--set", "limits.disk=9GiB")
	for name, want := range map[string]found{
		"lake.url": {Value: "off", From: "symlake.yaml:2"}, "lake.region": {Value: "venus", From: "SYMLAKE_LAKE_REGION"}, "limits.memory": {Value: "1GiB", From: "SYMLAKE_LIMITS_MEMORY"},
		"limits.disk": {Value: "9GiB", From: "--set"}, "log_level": {Value: "warn", From: "--log-level"}, "sources[0].names": {Value: "{app}/{build}/**", From: "symlake.yaml:7"},
		"token": {Value: "***", From: "symlake.yaml:5"}, "limits.time": {Value: "1h", From: "default"},
	} {
		if got := all[name]; got.Value != want.Value || got.From != want.From {
			t.Errorf("%s is %q from %q, want %q from %q", name, got.Value, got.From, want.Value, want.From)
		}
	}
	if strings.Contains(text, "geheim") {
		t.Errorf("a secret is shown: %s", text)
	}
	for name, want := range map[string]string{"lake?": "off", "redis?": "unreachable", "sources[0]?": "ok", "sources[1]?": "unreachable"} {
		if all[name].State != want || want == "unreachable" && (all[name].Reason == "" || all[name].Do == "") {
			t.Errorf("%s: %+v, want %s", name, all[name], want)
		}
	}
	// What is wrong is exit code 2, and names its place.
	for _, c := range []struct {
		yaml, name, want string
	}{
		{"nonsense: 1\n", "configuration?", "line 1"},
		{"min_quality: 7\n", "configuration?", "min_quality"},
		{"serve: {tls_cert: a.pem, tls_key: b.pem}\n", "serve.tls_cert?", "a.pem"},
		{"hbase: {hadoop_conf: objects}\n", "hbase.hadoop_conf?", "core-site.xml"},
		{"hbase: {keytab: absent}\n", "hbase.keytab?", "absent"},
		{"hbase: {keytab: symlake.yaml}\n", "hbase.keytab?", "every user of this machine"},
		{"hbase: {krb5_conf: absent}\n", "hbase.krb5_conf?", "absent"},
		{"hbase: {tls_ca: symlake.yaml}\n", "hbase.tls_ca?", "no PEM certificate"},
		{"hbase: {tls_certificate: a, tls_key: b}\n", "hbase.tls_certificate?", "a: no such file"},
		{"hbase: {tls_certificate: a}\n", "configuration?", "go together"},
		{"hbase: {security: plain}\n", "configuration?", "hbase.security"},
		{"hbase: {protection: all}\n", "configuration?", "hbase.protection"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "symlake.yaml"), []byte(c.yaml), 0o644); err != nil {
			t.Fatal(err)
		}
		if all, _ := check(t, dir, nil, 2); all[c.name].State != "wrong" || !strings.Contains(all[c.name].Reason, c.want) {
			t.Errorf("%q: %+v, want %s", c.yaml, all[c.name], c.want)
		}
	}
}

// A store is tried with its keys, and a place that never answers is out of reach.
func TestConfigCheckStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := symlake(t, "ingest", formattest.Testdata(t, "r8/shop.map.txt"))
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	all, _ := check(t, dir, nil, 0)
	for _, name := range []string{"store?", "keys?", "lake?"} {
		if all[name].State != "ok" {
			t.Errorf("%s: %+v", name, all[name])
		}
	}
	keyset := filepath.Join(dir, "symlake-data", "keyset.json")
	if err := os.Chmod(keyset, 0o644); err != nil {
		t.Fatal(err)
	}
	if all, _ = check(t, dir, nil, 2); !strings.Contains(all["keys?"].Do, "chmod 600") {
		t.Errorf("an open keyset: %+v", all["keys?"])
	}
	other := filepath.Join(t.TempDir(), "other.json")
	cmd = symlake(t, "--store", filepath.Join(t.TempDir(), "s"), "--keyset", other, "--config", filepath.Join(t.TempDir(), "c.yaml"), "init")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if all, _ = check(t, dir, nil, 2, "--keyset", other); !strings.Contains(all["keys?"].Reason, "does not open the store") {
		t.Errorf("another keyset: %+v", all["keys?"])
	}
	if err := os.Remove(keyset); err != nil {
		t.Fatal(err)
	}
	if all, _ = check(t, dir, nil, 2); !strings.Contains(all["keys?"].Reason, "missing") {
		t.Errorf("no keyset: %+v", all["keys?"])
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	if all, _ = check(t, dir, nil, 1, "--store", "http://"+silent.Addr().String()); all["store?"].State != "unreachable" || !strings.Contains(all["store?"].Reason, "within 5s") {
		t.Errorf("a silent server: %+v", all["store?"])
	}
}

// Settings of HBase's security reach the store as the file, --set and the variables say them.
func TestHBaseCredentials(t *testing.T) {
	text := "hbase:\n  security: kerberos\n  principal: loader@A\n  keytab: k.keytab\n  krb5_conf: krb5.conf\n  credential_cache: cc\n  server_principal: hbase/_HOST@A\n" +
		"  protection: privacy\n  allow_insecure_fallback: true\n  token_file: tokens\n  tls: true\n  tls_ca: ca.pem\n  tls_server_name: name\n  tls_certificate: c.pem\n  tls_key: /c.key\n"
	c, err := settings.Parse([]byte(text), "symlake.yaml", "/dir")
	if err != nil {
		t.Fatal(err)
	}
	want := security.Options{Mode: "kerberos", Principal: "loader@A", Keytab: "/dir/k.keytab", Config: "/dir/krb5.conf", Cache: "/dir/cc", ServerPrincipal: "hbase/_HOST@A",
		Protection: "privacy", AllowInsecureFallback: true, TokenFile: "/dir/tokens",
		TLS: security.TLS{On: true, CA: "/dir/ca.pem", ServerName: "name", Certificate: "/dir/c.pem", Key: "/c.key"}}
	if got := c.HBase.Credentials(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	t.Setenv("SYMLAKE_HBASE_CREDENTIAL_CACHE", "FILE:/other")
	t.Setenv("SYMLAKE_HBASE_TLS_CA", "/other.pem")
	t.Setenv("SYMLAKE_HBASE_ALLOW_INSECURE_FALLBACK", "no")
	if err := c.Override(map[string]string{"hbase.protection": "integrity", "hbase.tls_ca": "/set.pem"}); err != nil {
		t.Fatal(err)
	}
	want.Cache, want.TLS.CA, want.AllowInsecureFallback, want.Protection = "FILE:/other", "/set.pem", false, "integrity"
	if got := c.HBase.Credentials(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
