package catalog

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/row"
)

// Event is one line of the audit: a person or process, an act on the store, and its time.
type Event struct {
	At     time.Time `json:"-"`
	Who    string    `json:"who"`
	What   string    `json:"what"` // init, rotate, shred, export, rollback, forget, gc, force
	Detail string    `json:"detail,omitempty"`
}

// eventForm is a "t" record.
type eventForm struct {
	Event
	At   time.Time `json:"at,omitzero"`    // zero: the key's
	Prev string    `json:"prev,omitempty"` // hash of the event before; "": from before there was a chain
}

// auditHead is the "h" record: the last event of the chain, whole.
type auditHead struct {
	Hash   string `json:"hash"`   // of the last event
	Events int    `json:"events"` // of the chain
	At     int64  `json:"at"`     // of the last event's key, nanoseconds since 1970
	Last   []byte `json:"last"`   // plain text of its record

	raw []byte // as read; nil: the store has none
}

func eventKey(nanoseconds int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{row.RecordEvent}, uint64(nanoseconds))
}

// eventTime returns the nanoseconds in an event's key.
func eventTime(key []byte) int64 { return int64(binary.BigEndian.Uint64(key[1:])) }

// parseEvent reads the plain text of an event.
func parseEvent(key, plain []byte) (f eventForm, err error) {
	if err := json.Unmarshal(plain, &f); err != nil || len(key) != len(eventKey(0)) {
		return f, fmt.Errorf("audit record %x: %w: %w", key, row.ErrUnauthentic, err)
	}
	if f.Event.At = f.At; f.At.IsZero() {
		f.Event.At = time.Unix(0, eventTime(key)).UTC()
	}
	return f, nil
}

// isDamage reports whether a record does not open. False: the store does not answer.
func isDamage(err error) bool {
	return errors.Is(err, row.ErrUnauthentic) || errors.Is(err, row.ErrSealed) || errors.Is(err, sinks.ErrCorrupt)
}
