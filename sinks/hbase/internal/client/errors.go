package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/symlake/symlake/sinks/hbase/internal/denied"
	"github.com/symlake/symlake/sinks/hbase/internal/foreign"
	"github.com/symlake/symlake/sinks/hbase/internal/tlsfiles"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// ErrNoTable says that HBase has no such table.
var ErrNoTable = errors.New("no such table")

// ErrDisabled says that a table is disabled: no server serves it.
var ErrDisabled = errors.New("the table is disabled")

// ErrDamaged says that HBase has lost a file or a region, or finds one damaged.
var ErrDamaged = errors.New("HBase cannot read what it was given")

// ErrClosed says that the client was closed.
var ErrClosed = errors.New("HBase client is closed")

// ServerError is what a server answered instead of a result.
type ServerError struct {
	Class   string // Java class, without org.apache.hadoop.hbase
	Message string // first line of what the server says
	final   bool   // the server says not to try again
	movedTo string // host:port, of a moved region
}

func (e *ServerError) Error() string {
	if e.Class == accessDenied {
		return denied.Text(e.Message)
	}
	if e.Message == "" {
		return e.Class
	}
	return e.Class + ": " + e.Message
}

// hasClass tells whether a server answered with that class.
func hasClass(err error, class string) bool {
	var server *ServerError
	return errors.As(err, &server) && server.Class == class
}

const accessDenied = "security.AccessDeniedException"

// Denied reports whether a server denied a permission to the user.
func Denied(err error) bool { return hasClass(err, accessDenied) }

// Is makes the classes that callers tell apart match sentinels.
func (e *ServerError) Is(target error) bool {
	return target == ErrNoTable && e.Class == "TableNotFoundException"
}

// damaged tells whether the server met a file that is gone or spoiled.
func (e *ServerError) damaged() bool {
	return slices.ContainsFunc(damageSigns, func(s string) bool { return strings.Contains(e.Class, s) || strings.Contains(e.Message, s) })
}

var damageSigns = []string{"CorruptHFileException", "ChecksumException", "FileNotFoundException", "Invalid HFile block magic", "BlockMissingException"}

// manySigns is how often in a row signs of damage may be seen before they are believed: a file that a compaction took
// away is not asked for a fourth time.
const manySigns = 4

// doubts counts signs of damage in a row. Of holes in hbase:meta the cache of regions keeps count.
type doubts struct{ signs int }

// see makes an error that is one sign too many final.
func (d *doubts) see(err error) error {
	var server *ServerError
	if !errors.As(err, &server) || !server.damaged() {
		*d = doubts{}
		return err
	}
	if d.signs++; d.signs < manySigns {
		return err
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

const packagePrefix = "org.apache.hadoop.hbase."

// serverError makes an error of a Java class and a stack trace. The first line of trace repeats the class.
func serverError(class, trace string) *ServerError {
	line, rest, _ := strings.Cut(trace, "\n")
	line = strings.TrimPrefix(strings.TrimSpace(line), class)
	e := &ServerError{Class: strings.TrimPrefix(class, packagePrefix), Message: strings.TrimSpace(strings.TrimPrefix(line, ":"))}
	if i := strings.LastIndex(rest, "Caused by: "); i >= 0 {
		cause, _, _ := strings.Cut(rest[i+len("Caused by: "):], "\n")
		if cause = strings.TrimSpace(cause); !strings.Contains(e.Message, cause) {
			e.Message = strings.TrimPrefix(e.Message+" (cause: "+cause+")", " ")
		}
	}
	return e
}

// lostError: the connection broke, so that the call may or may not have been carried out.
type lostError struct {
	address string
	err     error
}

func (e *lostError) Error() string { return fmt.Sprintf("connection to %s: %v", e.address, e.err) }
func (e *lostError) Unwrap() error { return e.err }

// OpError names a failed operation and its place. Err is the cause.
type OpError struct {
	Op     string // scan, put, bulk load, …
	Table  string
	Region string // "" when none was found
	Server string
	Err    error
}

func (e *OpError) Error() string {
	s := "HBase " + e.Op
	if e.Table != "" {
		s += ", table " + e.Table
	}
	if e.Region != "" {
		s += ", region " + e.Region
	}
	if e.Server != "" {
		s += ", server " + e.Server
	}
	return s + ": " + e.Err.Error()
}

func (e *OpError) Unwrap() error { return e.Err }

// action is what to do about a failed attempt.
type action int

const (
	giveUp   action = iota
	again           // the same server, a little later
	relocate        // the region is elsewhere: look it up anew
	rescan          // the scanner is gone: open one behind the last row
)

var classActions = map[string]action{
	"NotServingRegionException":                 relocate,
	"exceptions.RegionMovedException":           relocate,
	"regionserver.WrongRegionException":         relocate,
	"exceptions.RegionOpeningException":         again,
	"CallQueueTooBigException":                  again,
	"RegionTooBusyException":                    again,
	"PleaseHoldException":                       again,
	"quotas.RpcThrottlingException":             again,
	"RetryImmediatelyException":                 again,
	"NotAllMetaRegionsOnlineException":          again,
	"CallDroppedException":                      again,
	"ipc.CallTimeoutException":                  again,
	"regionserver.RegionServerStoppedException": relocate,
	"regionserver.RegionServerAbortedException": relocate,
	"ipc.ServerNotRunningYetException":          relocate,
	"exceptions.MasterStoppedException":         relocate,
	"MasterNotRunningException":                 relocate,
	"UnknownScannerException":                   rescan,
	"exceptions.ScannerResetException":          rescan,
	"exceptions.OutOfOrderScannerNextException": rescan,
	"regionserver.LeaseException":               rescan,
	"TableNotFoundException":                    giveUp,
	"TableExistsException":                      giveUp,
	"NamespaceExistException":                   giveUp,
	"security.AccessDeniedException":            giveUp,
	"regionserver.NoSuchColumnFamilyException":  giveUp,
	"DoNotRetryIOException":                     giveUp,
	"exceptions.FailedSanityCheckException":     giveUp,
}

// actionOf tells by the class of a server's answer, before its advice not to try again:
// scanner exceptions and a stopped master carry that although a new scanner or master answers.
func actionOf(err error) action {
	var lost *lostError
	var server *ServerError
	switch {
	case errors.Is(err, security.ErrRefused), errors.Is(err, ErrClosed), errors.Is(err, ErrDamaged),
		errors.Is(err, ErrDisabled), errors.Is(err, errForeign), errors.Is(err, errUnreachable):
		return giveUp
	case errors.As(err, &lost):
		return relocate
	case errors.As(err, &server):
		if a, ok := classActions[server.Class]; ok && !server.damaged() {
			return a
		}
		switch {
		case strings.Contains(server.Message, "log is closed"): // of a server that is going down
			return relocate
		case server.final && !server.damaged(): // see doubts
			return giveUp
		}
		return again
	case errors.Is(err, errAttempt), errors.Is(err, errHole), errors.Is(err, errClosed), errors.Is(err, errNoMaster):
		return relocate
	}
	return giveUp
}

// errAttempt: the server did not answer one attempt in time.
var errAttempt = errors.New("no answer")

// errUnsynced: the server's answer came without a sync of the log.
var errUnsynced = errors.New("written, and the log was not synced")

// Unsynced tells whether a check was carried out, and is lost if the server dies now.
func Unsynced(err error) bool { return errors.Is(err, errUnsynced) }

// Unclear tells whether what failed may have been carried out.
func Unclear(err error) bool {
	var lost *lostError
	return errors.As(err, &lost) || errors.Is(err, errAttempt) || errors.Is(err, errUnsynced) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// errNoMaster: there is no active master for the moment.
var errNoMaster = errors.New("no master is active")

// errHole: hbase:meta knows no region for the key. After a while that is damage.
var errHole = errors.New("hbase:meta has no region that holds the key")

// errForeign: the server speaks another protocol.
var errForeign = errors.New("this is no HBase")

// errUnreachable: no server that the URL names ever answered.
var errUnreachable = errors.New("none of the servers that the URL names answers")

// errClosed: the region is on its way between servers, or into others.
var errClosed = errors.New("the region is not open for the moment")

// stranger returns the error for a server that does not begin as HBase does. in has the bytes behind head.
func stranger(in *bufio.Reader, head []byte) error {
	more, _ := in.Peek(min(in.Buffered(), 12))
	head = append(append([]byte(nil), head...), more...)
	switch name := foreign.Protocol(head); name {
	case "TLS":
		return tlsfiles.Demanded("the server")
	case "":
		return fmt.Errorf("%w: %s", errForeign, foreign.Quote(head))
	default:
		return fmt.Errorf("%w: it speaks %s: %s", errForeign, name, foreign.Quote(head))
	}
}
