package otlp

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// kind is a message of opentelemetry-proto.
type kind uint8

// The messages that are looked into.
const (
	kData kind = iota // ProfilesData and ExportProfilesServiceRequest
	kTables
	kResourceProfiles
	kScopeProfiles
	kProfile
	kResource
	kScope
	kPair
	kValue
	kMapping
	kLocation
	kLine
	kFunction
	kAttribute
	kStack
	kSample
	kType
	kinds
)

// name is a field of a message, in any version and both encodings.
type name uint8

// The fields that are looked at.
const (
	nNone name = iota
	nOther
	nResourceProfiles
	nTables
	nMappings
	nLocations
	nFunctions
	nStrings
	nAttributes
	nStacks
	nResource
	nScopeProfiles
	nScope
	nProfiles
	nPairs
	nName
	nKey
	nKeyIndex
	nValue
	nText
	nNumber
	nOctets
	nTextIndex
	nStart
	nLimit
	nOffset
	nFile
	nAttributeIndices
	nBuildID
	nMapping
	nAddress
	nLines
	nFunction
	nLine
	nColumn
	nSystemName
	nStartLine
	nIndices
	nSampleType
	nSamples
	nTime
	nDuration
	nPeriodType
	nPeriod
	nFormat
	nPayload
	nStack
	nFirst
	nLength
	nValues
	nTimes
	nUnit
)

// version is the shape of a message: where its tables stand, and how its fields are numbered.
type version uint8

// The versions of opentelemetry-proto that changed numbers.
const (
	v14  version = iota // 1.4 and 1.5: each profile has tables of its own
	v16                 // tables stand in the message
	v17                 // tables stand in a dictionary
	v18                 // stacks are a table, a profile has one type
	v19                 // comments are gone
	v110                // fields of a sample have other numbers
	versions
)

// numbered are the fields of a message by their numbers.
type numbered []name

var (
	tablesOfProfile = numbered{1: nSampleType, 2: nSamples, 3: nMappings, 4: nLocations, 5: nIndices, 6: nFunctions, 7: nAttributes, 8: nOther, 9: nOther, 10: nStrings, 11: nTime, 12: nDuration,
		13: nPeriodType, 14: nPeriod, 15: nOther, 16: nOther, 17: nOther, 18: nOther, 19: nOther, 20: nFormat, 21: nPayload, 22: nAttributeIndices}
	profile16 = numbered{1: nSampleType, 2: nSamples, 3: nIndices, 4: nTime, 5: nDuration, 6: nPeriodType, 7: nPeriod, 8: nOther, 9: nOther, 10: nOther, 11: nOther, 12: nFormat, 13: nPayload, 14: nAttributeIndices}
	profile18 = numbered{1: nSampleType, 2: nSamples, 3: nTime, 4: nDuration, 5: nPeriodType, 6: nPeriod, 7: nOther, 8: nOther, 9: nOther, 10: nFormat, 11: nPayload, 12: nAttributeIndices}
	profile19 = numbered{1: nSampleType, 2: nSamples, 3: nTime, 4: nDuration, 5: nPeriodType, 6: nPeriod, 7: nOther, 8: nOther, 9: nFormat, 10: nPayload, 11: nAttributeIndices}

	sample14  = numbered{1: nFirst, 2: nLength, 3: nValues, 4: nAttributeIndices, 5: nOther, 6: nTimes}
	sample18  = numbered{1: nStack, 2: nValues, 3: nAttributeIndices, 4: nOther, 5: nTimes}
	sample110 = numbered{1: nStack, 2: nAttributeIndices, 3: nOther, 4: nValues, 5: nTimes}

	message16 = numbered{1: nResourceProfiles, 2: nMappings, 3: nLocations, 4: nFunctions, 5: nOther, 6: nStrings, 7: nAttributes, 8: nOther}
)

// common are the fields of messages in the last version. Most messages have the same numbers in all.
var common = [kinds]numbered{
	kData:             {1: nResourceProfiles, 2: nTables},
	kTables:           {1: nMappings, 2: nLocations, 3: nFunctions, 4: nOther, 5: nStrings, 6: nAttributes, 7: nStacks},
	kResourceProfiles: {1: nResource, 2: nScopeProfiles, 3: nOther},
	kScopeProfiles:    {1: nScope, 2: nProfiles, 3: nOther},
	kProfile:          profile19,
	kResource:         {1: nPairs, 2: nOther, 3: nOther},
	kScope:            {1: nName, 2: nOther, 3: nPairs, 4: nOther},
	kPair:             {1: nKey, 2: nValue, 3: nKeyIndex},
	kValue:            {1: nText, 2: nOther, 3: nNumber, 4: nOther, 5: nOther, 6: nOther, 7: nOctets, 8: nTextIndex},
	kMapping:          {1: nStart, 2: nLimit, 3: nOffset, 4: nFile, 5: nAttributeIndices},
	kLocation:         {1: nMapping, 2: nAddress, 3: nLines, 4: nAttributeIndices, 5: nAttributeIndices},
	kLine:             {1: nFunction, 2: nLine, 3: nColumn},
	kFunction:         {1: nName, 2: nSystemName, 3: nFile, 4: nStartLine},
	kAttribute:        {1: nKey, 2: nValue, 3: nUnit},
	kStack:            {1: nIndices},
	kSample:           sample110,
	kType:             {1: nName, 2: nUnit, 3: nOther},
}

// numbersOf returns the fields of a message in a version.
func numbersOf(v version, k kind) numbered {
	switch {
	case k == kData && v == v16:
		return message16
	case k == kProfile && v == v14:
		return tablesOfProfile
	case k == kProfile && v <= v17:
		return profile16
	case k == kProfile && v == v18:
		return profile18
	case k == kSample && v <= v17:
		return sample14
	case k == kSample && v <= v19:
		return sample18
	}
	return common[k]
}

// field returns the name of a field; nNone: it has none.
func (n numbered) field(number protowire.Number) name {
	if int(number) < len(n) {
		return n[number]
	}
	return nNone
}

// number returns the number of a field; 0: the message has none of the name.
func (n numbered) number(of name) protowire.Number {
	for i := range n {
		if n[i] == of {
			return protowire.Number(i)
		}
	}
	return 0
}

// members are the fields of messages by their names in JSON.
var members = [kinds]map[string]name{
	kData: {"resourceProfiles": nResourceProfiles, "dictionary": nTables, "mappingTable": nMappings, "locationTable": nLocations, "functionTable": nFunctions, "stringTable": nStrings,
		"attributeTable": nAttributes, "stackTable": nStacks},
	kTables:           {"mappingTable": nMappings, "locationTable": nLocations, "functionTable": nFunctions, "stringTable": nStrings, "attributeTable": nAttributes, "stackTable": nStacks},
	kResourceProfiles: {"resource": nResource, "scopeProfiles": nScopeProfiles},
	kScopeProfiles:    {"scope": nScope, "profiles": nProfiles},
	kProfile: {"sampleType": nSampleType, "samples": nSamples, "sample": nSamples, "timeUnixNano": nTime, "timeNanos": nTime, "durationNano": nDuration, "durationNanos": nDuration,
		"periodType": nPeriodType, "period": nPeriod, "originalPayloadFormat": nFormat, "originalPayload": nPayload, "attributeIndices": nAttributeIndices, "locationIndices": nIndices,
		"mappingTable": nMappings, "locationTable": nLocations, "functionTable": nFunctions, "stringTable": nStrings, "attributeTable": nAttributes},
	kResource:  {"attributes": nPairs},
	kScope:     {"name": nName, "attributes": nPairs},
	kPair:      {"key": nKey, "value": nValue, "keyStrindex": nKeyIndex},
	kValue:     {"stringValue": nText, "intValue": nNumber, "bytesValue": nOctets, "stringValueStrindex": nTextIndex},
	kMapping:   {"memoryStart": nStart, "memoryLimit": nLimit, "fileOffset": nOffset, "filenameStrindex": nFile, "attributeIndices": nAttributeIndices},
	kLocation:  {"mappingIndex": nMapping, "address": nAddress, "lines": nLines, "line": nLines, "attributeIndices": nAttributeIndices},
	kLine:      {"functionIndex": nFunction, "line": nLine, "column": nColumn},
	kFunction:  {"nameStrindex": nName, "systemNameStrindex": nSystemName, "filenameStrindex": nFile, "startLine": nStartLine},
	kAttribute: {"keyStrindex": nKeyIndex, "key": nKey, "value": nValue, "unitStrindex": nUnit},
	kStack:     {"locationIndices": nIndices},
	kSample: {"stackIndex": nStack, "values": nValues, "value": nValues, "attributeIndices": nAttributeIndices, "timestampsUnixNano": nTimes, "locationsStartIndex": nFirst,
		"locationsLength": nLength},
	kType: {"typeStrindex": nName, "unitStrindex": nUnit},
}

// isList reports whether the elements of a field are numbers, which stand together.
func (n name) isList() bool {
	return n == nAttributeIndices || n == nIndices || n == nValues || n == nTimes
}

// signs tell versions apart: each field counts how often a message has what only some versions have.
type signs struct {
	top, dictionary, inProfile bool // where tables stand
	v17, later                 bool // the first or a later version with a dictionary
	v18, v19                   bool // a profile of 1.8, or of a later version
	before, v110               bool // samples before 1.10, or since
	profiles                   int
}

// mostSamplesAsked of a profile are looked at to tell its version.
const mostSamplesAsked = 256

// errEnough ends a walk that has seen enough.
var errEnough = errors.New("enough")

// versionOf returns the version of a message of protobuf. The error is a *damage.
func versionOf(r *reader) (version, error) {
	var s signs
	r.version = v110
	err := r.fields(kData, 0, len(r.b), func(f *field) error {
		switch {
		case f.wire != protowire.BytesType:
		case f.number == 1:
			return s.resource(r, f)
		case f.number == 2:
			return s.second(r, f)
		case f.number <= 8:
			s.top = true
		}
		return nil
	})
	return s.version(), err
}

// version decides.
func (s *signs) version() version {
	switch {
	case s.top:
		return v16
	case s.inProfile && !s.dictionary:
		return v14
	case s.v17 && !s.later:
		return v17
	case s.v110:
		return v110
	case s.v18 && !s.v19:
		return v18
	case s.before:
		return v19
	}
	return v110
}

// second looks at the second field of a message: a dictionary, or a mapping of version 1.6.
func (s *signs) second(r *reader, f *field) error {
	mapping := false
	err := r.fields(kTables, f.body, f.end, func(in *field) error {
		if in.wire != protowire.BytesType {
			mapping = true
			return errEnough
		}
		s.dictionary = true
		switch in.name {
		case nAttributes, nOther, nStacks:
			if in.name == nOther {
				return nil
			}
			return r.fields(kAttribute, in.body, in.end, func(of *field) error {
				if of.number == 1 {
					packed := of.wire == protowire.BytesType
					s.later = s.later || packed == (in.name == nStacks)
					s.v17 = s.v17 || packed != (in.name == nStacks)
				}
				return nil
			})
		}
		return nil
	})
	if mapping {
		s.top = true
	}
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// resource looks at the profiles of a resource.
func (s *signs) resource(r *reader, f *field) error {
	return r.fields(kResourceProfiles, f.body, f.end, func(f *field) error {
		if f.name != nScopeProfiles || f.wire != protowire.BytesType {
			return nil
		}
		return r.fields(kScopeProfiles, f.body, f.end, func(f *field) error {
			if f.name != nProfiles || f.wire != protowire.BytesType {
				return nil
			}
			s.profiles++
			return s.profile(r, f)
		})
	})
}

// profile looks at a profile.
func (s *signs) profile(r *reader, f *field) error {
	samples, strings, third := 0, false, false
	err := r.fields(kProfile, f.body, f.end, func(f *field) error {
		packed := f.wire == protowire.BytesType
		switch f.number {
		case 2:
			if samples++; packed && samples <= mostSamplesAsked {
				return s.sample(r, f)
			}
		case 3:
			s.later = s.later || f.wire == protowire.Fixed64Type
			s.v17 = s.v17 || packed
			third = third || packed
		case 5:
			s.later = s.later || packed
		case 6:
			s.later = s.later || f.wire == protowire.VarintType
		case 8:
			s.v18 = s.v18 || packed
			s.v19 = s.v19 || f.wire == protowire.VarintType
		case 9:
			s.v19 = s.v19 || packed
			s.v18 = s.v18 || f.wire == protowire.VarintType
		case 10:
			strings = strings || packed
		case 11, 12:
			s.inProfile = s.inProfile || f.wire == protowire.VarintType && strings
		}
		return nil
	})
	s.inProfile = s.inProfile || third && strings
	return err
}

// sample looks at a sample.
func (s *signs) sample(r *reader, f *field) error {
	return r.fields(kSample, f.body, f.end, func(f *field) error {
		packed := f.wire == protowire.BytesType
		switch f.number {
		case 2:
			s.v17 = s.v17 || f.wire == protowire.VarintType
			s.later = s.later || packed
		case 3:
			s.v110 = s.v110 || f.wire == protowire.VarintType
			s.before = s.before || packed
		case 4:
			s.v110 = s.v110 || packed && s.later
			s.before = s.before || f.wire == protowire.VarintType
		}
		return nil
	})
}
