// Package tlsfiles puts TLS around connections to HBase's servers.
//
// New reads the files of security.TLS. Config.Client then makes the handshake on one connection: TLS 1.2 at least, the
// server's certificate checked by name, date and issuer. Each handshake looks at the files again. A file that changed
// counts from the next connection on; while it is half written, the last good certificates count.
//
// Errors name the fault, the server and the cure in one sentence. errors.Is finds security.ErrRefused in
// each that trying again does not cure. Servers that speak TLS 1.3 tell a missing client certificate after the
// handshake, so reading from the connection can fail with such a sentence, too.
package tlsfiles
