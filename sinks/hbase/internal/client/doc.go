// Package client speaks HBase's RPC: as much of it as a store of rows with one
// column needs, from version 2.5 on.
//
// A connection to a server carries one service; calls multiplex on it and are
// answered in any order. Servers are found through the RPC registry (the
// service ClientMetaService of any master or region server) or through
// ZooKeeper, regions in hbase:meta; what was found is kept region by region
// until a server says that it is wrong.
//
// Every call ends: with the caller's context, or after Options.Patience. Until
// then what may be cured is tried again, by the class of the server's answer
// (see actionOf). What is given up comes back as *OpError, which names
// operation, table, region and server around the cause.
//
// It leaves to its callers what tables mean, and Kerberos and TLS to nobody:
// a cluster that demands either is ErrUnspoken. It reads no clock but for
// deadlines, and logs nothing.
//
// Facts about the protocol come from HBase's .proto files and source
// (branch-2.6) and from what a live 2.6.4 answered.
package client
