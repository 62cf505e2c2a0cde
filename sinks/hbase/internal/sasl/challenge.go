package sasl

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxChallenge bounds a challenge of DIGEST-MD5. RFC 2831 allows 2,048 bytes.
const maxChallenge = 8 << 10

// challenge is how a server begins DIGEST-MD5.
type challenge struct {
	realm   string // the first one; "": none
	nonce   string
	qop     []string
	ciphers []string
	maxbuf  int // bytes
}

// directive is one name with its value.
type directive struct{ name, value string }

// parseChallenge reads a server's challenge.
func parseChallenge(b []byte) (*challenge, error) {
	list, err := directives(b)
	if err != nil {
		return nil, err
	}
	c := &challenge{maxbuf: 65536}
	seen := map[string]bool{}
	for _, d := range list {
		if seen[d.name] && d.name != "realm" {
			return nil, fmt.Errorf("its challenge has %s twice", d.name)
		}
		first := !seen[d.name]
		seen[d.name] = true
		switch d.name {
		case "realm":
			if first {
				c.realm = d.value
			}
		case "nonce":
			c.nonce = d.value
		case "qop":
			c.qop = words(d.value)
		case "cipher":
			c.ciphers = words(d.value)
		case "algorithm":
			if d.value != "md5-sess" {
				return nil, fmt.Errorf("its challenge asks for the algorithm %q", d.value)
			}
		case "maxbuf":
			n, err := strconv.ParseUint(d.value, 10, 24)
			if err != nil {
				return nil, fmt.Errorf("its challenge has maxbuf %q", d.value)
			}
			c.maxbuf = int(n)
		}
	}
	switch {
	case c.nonce == "":
		return nil, errors.New("its challenge has no nonce")
	case !seen["algorithm"]:
		return nil, errors.New("its challenge has no algorithm")
	case !seen["qop"]:
		c.qop = []string{"auth"}
	}
	return c, nil
}

// words parts a list at commas.
func words(s string) (list []string) {
	for _, w := range strings.Split(s, ",") {
		if w = strings.Trim(w, " \t\r\n"); w != "" {
			list = append(list, strings.ToLower(w))
		}
	}
	return list
}

// directives reads name=value pairs, parted by commas. A value may stand in quotation marks, with backslashes.
func directives(b []byte) (list []directive, err error) {
	bad := errors.New("its challenge is malformed")
	if len(b) > maxChallenge {
		return nil, bad
	}
	s := string(b)
	for {
		s = strings.TrimLeft(s, ", \t\r\n")
		if s == "" {
			return list, nil
		}
		name, rest, ok := strings.Cut(s, "=")
		if name = strings.ToLower(strings.TrimRight(name, " \t")); !ok || name == "" || strings.ContainsAny(name, "\", \t\r\n") {
			return nil, bad
		}
		rest = strings.TrimLeft(rest, " \t")
		var value string
		if strings.HasPrefix(rest, `"`) {
			if value, s, ok = unquote(rest[1:]); !ok {
				return nil, bad
			}
			s = strings.TrimLeft(s, " \t\r\n")
			if s != "" && s[0] != ',' {
				return nil, bad
			}
		} else {
			value, s, _ = strings.Cut(rest, ",")
			if value = strings.TrimRight(value, " \t\r\n"); strings.ContainsAny(value, "\" \t\r\n") {
				return nil, bad
			}
		}
		list = append(list, directive{name, value})
	}
}

// unquote reads up to the closing quotation mark.
func unquote(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}

// quote puts a value into quotation marks.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
