package relay

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// isResources reports whether b is a message with resources alone, which have no profiles.
func isResources(b []byte) bool {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeField(b)
		if n < 0 || number > 2 || kind != protowire.BytesType {
			return false
		}
		b = b[n:]
	}
	return true
}

// frameBytes stand before a message of gRPC: a byte that says whether it is compressed, and its length.
const frameBytes = 5

// frame returns a message with its frame.
func frame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// Unframe returns the message in a body of gRPC of one message. encoding is the header Grpc-Encoding.
func Unframe(body []byte, encoding string, most int64) ([]byte, error) {
	if len(body) < frameBytes || int64(binary.BigEndian.Uint32(body[1:])) != int64(len(body)-frameBytes) || body[0] > 1 {
		return nil, errors.New("the body is no message of gRPC")
	}
	message := body[frameBytes:]
	if body[0] == 0 {
		return message, nil
	}
	if encoding != "gzip" {
		return nil, fmt.Errorf("grpc-encoding %.20q: want gzip or identity", encoding)
	}
	z, err := gzip.NewReader(bytes.NewReader(message))
	if err != nil {
		return nil, errors.New("the message is not compressed as it says")
	}
	plain, err := io.ReadAll(io.LimitReader(z, most+1))
	if err != nil {
		return nil, errors.New("the message is not compressed as it says")
	}
	if int64(len(plain)) > most {
		return nil, ErrLarge
	}
	return plain, nil
}

// ErrLarge says that a message inflates to more than it may have.
var ErrLarge = errors.New("the message inflates to more than is allowed")

// Codes of gRPC.
const (
	codeOK                 = 0
	codeInvalid            = 3
	codeDeadline           = 4
	codeNotFound           = 5
	codePermission         = 7
	codeResourceExhausted  = 8
	codeFailedPrecondition = 9
	codeUnimplemented      = 12
	codeInternal           = 13
	codeUnavailable        = 14
	codeUnauthenticated    = 16
)

// codeOf returns the code of gRPC for a status of HTTP.
func codeOf(status int) int {
	switch status {
	case http.StatusOK:
		return codeOK
	case http.StatusBadRequest, http.StatusUnsupportedMediaType:
		return codeInvalid
	case http.StatusUnauthorized:
		return codeUnauthenticated
	case http.StatusForbidden:
		return codePermission
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return codeUnimplemented
	case http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return codeResourceExhausted
	case http.StatusInternalServerError:
		return codeInternal
	}
	return codeUnavailable
}

// Write writes a reply in the protocol of its message. bytes are the header and the body.
func (p *Reply) Write(w http.ResponseWriter, m *Message) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if m.GRPC {
		p.grpc(w)
		return
	}
	if p.After > 0 {
		h.Set("Retry-After", strconv.Itoa(p.After))
	}
	body := p.Body
	switch {
	case m.JSON && p.Code != http.StatusOK:
		body, _ = json.Marshal(map[string]any{"code": codeOf(p.Code), "message": p.Reason}) // a number and a text
	case m.JSON && len(body) == 0:
		body = []byte("{}")
	case p.Code != http.StatusOK:
		body = statusMessage(codeOf(p.Code), p.Reason, 0)
	}
	h.Set("Content-Type", contentType(m.JSON))
	w.WriteHeader(p.Code)
	_, _ = w.Write(body) // an error of the connection is the exporter's affair
}

func contentType(json bool) string {
	if json {
		return "application/json"
	}
	return "application/x-protobuf"
}

// grpc writes a reply of gRPC, with its status behind the message.
func (p *Reply) grpc(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/grpc+proto")
	if p.Code == http.StatusOK {
		h.Set("Trailer", "Grpc-Status, Grpc-Message")
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(frame(p.Body)) // an error of the connection is the exporter's affair
		h.Set("Grpc-Status", "0")
		return
	}
	code := codeOf(p.Code)
	h.Set("Grpc-Status", strconv.Itoa(code))
	h.Set("Grpc-Message", escape(p.Reason))
	if p.After > 0 {
		h.Set("Grpc-Status-Details-Bin", binaryHeader(statusMessage(code, p.Reason, p.After)))
	}
	w.WriteHeader(http.StatusOK)
}

// escape returns a text as the header Grpc-Message has it.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescape is the reverse of escape.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(v))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return strings.ToValidUTF8(b.String(), "\ufffd")
}

// retryInfo is the name of the detail of a status that says when to send again.
const retryInfo = "type.googleapis.com/google.rpc.RetryInfo"

// statusMessage returns a google.rpc.Status, with the seconds after which sending again can help unless they are 0.
func statusMessage(code int, reason string, after int) []byte {
	out := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(code))
	if !utf8.ValidString(reason) {
		reason = strings.ToValidUTF8(reason, "\ufffd")
	}
	out = protowire.AppendString(protowire.AppendTag(out, 2, protowire.BytesType), reason)
	if after == 0 {
		return out
	}
	delay := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(after))
	info := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), delay)
	detail := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), retryInfo)
	detail = protowire.AppendBytes(protowire.AppendTag(detail, 2, protowire.BytesType), info)
	return protowire.AppendBytes(protowire.AppendTag(out, 3, protowire.BytesType), detail)
}

// readStatus returns the text of a google.rpc.Status, and the seconds after which sending again can help; -1: it does not say them.
func readStatus(b []byte) (reason string, after int) {
	after = -1
	each(b, func(number protowire.Number, v []byte, _ uint64) {
		switch number {
		case 2:
			reason = strings.ToValidUTF8(string(v), "\ufffd")
		case 3:
			name, info := "", []byte(nil)
			each(v, func(number protowire.Number, v []byte, _ uint64) {
				if number == 1 {
					name = string(v)
				} else if number == 2 {
					info = v
				}
			})
			if name != retryInfo {
				return
			}
			after = 0
			each(info, func(_ protowire.Number, v []byte, _ uint64) {
				each(v, func(number protowire.Number, _ []byte, n uint64) {
					if number == 1 {
						after = int(min(n, 3600))
					} else if number == 2 && n > 0 {
						after++
					}
				})
			})
		}
	})
	return reason, after
}

// each visits the fields of a message, as far as it can be read.
func each(b []byte, visit func(number protowire.Number, v []byte, n uint64)) {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return
		}
		size := protowire.ConsumeFieldValue(number, kind, b[n:])
		if size < 0 {
			return
		}
		switch kind {
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(b[n:])
			visit(number, v, 0)
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(b[n:])
			visit(number, nil, v)
		}
		b = b[n+size:]
	}
}
