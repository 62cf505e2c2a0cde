// Package zookeeper reads one node of ZooKeeper: as much of the protocol as finding HBase's servers takes.
package zookeeper
