package serve

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Tokens are the secrets that callers show, by their SHA-256: comparing these tells nothing by its time. The value is the
// caller's name in the log.
type Tokens map[[32]byte]string

// minToken is the shortest token that is taken.
const minToken = 16

// Add takes one more.
func (t Tokens) Add(token, name string) error {
	if len(token) < minToken || strings.ContainsAny(token, " \t\r\n") {
		return fmt.Errorf("token of %q: want %d or more characters without spaces", name, minToken)
	}
	t[sha256.Sum256([]byte(token))] = name
	return nil
}

// Read adds the tokens of a file: NAME TOKEN lines, # for comments.
func (t Tokens) Read(r io.Reader) error {
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		fields := strings.Fields(in.Text())
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) != 2 {
			return fmt.Errorf("line %d: want NAME TOKEN", n)
		}
		if err := t.Add(fields[1], fields[0]); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return in.Err()
}

// caller returns the name of a request's token, false if the request has no valid token.
func (t Tokens) caller(r *http.Request) (string, bool) {
	if len(t) == 0 {
		return "", true
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", false
	}
	name, ok := t[sha256.Sum256([]byte(strings.TrimSpace(token)))]
	return name, ok
}
