package secure

import (
	"crypto/tls"
	"os"
	"testing"
)

func TestKDC(t *testing.T) {
	k := StartKDC(t)
	for _, name := range append(Users, Services...) {
		if _, err := os.Stat(k.Login(t, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := k.admin("ktadd -k x nobody-of-this-name"); err == nil {
		t.Fatal("a failure of kadmin.local is not told")
	}
}

func TestTLSFiles(t *testing.T) {
	f := TLSFiles(t)
	for _, p := range []Pair{f.Server, f.Client, f.WrongName, f.Expired, f.Foreign} {
		for _, files := range [][2]string{{p.Certificate, p.Key}, {p.Both, p.Both}} {
			if _, err := tls.LoadX509KeyPair(files[0], files[1]); err != nil {
				t.Error(err)
			}
		}
	}
}
