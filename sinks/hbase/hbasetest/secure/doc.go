// Package secure gives tests a real Kerberos and real certificates, on the loopback of this machine alone.
//
//	kdc := secure.StartKDC(t)           // MIT krb5kdc: realm SYMLAKE.TEST
//	kdc.Config                          // krb5.conf
//	kdc.Keytab("loader")                // of hbase, hdfs, HTTP, zookeeper (each /localhost), loader, reader, stranger, worker
//	kdc.Login(t, "loader")              // kinit: a credential cache of its own
//	kdc.Admin(t, "cpw -randkey loader") // kadmin.local: loader.keytab has an old key version now
//
//	files := secure.TLSFiles(t)         // PEM files
//	files.CA, files.Server              // the authority, and localhost's certificate, key, and both in one file
//	files.Client                        // a certificate for clients
//	files.WrongName, files.Expired, files.Foreign // server certificates to refuse
//
// Package hbasetest starts an HBase with them: hbasetest.SharedSecure(t), or hbasetest.Options.KDC and .TLS.
package secure
