package hfile

import (
	"bytes"
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// protoMagic stands before a protobuf message in HBase's files.
const protoMagic = "PBUF"

// pair is a name and a value of the file info.
type pair struct {
	name  string
	value []byte
}

// appendInfo: "PBUF", a length, and pairs in order of their names.
func appendInfo(b []byte, pairs []pair) []byte {
	slices.SortFunc(pairs, func(x, y pair) int { return bytes.Compare([]byte(x.name), []byte(y.name)) })
	var msg []byte
	for _, p := range pairs {
		var one []byte
		one = protowire.AppendTag(one, 1, protowire.BytesType)
		one = protowire.AppendString(one, p.name)
		one = protowire.AppendTag(one, 2, protowire.BytesType)
		one = protowire.AppendBytes(one, p.value)
		msg = protowire.AppendTag(msg, 1, protowire.BytesType)
		msg = protowire.AppendBytes(msg, one)
	}
	b = append(b, protoMagic...)
	return protowire.AppendBytes(b, msg)
}

// parseInfo reads what appendInfo wrote; values alias b.
func parseInfo(b []byte, off int64) (map[string][]byte, error) {
	rest, ok := bytes.CutPrefix(b, []byte(protoMagic))
	if !ok {
		return nil, corrupt("file info", off, "%q", protoMagic)
	}
	msg, n := protowire.ConsumeBytes(rest)
	if n < 0 {
		return nil, corrupt("file info", off, "a message that fits")
	}
	info := make(map[string][]byte)
	err := fields(msg, off, func(num protowire.Number, one []byte) error {
		if num != 1 {
			return nil
		}
		var name string
		var value []byte
		err := fields(one, off, func(num protowire.Number, v []byte) error {
			switch num {
			case 1:
				name = string(v)
			case 2:
				value = v
			}
			return nil
		})
		info[name] = value
		return err
	})
	return info, err
}

// fields hands out the byte fields of a message and passes over the others.
func fields(msg []byte, off int64, each func(num protowire.Number, v []byte) error) error {
	for len(msg) > 0 {
		num, kind, n := protowire.ConsumeTag(msg)
		if n < 0 {
			return corrupt("file info", off, "a protobuf field")
		}
		msg = msg[n:]
		var v []byte
		if kind == protowire.BytesType {
			v, n = protowire.ConsumeBytes(msg)
		} else {
			n = protowire.ConsumeFieldValue(num, kind, msg)
		}
		if n < 0 {
			return corrupt("file info", off, "a value of field %d", num)
		}
		msg = msg[n:]
		if kind == protowire.BytesType {
			if err := each(num, v); err != nil {
				return err
			}
		}
	}
	return nil
}

func u32(n uint64) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
func u64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
