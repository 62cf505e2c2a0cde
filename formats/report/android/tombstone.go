package android

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/report"
)

// tombstoneBegins: a message of debuggerd begins with its architecture or, as
// that is left out where it is 0, with the build's fingerprint. Both tags are
// control characters that no text begins with.
func tombstoneBegins(head []byte) bool { return head[0] == 0x08 || head[0] == 0x12 }

// pbTombstone is the part that is shown of Tombstone in Android's
// system/core/debuggerd/proto/tombstone.proto.
type pbTombstone struct {
	arch, guestArch                  uint64
	guested                          bool // guestArch is said
	fingerprint, revision, timestamp string
	kernel, executable               string
	pid, tid, uid, uptime            uint64
	pageSize                         uint64
	bigPages                         bool // the device has had pages of 16 KiB
	command                          []string
	signal                           pbSignal
	signaled                         bool
	abort                            string
	details                          []pbDetail
	causes                           []pbCause
	threads, guests                  []pbThread
	history                          []pbRecord
	maps                             []pbMap
	files                            []pbFile
	logs                             []pbLog
}

// pbDetail is a detail that the program itself has registered for its crash.
type pbDetail struct{ name, data string }

// pbRecord is an entry of the hardware's history of stack frames.
type pbRecord struct {
	frame   pbFrame
	fp, tag uint64
}

type pbFile struct {
	number, tag uint64
	path, owner string
}

type pbSignal struct {
	number, code         uint64
	name, codeName       string
	hasAddress           bool
	address              uint64
	hasSender            bool
	senderPID, senderUID uint64
}

type pbCause struct {
	text                   string
	allocTID, freeTID      uint64
	allocated, deallocated []pbFrame
}

type pbThread struct {
	id        uint64
	name      string
	registers []pbRegister
	notes     []string
	frames    []pbFrame
	guest     bool // of an emulated program
}

type pbRegister struct {
	name  string
	value uint64
}

type pbFrame struct {
	relPC, offset, mapOffset  uint64
	FunctionName, file, build string
}

type pbMap struct {
	begin, end, offset, bias uint64
	read, write, execute     bool
	name, build              string
}

type pbLog struct {
	name  string
	lines []string
}

// tombstoneText renders a message as debuggerd does, without dumps of memory
// and tags; false if b is none, or its text would be longer than a document may be.
func tombstoneText(b []byte, o report.Options) ([]byte, bool) {
	r := &pbReader{left: maxElements, o: &o}
	t := readTombstone(r, b)
	if r.bad || len(t.threads) == 0 || t.pid == 0 && t.tid == 0 {
		return nil, false
	}
	return t.render(&o)
}

func readTombstone(r *pbReader, b []byte) *pbTombstone {
	t := &pbTombstone{}
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 1:
			t.arch = v.number
		case 2:
			t.fingerprint = v.text()
			r.bad = r.bad || !utf8.Valid(v.bytes)
		case 3:
			t.revision = v.text()
		case 4:
			t.timestamp = v.text()
		case 5:
			t.pid = v.number
		case 6:
			t.tid = v.number
		case 7:
			t.uid = v.number
		case 20:
			t.uptime = v.number
		case 9:
			if r.keep() {
				t.command = append(t.command, v.text())
			}
		case 10:
			t.signal, t.signaled = readSignal(r, v.bytes), true
		case 14:
			t.abort = v.text()
		case 15:
			if r.keep() {
				t.causes = append(t.causes, readCause(r, v.bytes))
			}
		case 16, 25:
			if !r.keep() {
				return
			}
			thread := readThread(r, v.bytes)
			if n == 16 {
				t.threads = append(t.threads, thread)
			} else {
				thread.guest = true
				t.guests = append(t.guests, thread)
			}
		case 17:
			if r.keep() {
				t.maps = append(t.maps, readMap(r, v.bytes))
			}
		case 18:
			if r.keep() {
				t.logs = append(t.logs, readLog(r, v.bytes))
			}
		}
	})
	readLater(r, t, b)
	byID := func(a, b pbThread) int { return cmp.Compare(a.id, b.id) }
	slices.SortStableFunc(t.threads, byID)
	slices.SortStableFunc(t.guests, byID)
	return t
}

// readLater reads the fields that Android 14 to 16 have added, and the open files.
func readLater(r *pbReader, t *pbTombstone, b []byte) {
	r.message(b, func(n protowire.Number, v pbValue) {
		switch n {
		case 22:
			t.pageSize = v.number
		case 23:
			t.bigPages = v.number != 0
		case 24:
			t.guestArch, t.guested = v.number, true
		case 27:
			t.executable = v.text()
		case 28:
			t.kernel = v.text()
		case 19:
			if r.keep() {
				t.files = append(t.files, readFile(r, v.bytes))
			}
		case 21:
			if r.keep() {
				t.details = append(t.details, readDetail(r, v.bytes))
			}
		case 26:
			t.history = readHistory(r, v.bytes)
		}
	})
}
