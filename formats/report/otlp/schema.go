package otlp

import "google.golang.org/protobuf/encoding/protowire"

// field is the type of a field: of numbers, bytes or a message.
type field uint8

// The types of fields.
const (
	unknown field = iota
	number        // a varint
	word          // of 4 bytes
	long          // of 8 bytes
	text
	octets
	trace // an id, of 16 bytes or none
	span  // an id, of 8 bytes or none

	anyValue
	arrayValue
	pairList
	keyValue
	scope
	entity
	resource
	logRecord
	scopeLogs
	resourceLogs
	logs
	event
	link
	state
	oneSpan
	scopeSpans
	resourceSpans
	traces
)

// wire returns how the type is written.
func (f field) wire() protowire.Type {
	switch f {
	case number:
		return protowire.VarintType
	case word:
		return protowire.Fixed32Type
	case long:
		return protowire.Fixed64Type
	}
	return protowire.BytesType
}

// takes reports whether bytes of a length may be of the type.
func (f field) takes(size int) bool {
	switch f {
	case trace:
		return size == 0 || size == 16
	case span:
		return size == 0 || size == 8
	}
	return true
}

// mostField is the highest number of a field in a message.
const mostField = 16

// resourceTag is the first byte of a resource in any message.
const resourceTag = 1<<3 | byte(protowire.BytesType)

// messages are the fields of the messages of opentelemetry-proto, version 1, by their numbers.
var messages = [...][mostField + 1]field{
	anyValue:      {1: text, 2: number, 3: number, 4: long, 5: arrayValue, 6: pairList, 7: octets},
	arrayValue:    {1: anyValue},
	pairList:      {1: keyValue},
	keyValue:      {1: text, 2: anyValue},
	scope:         {1: text, 2: text, 3: keyValue, 4: number},
	entity:        {1: text, 2: text, 3: text, 4: text},
	resource:      {1: keyValue, 2: number, 3: entity},
	logRecord:     {1: long, 2: number, 3: text, 5: anyValue, 6: keyValue, 7: number, 8: word, 9: trace, 10: span, 11: long, 12: text},
	scopeLogs:     {1: scope, 2: logRecord, 3: text},
	resourceLogs:  {1: resource, 2: scopeLogs, 3: text},
	logs:          {1: resourceLogs},
	event:         {1: long, 2: text, 3: keyValue, 4: number},
	link:          {1: trace, 2: span, 3: text, 4: keyValue, 5: number, 6: word},
	state:         {2: text, 3: number},
	oneSpan:       {1: trace, 2: span, 3: text, 4: span, 5: text, 6: number, 7: long, 8: long, 9: keyValue, 10: number, 11: event, 12: number, 13: link, 14: number, 15: state, 16: word},
	scopeSpans:    {1: scope, 2: oneSpan, 3: text},
	resourceSpans: {1: resource, 2: scopeSpans, 3: text},
	traces:        {1: resourceSpans},
}

// fieldOf returns the type of a message's field.
func fieldOf(m field, n protowire.Number) field {
	if n > mostField {
		return unknown
	}
	return messages[m][n]
}

// hasPairs reports whether a message has attributes.
func hasPairs(m field) bool { return m != arrayValue && m != keyValue && m != anyValue }
