// Package security says how a client proves its identity to HBase and HDFS, and how it protects what it sends.
// The types are plain values. The protocols are in sinks/hbase/internal.
package security

// Options are for one cluster. The zero value asks the environment: a token of HADOOP_TOKEN_FILE_LOCATION, else a
// ticket of the credential cache, else simple authentication.
type Options struct {
	// Mode is "kerberos", "simple" or "". With "simple" the client shows no credentials, even if it has some.
	Mode string
	// Principal and Keytab log in without a credential cache. Principal "": the only one of the keytab.
	Principal, Keytab string
	// Config is the path of krb5.conf; "": KRB5_CONFIG, else /etc/krb5.conf. Cache is the credential cache;
	// "": KRB5CCNAME, else the name in krb5.conf, else FILE:/tmp/krb5cc_UID.
	Config, Cache string
	// ServerPrincipal is the principal of HBase's servers; "": hbase/_HOST@REALM, with the server's name and the realm
	// of that name.
	ServerPrincipal string
	// Protection is the least that the client accepts under Kerberos: "authentication", "integrity" or "privacy".
	// "": authentication. The client takes the best that a server offers.
	Protection string
	// AllowInsecureFallback lets a client with credentials go on in the clear if the server knows no Kerberos.
	AllowInsecureFallback bool
	// TokenFile is a file of Hadoop's delegation tokens; "": HADOOP_TOKEN_FILE_LOCATION.
	TokenFile string
	TLS       TLS
}

// TLS is for the connections to HBase's servers. Files are read again when they change.
type TLS struct {
	On bool // implied by any other field
	// CA is a file of PEM certificates; "": the system's. ServerName replaces the server's host name where
	// certificates are checked.
	CA, ServerName string
	// Certificate and Key are PEM files, for servers that ask for a client certificate.
	Certificate, Key string
}
