package opentable

import (
	"context"
	"fmt"
	"strconv"

	"github.com/symlake/symlake/sinks/bucket"
)

// deltaVector says where the deleted rows of a file are.
type deltaVector struct {
	Storage string `json:"storageType"`
	Path    string `json:"pathOrInlineDv"`
	Offset  *int64 `json:"offset"`
	Bytes   int64  `json:"sizeInBytes"`
	Rows    int64  `json:"cardinality"`
}

// fileID tells a file of the log apart: a file with other deleted rows is another one.
func fileID(path string, v *deltaVector) string {
	if v == nil {
		return path
	}
	id := path + "\x00" + v.Storage + v.Path
	if v.Offset != nil {
		id += "@" + strconv.FormatInt(*v.Offset, 10)
	}
	return id
}

// read reads the deleted rows of a file, ascending.
func (v *deltaVector) read(ctx context.Context, b bucket.Bucket) (rows []uint32, err error) {
	key := ""
	switch n := len(v.Path) - uuidLetters; {
	case v.Storage == "i":
		text, err := decodeZ85(v.Path)
		if err == nil && (v.Bytes < 0 || v.Bytes > int64(len(text))) {
			err = vectorFault("it has %d bytes of %d", len(text), v.Bytes)
		}
		if err != nil {
			return nil, err
		}
		rows, err = vector(text[:v.Bytes])
		if err != nil {
			return nil, err
		}
	case v.Storage == "p":
		if key, err = deltaKey(b, v.Path); err != nil {
			return nil, err
		}
	case v.Storage == "u" && n >= 0:
		id, err := decodeZ85(v.Path[n:])
		if err != nil {
			return nil, err
		}
		key = fmt.Sprintf("deletion_vector_%x-%x-%x-%x-%x.bin", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
		if n > 0 {
			key = v.Path[:n] + "/" + key
		}
	default:
		return nil, fmt.Errorf("%w: it does not know the place %q of a deletion vector", ErrTable, v.Storage)
	}
	if key != "" {
		offset := int64(0)
		if v.Offset != nil {
			offset = *v.Offset
		}
		if v.Bytes < 0 || v.Bytes > maxVectorBytes-8 {
			return nil, vectorFault("it says that it has %d bytes", v.Bytes)
		}
		text, err := readPart(ctx, b, key, offset, v.Bytes+8)
		if err != nil {
			return nil, err
		}
		if rows, err = framedVector(text); err != nil {
			return nil, err
		}
	}
	if int64(len(rows)) != v.Rows {
		return nil, vectorFault("it has %d rows, and the log says %d", len(rows), v.Rows)
	}
	return rows, nil
}

// uuidLetters is how many letters a UUID has in Z85.
const uuidLetters = 20
