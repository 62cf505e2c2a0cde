// Package places says in which row of its table HBase keeps a record of the catalog, and reads and writes records
// there.
//
// Most records stand in the row of their key: hashes spread these keys. The key of a ledger record is "o" and a URL,
// and URLs of one day begin alike. So a salt stands before the URL:
//
//	"o" URL              the record's key, and its row in catalogs of older programs
//	"o" salt (1) URL     its row: salt is SHA-256(URL)[0] mod 16
//
// No URL begins with a byte below 16, so a row tells which of both it is.
//
// # Values
//
//	empty    no record. The row is as good as absent, but for a salted row
//	1 ‖ …    the record
//	2        no record, whatever the old row says: salted rows only
//
// # Old rows
//
// An old row counts while its salted row is absent. No program of today writes old rows. A record moves when its new
// value is written to the salted row, or by Move:
//
//	old row alone       the record is the old row's
//	both                the record is the salted row's
//	salted row alone    the record has moved
//
// A salted row never becomes absent or empty again. So a compare-and-set of an absent salted row is one of the old
// row. Readers look at the old row first: where it is gone, the salted row is there. A process that finds no old row
// looks for none any more.
package places
