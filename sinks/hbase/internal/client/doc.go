// Package client speaks the RPC of HBase from version 2.5 on, as far as a store of rows with one column needs it.
//
// A connection to a server carries one service; calls multiplex on it and are
// answered in any order. Servers are found through the RPC registry (the
// service ClientMetaService of any master or region server) or through
// ZooKeeper, regions in hbase:meta. A region is looked up when a call first needs
// it, with some that lie behind it. The client keeps each region's server until a
// server denies that it has the region, and then forgets that region alone.
//
// A row of hbase:meta that is missing or cannot be read costs the keys of its
// region: ErrDamaged, with the row. Calls that wait for some seconds tell
// Options.Notice for what.
//
// Every call ends: with the caller's context, or after Options.Patience. Until then the client repeats calls
// that may succeed later, by the class of the server's answer (see actionOf). It returns an *OpError when it
// gives up, which names operation, table, region and server around the cause.
//
// Before a connection carries calls, packages tlsfiles and login make the handshakes that Options.Security
// asks for. Errors about them match security.ErrRefused and end a call at once; the rest of the package does
// not know of security.
//
// The package leaves the meaning of tables to its callers. It reads the clock for
// deadlines and waits only, and logs nothing.
//
// Facts about the protocol come from HBase's .proto files, its source (branch-2.6) and a live 2.6.4.
package client
