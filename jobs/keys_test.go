package jobs

import (
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/sinks/bucket/s3/s3test"
	"github.com/symlake/symlake/sinks/kek/kmstest"
)

// refused runs the program, and wants exit code 1 and one line that says these things.
func refused(t *testing.T, texts []string, args ...string) {
	t.Helper()
	_, stderr := mustRun(t, []int{1}, args...)
	var said []string
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "{") { // those are logs, and the report
			said = append(said, line)
		}
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "symlake: ") || len(said[0]) > 600 {
		t.Errorf("symlake %v: want one line, not\n%s", args, strings.Join(said, ""))
		return
	}
	for _, text := range texts {
		if !strings.Contains(said[0], text) {
			t.Errorf("symlake %v does not say %q: %s", args, text, said[0])
		}
	}
}

// keyService is a key service that this process's children use.
func keyService(t *testing.T) (*kmstest.Server, string) {
	t.Helper()
	s3test.Environment(t)
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDTEST")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	s, arn := kmstest.New(t)
	t.Setenv("SYMLAKE_KMS_ENDPOINT", s.URL)
	return s, arn
}

// closedPort returns an address without a listener.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// status returns the status of one position, and whether asking again may help.
func status(t *testing.T, args ...string) (status string, retry bool) {
	t.Helper()
	out, _ := mustRun(t, []int{0, 1}, append(args, "--json", "lookup", "libgame-arm64-dw5.so", "0x4748")...)
	var a struct {
		Status string
		Retry  bool
	}
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return a.Status, a.Retry
}

// What each of the README's roles may do with a key of a key service, and what it is told where it may not. A refusal leaves nothing
// half done.
func TestKeyRoles(t *testing.T) {
	kms, arn := keyService(t)
	dir := t.TempDir()
	object := formattest.Testdata(t, "elf/libgame-arm64-dw5.so")
	store := []string{"--store", filepath.Join(dir, "store"), "--lake", "off", "--kms", arn}
	with := func(args ...string) []string { return append(store[:len(store):len(store)], args...) }
	refusedKey := []string{arn, "AccessDeniedException", "you may not use it"}

	kms.Deny(arn, "Encrypt")
	refused(t, refusedKey, with("ingest", object)...)
	if _, err := os.Stat(filepath.Join(dir, "store")); !os.IsNotExist(err) {
		t.Errorf("a refusal left a store: %v", err)
	}
	kms.Deny(arn)
	mustRun(t, []int{0}, with("ingest", object)...)
	kms.Calls()
	if s, _ := status(t, store...); s != "found" {
		t.Errorf("a reader: %s", s)
	}
	if calls := kms.Calls(); len(calls) != 1 || calls[0].Operation != "Decrypt" {
		t.Errorf("a reader asked the key service %v", calls)
	}

	// Readers and loaders decrypt only.
	kms.Deny(arn, "Encrypt")
	if s, _ := status(t, store...); s != "found" {
		t.Errorf("a reader that may decrypt only: %s", s)
	}
	mustRun(t, []int{0}, with("ingest", formattest.Testdata(t, "elf/libgame-x64-dw5.so"))...)
	before, _ := mustRun(t, []int{0}, with("keys", "list")...)
	refused(t, refusedKey, with("keys", "rotate")...)
	if after, _ := mustRun(t, []int{0}, with("keys", "list")...); after != before {
		t.Errorf("a refused rotation left\n%s, was\n%s", after, before)
	}

	// A caller without the right to decrypt gets nothing.
	kms.Deny(arn, "Decrypt", "Encrypt")
	if s, retry := status(t, store...); s != "sealed" || retry {
		t.Errorf("who may not decrypt: %s, retry %v", s, retry)
	}
	for _, args := range [][]string{{"ingest", object}, {"keys", "rotate"}, {"keys", "shred", "--yes", "libgame-arm64-dw5.so"}, {"verify"}, {"gc"}, {"audit"}} {
		refused(t, refusedKey, with(args...)...)
	}
	kms.Deny(arn)
	kms.SetState(arn, "PendingDeletion")
	refused(t, []string{"KMSInvalidStateException"}, with("verify")...)
	kms.SetState(arn, "Enabled")

	// Away is not refused: asking again may help.
	kms.Fail(kmstest.Fault{Status: 400, Code: "ExpiredTokenException"})
	if s, retry := status(t, store...); s != "unavailable" || !retry {
		t.Errorf("old credentials: %s, retry %v", s, retry)
	}
	kms.Fail(kmstest.Fault{Status: 400, Code: "UnrecognizedClientException"})
	refused(t, []string{arn, "UnrecognizedClientException"}, with("ingest", object)...)
	t.Setenv("SYMLAKE_KMS_ENDPOINT", "http://"+closedPort(t))
	refused(t, []string{arn, "connection refused"}, with("ingest", object)...)
	t.Setenv("SYMLAKE_KMS_ENDPOINT", kms.URL)
	mustRun(t, []int{0}, with("verify")...)
	mustRun(t, []int{0}, with("keys", "rotate")...)
	mustRun(t, []int{0}, with("keys", "shred", "--yes", "libgame-arm64-dw5.so")...)
	if s, _ := status(t, store...); s != "sealed" {
		t.Errorf("shredded: %s", s)
	}
}

// A store moves from a keyset to a key service and to another key; the old one opens it no more.
func TestRehome(t *testing.T) {
	kms, arn := keyService(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "store")
	store := []string{"--store", path, "--lake", "off"}
	with := func(args ...string) []string { return append(store[:len(store):len(store)], args...) }
	mustRun(t, []int{0}, with("ingest", formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))...)
	digest, ledger := stateOf(t, store...)
	keyset := filepath.Join(path, settings.DefaultKeyset)
	kms.Deny(arn, "Encrypt")
	refused(t, []string{arn, "AccessDeniedException"}, with("--kms", arn, "keys", "rotate", "--from-keyset", keyset)...)
	if s, _ := status(t, store...); s != "found" {
		t.Errorf("after a move that was refused: %s", s)
	}
	kms.Deny(arn)
	mustRun(t, []int{0}, with("--kms", arn, "keys", "rotate", "--from-keyset", keyset)...)
	if d, l := stateOf(t, with("--kms", arn)...); d != digest || l != ledger {
		t.Errorf("digest %s, want %s; ledger %s, want %s", d, digest, l, ledger)
	}
	if s, _ := status(t, store...); s != "sealed" {
		t.Errorf("by the keyset: %s", s)
	}
	refused(t, []string{"it is under " + arn, keyset}, with("verify")...)
	other := kms.AddKey("alias/other")
	mustRun(t, []int{0}, with("--kms", other, "keys", "rotate", "--from-kms", arn)...)
	if d, _ := stateOf(t, with("--kms", other)...); d != digest {
		t.Errorf("digest %s, want %s", d, digest)
	}
	out, _ := mustRun(t, []int{0}, with("--kms", other, "audit", "--what", "rehome")...)
	if strings.Count(out, "\n") != 2 {
		t.Errorf("the audit says %s", out)
	}

	// A copy into a store under another key.
	copied := filepath.Join(dir, "copy")
	mustRun(t, []int{0}, "--store", copied, "--lake", "off", "load", "--from", path, "--from-kms", other)
	if d, _ := stateOf(t, "--store", copied, "--lake", "off"); d != digest {
		t.Errorf("digest of the copy %s, want %s", d, digest)
	}
	refused(t, []string{"IncorrectKeyException"}, "--store", filepath.Join(dir, "third"), "--lake", "off", "load", "--from", path, "--from-kms", arn)
}

// What a source, a lake or a store out of reach, or their refusals, say; the next run does the work.
func TestOutOfReach(t *testing.T) {
	server := s3test.Start(t)
	server.Make(t, "symbols")
	text, err := os.ReadFile(formattest.Testdata(t, "elf/libgame-arm64-dw5.so"))
	if err != nil {
		t.Fatal(err)
	}
	server.Put(t, "symbols", "libgame-arm64-dw5.so", text, nil)
	store := filepath.Join(t.TempDir(), "store")
	ingest := func(endpoint, lake string) []string {
		return []string{"--store", store, "--lake", lake, "ingest", "s3://symbols/", "--endpoint", endpoint, "--region", s3test.Region, "--path-style"}
	}
	t.Setenv("AWS_MAX_ATTEMPTS", "2")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
	refused(t, []string{"s3://symbols/", "SignatureDoesNotMatch"}, ingest(server.Endpoint, "off")...)
	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	refused(t, []string{"s3://symbols/", "no credentials"}, ingest(server.Endpoint, "off")...)
	t.Setenv("AWS_ACCESS_KEY_ID", s3test.AccessKey)
	t.Setenv("AWS_SECRET_ACCESS_KEY", s3test.SecretKey)
	refused(t, []string{"s3://symbols/", "connection refused"}, ingest("http://"+closedPort(t), "off")...)
	t.Setenv("AWS_ENDPOINT_URL_S3", "http://"+closedPort(t)) // the lake's; the source has its own
	refused(t, []string{"lake", "s3://lake/", "connection refused"}, ingest(server.Endpoint, "s3://lake/")...)
	os.Unsetenv("AWS_ENDPOINT_URL_S3")

	out, _ := mustRun(t, []int{0}, "--store", store, "objects", "--json")
	if out != "" {
		t.Errorf("the ledger has %s", out)
	}
	mustRun(t, []int{0}, ingest(server.Endpoint, "off")...)
	if s, _ := status(t, "--store", store); s != "found" {
		t.Error(s)
	}

	// A store on a full file system, and a folder that is no store.
	locked := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(locked, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, []string{locked}, "--store", filepath.Join(locked, "store"), "ingest", "s3://symbols/", "--endpoint", server.Endpoint)
	if err := os.Rename(filepath.Join(store, settings.DefaultKeyset), filepath.Join(store, "away")); err != nil {
		t.Fatal(err)
	}
	refused(t, []string{settings.DefaultKeyset, "is missing", "put it back"}, ingest(server.Endpoint, "off")...)
}
