package all

import (
	"context"
	"io"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/parquet"
)

// What files of rows in Parquet are read and written with: see sinks/parquet.
type (
	ParquetRows       = parquet.Rows
	ParquetLeaf       = parquet.Leaf
	ParquetCells      = parquet.Cells
	ParquetExtension  = parquet.Extension
	ParquetExtended   = parquet.Extended
	ParquetTable      = parquet.Table
	ParquetAnswerRows = parquet.AnswerRows
	ParquetAnswer     = parquet.Answer
	ParquetLine       = parquet.Line
)

// What Scan makes of a column.
const (
	ParquetText = parquet.LeafText
	ParquetInt  = parquet.LeafInt
)

// Errors that are the fault of a file of rows.
var (
	ErrParquetRows   = parquet.ErrRows
	ErrParquetColumn = parquet.ErrColumn
)

// OpenParquetRows opens a file of rows.
func OpenParquetRows(ctx context.Context, r io.ReaderAt, size int64, keys func() (sinks.LakeKeys, error)) (*ParquetRows, error) {
	return parquet.OpenRows(ctx, r, size, keys)
}

// NewParquetAnswerTable gives the columns that answers add to rows.
func NewParquetAnswerTable(prefix string, stacks bool) *ParquetTable {
	return parquet.AnswerColumns(prefix, stacks)
}

// NewParquetAnswerRows gathers the answers of a row group.
func NewParquetAnswerRows(t *ParquetTable, stacks bool) *ParquetAnswerRows {
	return parquet.NewAnswerRows(t, stacks)
}
