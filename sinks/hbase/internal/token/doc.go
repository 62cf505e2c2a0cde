// Package token reads the delegation tokens that Hadoop hands to jobs.
//
// YARN, Spark and Oozie write a file (magic HDTS, version 0 or 1) and name it in HADOOP_TOKEN_FILE_LOCATION. Each
// token has a kind and a service: HBASE_AUTH_TOKEN with the cluster's id, HDFS_DELEGATION_TOKEN with the NameNode's
// address or name service. Read returns all of them. Tokens are secrets: errors and String show no passwords.
package token
