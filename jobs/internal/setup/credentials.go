package setup

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"runtime"

	"github.com/symlake/symlake/jobs/internal/settings"
)

// credential is a file that HBase's security reads.
type credential struct {
	key, path string
	try       func(path string) finding
}

// credentials returns the files that the settings of HBase name.
func credentials(c *settings.HBaseConfig) (list []credential) {
	pair := func(path string) finding {
		if _, err := tls.LoadX509KeyPair(path, c.TLSKey); err != nil {
			return finding{State: wrong, Reason: err.Error(), Do: "name the PEM files of one certificate and its key"}
		}
		return finding{State: ok}
	}
	for _, f := range []credential{
		{"hbase.keytab", c.Keytab, privateFile}, {"hbase.krb5_conf", c.Krb5Conf, readable}, {"hbase.token_file", c.TokenFile, privateFile},
		{"hbase.tls_ca", c.TLSCA, authorities}, {"hbase.tls_certificate", c.TLSCertificate, pair},
	} {
		if f.path != "" {
			list = append(list, f)
		}
	}
	return list
}

// readable checks that a file can be read.
func readable(path string) finding {
	if _, err := os.Stat(path); err != nil {
		return finding{State: wrong, Reason: err.Error(), Do: "name a file that is there"}
	}
	if f, err := os.Open(path); err != nil {
		return finding{State: unreachable, Reason: err.Error(), Do: "give this user the right to read it"}
	} else if err := f.Close(); err != nil {
		return finding{State: unreachable, Reason: err.Error()}
	}
	return finding{State: ok}
}

// privateFile checks a file that owner and group may read. Keytabs are often a group's.
func privateFile(path string) finding {
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o007 != 0 && runtime.GOOS != "windows" {
		return finding{State: wrong, Reason: fmt.Sprintf("every user of this machine may read it (mode %04o)", info.Mode().Perm()), Do: "run chmod o= " + path}
	}
	return readable(path)
}

// authorities checks a file of PEM certificates.
func authorities(path string) finding {
	f := readable(path)
	if f.State != ok {
		return f
	}
	if text, err := os.ReadFile(path); err != nil || !x509.NewCertPool().AppendCertsFromPEM(text) {
		return finding{State: wrong, Reason: "it has no PEM certificate", Do: "name a file of CERTIFICATE blocks"}
	}
	return f
}
