// Package namenode connects to the NameNodes of one HDFS and goes on when one of them fails.
//
// Conn is a net.Conn that a client of Hadoop's RPC takes for a connection to one NameNode without security. Conn
// logs in (SASL over Hadoop's RPC: GSSAPI or a token), wraps each request and opens each answer as the NameNode asks,
// and finds the active NameNode of a name service. If a connection breaks, a NameNode stands by or starts up, Conn
// sends the same request again, with the same identity and number: the NameNode answers a repeated call as it
// answered the first one.
//
// The client may have one request under way at a time, one Write each. Write never fails and sends nothing: Read
// carries the request out, and its errors name NameNode and cause. An error of Read leaves the Conn usable.
package namenode
