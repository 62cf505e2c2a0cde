// Package krb holds the Kerberos credentials of this process: a keytab or a credential cache.
//
// New reads security.Options and the environment as MIT's programs do, and asks no KDC. Credentials.Ticket gives a
// service ticket with its session key, Credentials.Service names a server's principal (_HOST and realm filled in),
// and Credentials.Client gives a client of gokrb5 for libraries that want one (HDFS).
//
// Tickets are renewed when they are asked for: after four fifths of a ticket's life Ticket gets a new one, and goes
// on with the old one while the KDC is away. A keytab logs in anew. A credential cache is read again when its file
// changes, and a renewable ticket is renewed in memory. Connections that stand need no ticket.
//
// The package parses krb5.conf and credential caches itself: gokrb5's parsers know no include, refuse directives that
// MIT takes, and panic on short caches. Messages to the KDC go over TCP, with limits to size and time. gokrb5 does
// the messages' encoding and cryptography.
package krb
