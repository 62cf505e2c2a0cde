// Package login makes the handshake that comes before HBase's connection header.
//
// Connect takes a connection to a server, over TLS or not, and returns it authenticated and protected as
// security.Options ask: by a delegation token, else by Kerberos, else with nothing but a name. It sends the preamble and
// the first token together and waits for two answers under Kerberos; the connection header may follow at once.
//
// Nothing but the handshake goes out before the server has proved its identity. Connect refuses a server that knows no
// Kerberos while the client has credentials, unless Options.AllowInsecureFallback; that falls below
// Options.Protection; or that strays from the handshake. Such errors match security.ErrRefused and say in one sentence
// what to change. Other errors may go away: the network's, a KDC's that is away.
package login
