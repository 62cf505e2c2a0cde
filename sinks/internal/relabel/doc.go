// Package relabel shows a Parquet file under other names of columns: the bytes of its rows, and another footer behind them.
//
// Files of Delta tables with column mapping have names that only the table's log explains.
//
// # Invariants
//
//   - a column chunk stays where it is, and only its readers read it;
//   - what engines note of the schema goes, for it has the names of before. The schema of Parquet itself stays;
//   - the length of the footer is compared with the file before memory is taken for it.
package relabel
