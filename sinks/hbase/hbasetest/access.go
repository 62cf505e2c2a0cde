package hbasetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// Grant gives a user the permissions of a namespace, which exists, or of all if it is "": letters of R, W, X, C and A.
// They replace what the user had there. "" takes all. Servers hear of it a little later.
func (s *Server) Grant(t testing.TB, user, namespace, letters string) {
	t.Helper()
	const global, named = 1, 2 // kinds of permissions, and their fields less 1
	kind, actions := uint64(named), protowire.Number(2)
	permission := field(nil, 1, []byte(namespace))
	if namespace == "" {
		kind, actions, permission = global, 1, nil
	}
	for _, c := range letters {
		i := strings.IndexRune("RWXCA", c)
		if i < 0 {
			t.Fatalf("permission %c", c)
		}
		permission = number(permission, actions, uint64(i))
	}
	q := field(number(nil, 1, kind), protowire.Number(kind)+1, permission)
	method := "Grant"
	if letters == "" {
		method = "Revoke"
	}
	if _, err := s.ask(method, field(nil, 1, field(field(nil, 1, []byte(user)), 3, q))); err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

// CreateNamespace makes a namespace, as an administrator does for loaders.
func (s *Server) CreateNamespace(t testing.TB, name string) {
	t.Helper()
	s.procedure(t, "CreateNamespace", field(nil, 1, field(nil, 1, []byte(name))), 2)
}

// TokenFile obtains a delegation token for a user and returns the path of a file as YARN writes it for a job.
func (s *Server) TokenFile(t testing.TB, user string) string {
	t.Helper()
	call := field(nil, 1, nil)
	call = field(field(field(call, 2, []byte("AuthenticationService")), 3, []byte("GetAuthenticationToken")), 4, nil)
	region := field(number(nil, 1, 1), 2, []byte("hbase:meta,,1"))
	answer, err := s.call(user, s.Region, "ClientService", "ExecService", field(field(nil, 1, region), 2, call))
	if err != nil {
		t.Fatalf("GetAuthenticationToken: %v", err)
	}
	// The answer's value has the response, which has the token.
	token := answer
	for _, num := range []protowire.Number{2, 2, 1} {
		if token = member(token, num); token == nil {
			t.Fatalf("GetAuthenticationToken: no token in %q", answer)
		}
	}
	out := []byte("HDTS\x00\x01")
	for _, v := range [][]byte{[]byte("alias"), member(token, 1), member(token, 2), []byte("HBASE_AUTH_TOKEN"), member(token, 3)} {
		if len(v) > 127 {
			out = append(out, 0x8f) // one byte of length follows
		}
		out = append(append(out, byte(len(v))), v...)
	}
	path := filepath.Join(t.TempDir(), "container_tokens")
	if err := os.WriteFile(path, append(out, 0), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// member finds a field of a message; nil: there is none.
func member(b []byte, want protowire.Number) []byte {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil
		}
		b = b[n:]
		if num == want && kind == protowire.BytesType {
			v, _ := protowire.ConsumeBytes(b)
			return v
		}
		n = protowire.ConsumeFieldValue(num, kind, b)
		if n < 0 {
			return nil
		}
		b = b[n:]
	}
	return nil
}
