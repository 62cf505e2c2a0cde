// Package hbasetest starts a real HBase, and HDFS below it, for tests: on the
// loopback of this machine alone, on free ports, in folders that go with the
// test. The jars come from Maven Central (fetch.sh, about 120 MB, once) into a
// cache outside the tree, which SYMLAKE_HBASE_LIB names.
//
// SharedSecure is an HBase with Kerberos, access control, tokens and TLS. Package secure makes its KDC and certificates.
//
// It leaves to its callers which tables there are. Every process started here
// ends with the test, or with the test program however that ends (Linux).
package hbasetest
