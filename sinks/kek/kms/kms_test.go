package kms

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/symlake/symlake/formats/formattest"
	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/kek"
	"github.com/symlake/symlake/sinks/kek/kmstest"
)

// service is a key service and a key of it, and credentials to use it.
func service(t *testing.T) (*kmstest.Server, string, *Key) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDTEST")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	s, arn := kmstest.New(t)
	return s, arn, kmsKey(t, Options{Key: arn, Endpoint: s.URL})
}

func kmsKey(t *testing.T, o Options) *Key {
	t.Helper()
	o.pause = 10 * time.Millisecond
	k, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKMSRoundTrip(t *testing.T) {
	s, arn, k := service(t)
	sealed := seal(t, k)
	for _, name := range []string{arn, arn[:strings.Index(arn, "key/")] + "alias/symlake"} {
		got, err := kmsKey(t, Options{Key: name, Endpoint: s.URL}).Decrypt(t.Context(), sealed, []byte("where"))
		if err != nil || string(got) != "secret" {
			t.Fatalf("%s: %q, %v", name, got, err)
		}
	}
	for _, c := range s.Calls() {
		if c.Access != "AKIDTEST" || len(c.Context) != 1 || c.Context["associatedData"] != fmt.Sprintf("%x", "where") {
			t.Errorf("asked %+v", c)
		}
	}
	_, err := k.Decrypt(t.Context(), sealed, []byte("elsewhere"))
	refusal(t, err, arn, "InvalidCiphertextException")
	if k.ID() != arn {
		t.Errorf("id %s", k.ID())
	}
}

// A short name needs a region; AWS's own variables name the endpoint, too.
func TestKMSPlaces(t *testing.T) {
	s, arn, _ := service(t)
	if _, err := Open(t.Context(), Options{Key: "alias/symlake"}); err == nil || !strings.Contains(err.Error(), "region") {
		t.Errorf("no region: %v", err)
	}
	t.Setenv("AWS_ENDPOINT_URL_KMS", s.URL)
	for _, o := range []Options{{Key: "alias/symlake", Region: kmstest.Region}, {Key: arn[strings.Index(arn, "key/")+4:], Region: kmstest.Region}, {Key: arn}} {
		seal(t, kmsKey(t, o))
	}
}

func TestKMSRefusals(t *testing.T) {
	s, arn, k := service(t)
	sealed := seal(t, k)
	decrypt := func(k *Key) error {
		_, err := k.Decrypt(t.Context(), sealed, []byte("where"))
		return err
	}
	refusal(t, decrypt(kmsKey(t, Options{Key: s.AddKey(""), Endpoint: s.URL})), "IncorrectKeyException")
	refusal(t, decrypt(kmsKey(t, Options{Key: strings.Replace(arn, "key/", "key/0", 1), Endpoint: s.URL})), "NotFoundException")
	s.Deny(arn, "Decrypt")
	refusal(t, decrypt(k), arn, "AccessDeniedException", "not authorized to perform: kms:Decrypt", "you may not use it")
	seal(t, k) // a loader may wrap what it cannot unwrap
	s.Deny(arn)
	s.SetState(arn, "Disabled")
	refusal(t, decrypt(k), arn, "DisabledException")
	s.SetState(arn, "PendingDeletion")
	refusal(t, decrypt(k), arn, "KMSInvalidStateException")
	s.SetState(arn, "Enabled")
	s.Calls()
	if err := decrypt(k); err != nil || len(s.Calls()) != 1 {
		t.Errorf("when it is enabled again: %v", err)
	}
}

// What says nothing of the key is tried again, and is no refusal.
func TestKMSOutOfReach(t *testing.T) {
	s, arn, k := service(t)
	sealed := seal(t, k)
	busy, cut := kmstest.Fault{Status: http.StatusBadRequest, Code: "ThrottlingException"}, kmstest.Fault{}
	s.Fail(busy, cut, kmstest.Fault{Status: 500, Code: "KMSInternalException"})
	if got, err := k.Decrypt(t.Context(), sealed, []byte("where")); err != nil || string(got) != "secret" {
		t.Errorf("after three faults: %q, %v", got, err)
	}
	for what, faults := range map[string][]kmstest.Fault{
		"ThrottlingException":         {busy, busy, busy, busy},
		"UnrecognizedClientException": {{Status: 400, Code: "UnrecognizedClientException"}},
		"ExpiredTokenException":       {{Status: 400, Code: "ExpiredTokenException"}},
	} {
		s.Fail(faults...)
		_, err := k.Decrypt(t.Context(), sealed, []byte("where"))
		absence(t, err, arn, what)
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + l.Addr().String()
	l.Close()
	_, err = kmsKey(t, Options{Key: arn, Endpoint: gone}).Decrypt(t.Context(), sealed, nil)
	absence(t, err, arn, "connection refused")

	// A call ends with its context.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	began := time.Now()
	_, err = kmsKey(t, Options{Key: arn, Endpoint: "http://" + silent.Addr().String()}).Decrypt(ctx, sealed, nil)
	absence(t, err, arn)
	if took := time.Since(began); took > formattest.Patience {
		t.Errorf("stopped after %s", took)
	}

	t.Setenv("AWS_ACCESS_KEY_ID", "")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "")
	t.Setenv("HOME", t.TempDir())
	_, err = kmsKey(t, Options{Key: arn, Endpoint: s.URL}).Decrypt(t.Context(), sealed, nil)
	absence(t, err, arn, "credentials")
}

// A keyset that a key service seals is of no use without it.
func TestSealedKeyset(t *testing.T) {
	s, arn, k := service(t)
	path := filepath.Join(t.TempDir(), "keyset.json")
	if err := kek.CreateKeyset(t.Context(), path, k); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil { // that is what sealing it is for
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "encryptedKeyset") {
		t.Fatalf("%s, %v", text, err)
	}
	a, err := kek.OpenKeyset(t.Context(), path, k)
	if err != nil {
		t.Fatal(err)
	}
	s.Calls()
	sealed := seal(t, a)
	if calls := s.Calls(); len(calls) > 0 {
		t.Errorf("wrapping asks the key service: %v", calls)
	}
	b, err := kek.OpenKeyset(t.Context(), path, k)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := b.Decrypt(t.Context(), sealed, []byte("where")); err != nil || string(got) != "secret" || a.ID() != b.ID() {
		t.Errorf("%q, %v, %s %s", got, err, a.ID(), b.ID())
	}
	if _, err := kek.OpenKeyset(t.Context(), path, nil); err == nil {
		t.Error("opened without the key service")
	}
	s.Deny(arn, "Decrypt")
	_, err = kek.OpenKeyset(t.Context(), path, k)
	refusal(t, err, path, "AccessDeniedException")
}

func refusal(t *testing.T, err error, texts ...string) {
	t.Helper()
	if !errors.Is(err, sinks.ErrRefused) {
		t.Errorf("%v is no refusal", err)
	}
	oneLine(t, err, texts)
}

func absence(t *testing.T, err error, texts ...string) {
	t.Helper()
	if err == nil || errors.Is(err, sinks.ErrRefused) {
		t.Errorf("%v: want an error that is no refusal", err)
	}
	oneLine(t, err, texts)
}

func oneLine(t *testing.T, err error, texts []string) {
	t.Helper()
	if err == nil {
		return
	}
	if text := err.Error(); strings.ContainsAny(text, "\n\r") || len(text) > 400 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	for _, text := range texts {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("%v does not say %q", err, text)
		}
	}
}

func seal(t *testing.T, k sinks.KEK) []byte {
	t.Helper()
	s, err := k.Encrypt(t.Context(), []byte("secret"), []byte("where"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
