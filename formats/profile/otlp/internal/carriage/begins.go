package carriage

import (
	"bytes"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/symlake/symlake/formats/internal/json"
)

// kind is a message of opentelemetry-proto.
type kind uint8

const (
	kData kind = iota
	kTables
	kResourceProfiles
	kScopeProfiles
	kProfile
	kResource
	kScope
	kMapping
	kLocation
	kFunction
	kStack
	kSample
	kType
)

// checker checks the beginning of a message. It knows enough of a profile to tell it from logs, from traces and from other
// forms of profiles.
type checker struct {
	b       []byte
	sure    bool // a profile or a table was seen
	entries int  // of tables that say little
}

// sureEntries of tables that say little are enough to be sure.
const sureEntries = 4

// isMessage reports whether b begins with a message of so many bytes.
func isMessage(b []byte, bytes int) bool {
	c := &checker{b: b}
	return c.message(kData, 0, bytes) && c.sure
}

// message checks the message at [at, to), and knows some of its bytes.
func (c *checker) message(k kind, at, to int) bool {
	for at < to && at < len(c.b) {
		b := c.b[at:min(to, len(c.b))]
		number, wire, n := protowire.ConsumeTag(b)
		if n < 0 {
			return to > len(c.b) && len(b) < 2*len("\xff\xff\xff\xff\xff")
		}
		if wire != protowire.BytesType {
			_, _, n = protowire.ConsumeField(b)
			if !c.number(k, number, wire) {
				return false
			}
			if n < 0 {
				return to > len(c.b)
			}
			at += n
			continue
		}
		size, m := protowire.ConsumeVarint(b[n:])
		if m < 0 {
			return to > len(c.b)
		}
		body := at + n + m
		if size > uint64(to-body) || body > to || !c.bytes(k, number, body, body+int(size)) {
			return false
		}
		at = body + int(size)
	}
	return true
}

// number reports whether a message may have a number in a field.
func (c *checker) number(k kind, number protowire.Number, wire protowire.Type) bool {
	if wire == protowire.StartGroupType || wire == protowire.EndGroupType {
		return false
	}
	switch k {
	case kResource:
		return number == 2 && wire == protowire.VarintType
	case kScope:
		return number == 4 && wire == protowire.VarintType
	case kType:
		return number <= 3 && wire == protowire.VarintType
	case kMapping:
		return number <= 9 && wire == protowire.VarintType
	case kLocation:
		return (number <= 2 || number == 4) && wire == protowire.VarintType
	case kFunction:
		return number <= 4 && wire == protowire.VarintType
	case kStack:
		return number == 1 && wire == protowire.VarintType
	case kProfile:
		return number >= 3 && number <= 64
	case kSample:
		return number <= 16
	}
	return false
}

// bytes checks a field with a length.
func (c *checker) bytes(k kind, number protowire.Number, at, to int) bool {
	switch k {
	case kData:
		switch {
		case number == 1:
			return c.message(kResourceProfiles, at, to)
		case number == 2:
			return c.message(kTables, at, to) || c.message(kMapping, at, to)
		}
		return number <= 8
	case kTables:
		return c.inTables(number, at, to)
	case kLocation:
		return number >= 3 && number <= 5
	case kStack:
		return number == 1
	case kMapping:
		return number == 5
	case kResourceProfiles:
		switch number {
		case 1:
			return c.message(kResource, at, to)
		case 2:
			return c.message(kScopeProfiles, at, to)
		}
		return number == 3 || number == 1000
	case kScopeProfiles:
		switch number {
		case 1:
			return c.message(kScope, at, to)
		case 2:
			return c.message(kProfile, at, to)
		}
		return number == 3
	case kResource, kScope:
		return number <= 3
	case kProfile:
		return c.inProfile(number, at, to)
	case kSample:
		return number <= 16
	}
	return false
}

// inTables checks an entry of a table.
func (c *checker) inTables(number protowire.Number, at, to int) bool {
	of := [...]kind{1: kMapping, 2: kLocation, 3: kFunction, 7: kStack}
	switch number {
	case 1, 2, 3, 7:
		if !c.message(of[number], at, to) {
			return number == 7 && c.message(kType, at, to) // units, in older versions
		}
		if to > at && at < len(c.b) {
			c.entries++
		}
		c.sure = c.sure || number == 1 && to > at && at < len(c.b) || c.entries >= sureEntries
	case 5:
		c.sure = true
	}
	return number <= 16
}

// inProfile checks a message or bytes of a profile.
func (c *checker) inProfile(number protowire.Number, at, to int) bool {
	switch number {
	case 1:
		if !c.message(kType, at, to) {
			return false
		}
		c.sure = true
	case 2:
		if !c.message(kSample, at, to) {
			return false
		}
		c.sure = c.sure || to > at
	}
	return number <= 64
}

// isObject reports whether head begins an object of JSON that is a message.
func isObject(head []byte) bool {
	head = head[json.SkipBlank(head, 0):]
	if !bytes.HasPrefix(head, []byte("{")) {
		return false
	}
	j := &json.Walker{Bytes: head}
	is := false
	j.Object(func(key string) {
		switch key {
		case "resourceProfiles", "resource_profiles":
			is = is || j.Peek() == '['
		case "dictionary":
			j.Object(func(key string) { is = is || isTable(key) })
		default:
			is = is || isTable(key) && j.Peek() == '['
		}
	})
	return is
}

// isTable reports whether a member has the name of a table.
func isTable(key string) bool {
	switch key {
	case "mappingTable", "locationTable", "functionTable", "stringTable", "attributeTable", "stackTable",
		"mapping_table", "location_table", "function_table", "string_table", "attribute_table", "stack_table":
		return true
	}
	return false
}
