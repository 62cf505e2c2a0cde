// Package regions remembers where the regions of a table are: as far as they were looked up, and which parts of the
// table have no region. It asks no server. Times are arguments.
package regions
