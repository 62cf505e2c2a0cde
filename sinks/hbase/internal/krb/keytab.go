package krb

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/jcmturner/gokrb5/v8/iana/etypeID"
	"github.com/jcmturner/gokrb5/v8/keytab"
)

const maxKeytab = 4 << 20 // bytes

// readKeytab reads a keytab file.
func readKeytab(file string) (*keytab.Keytab, error) {
	f, err := os.Stat(file)
	if err != nil {
		return nil, fmt.Errorf("hbase.keytab: %w", err)
	}
	if f.Size() > maxKeytab {
		return nil, fmt.Errorf("hbase.keytab: %s: %d bytes are too many", file, f.Size())
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("hbase.keytab: %w", err)
	}
	kt, err := parseKeytab(b)
	if err != nil {
		return nil, fmt.Errorf("hbase.keytab: %s: %w", file, err)
	}
	return kt, nil
}

func parseKeytab(b []byte) (*keytab.Keytab, error) {
	kt := new(keytab.Keytab)
	if len(b) < 2 || b[0] != 5 {
		return nil, fmt.Errorf("it is no keytab")
	}
	if len(b) < 6 {
		return nil, fmt.Errorf("it has no keys")
	}
	if err := guard(func() error { return kt.Unmarshal(b) }); err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	if len(kt.Entries) == 0 {
		return nil, fmt.Errorf("it has no keys")
	}
	return kt, nil
}

// owner finds a principal of the keytab: want, with a realm or without, or the only one.
func owner(kt *keytab.Keytab, file string, want Principal, realm string) (Principal, error) {
	var all []Principal
	for _, e := range kt.Entries {
		p := Principal{strings.Join(e.Principal.Components, "/"), e.Principal.Realm}
		if !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	names := make([]string, 0, len(all))
	for _, p := range all {
		names = append(names, p.String())
	}
	if want.Name == "" {
		if len(all) == 1 {
			return all[0], nil
		}
		return Principal{}, fmt.Errorf("hbase.keytab: %s holds keys of %s: set hbase.principal to one of them", file, strings.Join(names, ", "))
	}
	if want.Realm == "" {
		fit := slices.DeleteFunc(slices.Clone(all), func(p Principal) bool { return p.Name != want.Name })
		if len(fit) == 1 {
			return fit[0], nil
		}
		want.Realm = realm
	}
	if !slices.Contains(all, want) {
		return Principal{}, fmt.Errorf("hbase.keytab: %s holds no key of %s; it holds keys of %s", file, want, strings.Join(names, ", "))
	}
	return want, nil
}

// keyTypes are the encryption types of p's keys in the order of ours. RC4 comes into question only if p has nothing else.
func keyTypes(kt *keytab.Keytab, p Principal, ours []int32) (out []int32) {
	rc4 := false
	have := make(map[int32]bool)
	for _, e := range kt.Entries {
		if p == (Principal{strings.Join(e.Principal.Components, "/"), e.Principal.Realm}) {
			have[e.Key.KeyType] = true
			rc4 = rc4 || e.Key.KeyType == etypeID.RC4_HMAC
		}
	}
	for _, t := range ours {
		if have[t] {
			out = append(out, t)
		}
	}
	if len(out) == 0 && rc4 {
		out = []int32{etypeID.RC4_HMAC}
	}
	return out
}

// version is the highest version of p's keys.
func version(kt *keytab.Keytab, p Principal) (v uint32) {
	for _, e := range kt.Entries {
		if p == (Principal{strings.Join(e.Principal.Components, "/"), e.Principal.Realm}) {
			v = max(v, e.KVNO)
		}
	}
	return v
}
