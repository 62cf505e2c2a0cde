// Package sasl proves identities to HBase and protects what follows.
//
// A Mechanism runs one handshake: Step answers each token of the server until the last one. Afterwards
// Layer tells the negotiated protection, and Wrap and Unwrap protect the stream. NewConn puts a Mechanism around a
// connection: each piece on the wire is a length of 4 bytes and a token; inside is the ordinary stream.
//
// NewGSSAPI is Kerberos (RFC 4752, with the tokens of RFC 4121). A Mechanism does not read settings, files or clocks
// beyond the time that an authenticator carries, and logs nothing.
package sasl
