// Package dwarf reads DWARF 2 to 5 for one pass over an object's code.
package dwarf
