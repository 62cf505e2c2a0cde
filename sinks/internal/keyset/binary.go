package keyset

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Names of Tink's enumerations, at their numbers.
var (
	statuses  = []string{"UNKNOWN_STATUS", enabled, "DISABLED", "DESTROYED"}
	prefixes  = []string{"UNKNOWN_PREFIX", "TINK", "LEGACY", "RAW", "CRUNCHY"}
	materials = []string{"UNKNOWN_KEYMATERIAL", "SYMMETRIC", "ASYMMETRIC_PRIVATE", "ASYMMETRIC_PUBLIC", "REMOTE"}
)

func appendNumber(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// gcmKey is Tink's message AesGcmKey.
func gcmKey(secret []byte) []byte { return appendBytes(nil, 3, secret) }

// binary returns Tink's message Keyset.
func (k *Keyset) binary() []byte {
	number := func(names []string, name string) uint64 { return uint64(max(slices.Index(names, name), 0)) }
	b := appendNumber(nil, 1, uint64(k.PrimaryKeyID))
	for _, key := range k.Key {
		data := appendBytes(appendBytes(nil, 1, []byte(key.KeyData.TypeURL)), 2, key.KeyData.Value)
		data = appendNumber(data, 3, number(materials, key.KeyData.KeyMaterialType))
		one := appendNumber(appendBytes(nil, 1, data), 2, number(statuses, key.Status))
		one = appendNumber(appendNumber(one, 3, uint64(key.KeyID)), 4, number(prefixes, key.OutputPrefixType))
		b = appendBytes(b, 2, one)
	}
	return b
}

func parseBinary(b []byte) (*Keyset, error) {
	k := new(Keyset)
	err := fields(b, func(field protowire.Number, n uint64, text []byte) error {
		switch field {
		case 1:
			k.PrimaryKeyID = uint32(n)
		case 2:
			key, err := parseKey(text)
			k.Key = append(k.Key, key)
			return err
		}
		return nil
	})
	return k, err
}

func parseKey(b []byte) (key Key, err error) {
	name := func(names []string, n uint64) string { return names[min(n, uint64(len(names)))%uint64(len(names))] }
	err = fields(b, func(field protowire.Number, n uint64, text []byte) error {
		switch field {
		case 1:
			return fields(text, func(field protowire.Number, n uint64, text []byte) error {
				switch field {
				case 1:
					key.KeyData.TypeURL = string(text)
				case 2:
					key.KeyData.Value = text
				case 3:
					key.KeyData.KeyMaterialType = name(materials, n)
				}
				return nil
			})
		case 2:
			key.Status = name(statuses, n)
		case 3:
			key.KeyID = uint32(n)
		case 4:
			key.OutputPrefixType = name(prefixes, n)
		}
		return nil
	})
	return key, err
}

// errMessage: bytes are none of Tink's messages.
var errMessage = errors.New("not a message of Tink")

// fields calls found with each field of a message: a number or bytes.
func fields(b []byte, found func(field protowire.Number, n uint64, text []byte) error) error {
	for len(b) > 0 {
		field, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return fmt.Errorf("%w: %w", errMessage, protowire.ParseError(size))
		}
		b = b[size:]
		var n uint64
		var text []byte
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			text, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(field, kind, b)
		}
		if size < 0 {
			return fmt.Errorf("%w: %w", errMessage, protowire.ParseError(size))
		}
		b = b[size:]
		if err := found(field, n, text); err != nil {
			return err
		}
	}
	return nil
}

// get returns the number and the bytes of a field of a message; zero values if it has none.
func get(message []byte, field protowire.Number) (n uint64, text []byte, err error) {
	err = fields(message, func(f protowire.Number, number uint64, bytes []byte) error {
		if f == field {
			n, text = number, bytes
		}
		return nil
	})
	return n, text, err
}
