package catalog

import (
	"encoding/binary"

	"github.com/symlake/symlake/formats/symbol"
	"github.com/symlake/symlake/sinks/row"
)

func artifactKey(id symbol.ID) []byte { return append([]byte{row.RecordArtifact}, id[:]...) }

func objectKey(url string) []byte { return append([]byte{row.RecordObject}, url...) }

func workerKey(id row.WorkerID) []byte { return append([]byte{row.RecordWorker}, id[:]...) }

func accountKey(id row.WorkerID) []byte { return append([]byte{row.RecordAccount}, id[:]...) }

func askedKey(id symbol.ID) []byte { return append([]byte{row.RecordDemand, demandAsked}, id[:]...) }

func auditKey(nanoseconds int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{row.RecordEvent}, uint64(nanoseconds))
}
