// Package logintest plays an HBase server in the handshake of Kerberos, truthfully or not. It needs no KDC: a Realm
// writes credential caches with tickets for a service of its own.
package logintest
