package krb

import (
	"fmt"
	"strings"

	"github.com/jcmturner/gokrb5/v8/types"
)

// Principal is a name in a realm: loader@EXAMPLE.COM, hbase/host.example.com@EXAMPLE.COM.
type Principal struct {
	Name  string // components, parted by slashes
	Realm string // "" while it is not known
}

func (p Principal) String() string {
	if p.Realm == "" {
		return p.Name
	}
	return p.Name + "@" + p.Realm
}

// ParsePrincipal reads name[/host][@REALM].
func ParsePrincipal(s string) (Principal, error) {
	name, realm, at := strings.Cut(s, "@")
	if name == "" || at && realm == "" || strings.ContainsAny(s, " \t\r\n\x00") || strings.Contains(realm, "@") ||
		strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") {
		return Principal{}, fmt.Errorf("principal %q: it is name@REALM or name/host@REALM", s)
	}
	return Principal{Name: name, Realm: realm}, nil
}

// name is the principal's name in the types of gokrb5. kind is a name type of RFC 4120.
func (p Principal) name(kind int32) types.PrincipalName {
	return types.NewPrincipalName(kind, p.Name)
}
