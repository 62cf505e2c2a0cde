// Package client speaks HBase's RPC: as much of it as a store of rows with one
// column needs, from version 2.5 on.
//
// A connection to a server carries one service; calls multiplex on it and are
// answered in any order. Servers are found through the RPC registry (the
// service ClientMetaService of any master or region server) or through
// ZooKeeper, regions in hbase:meta; the client keeps each region's server
// until a server denies that it has the region.
//
// Every call ends: with the caller's context, or after Options.Patience. Until
// then the client repeats calls that may succeed later, by the class of the
// server's answer (see actionOf). It returns an *OpError when it gives up, which
// names operation, table, region and server around the cause.
//
// It leaves the meaning of tables to its callers. It speaks neither Kerberos nor
// TLS: a cluster that demands either is ErrUnspoken. It reads the clock for
// deadlines only, and logs nothing.
//
// Facts about the protocol come from HBase's .proto files and source
// (branch-2.6) and from answers of a live 2.6.4.
package client
