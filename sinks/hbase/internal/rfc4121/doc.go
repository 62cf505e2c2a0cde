// Package rfc4121 protects messages by the wrap tokens of Kerberos' GSSAPI (RFC 4121, section 4.2), with AES keys of
// RFC 3962 and RFC 8009.
//
// It derives keys once for each context and works in place: no call allocates but for growing dst. Both ends are here,
// so that tests can play a server. gokrb5's tokens do not encrypt, and it derives keys anew for each message.
package rfc4121
