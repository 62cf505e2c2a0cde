package rpc

import (
	"errors"
	"net/http"
	"strconv"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/symlake/symlake/jobs/serve/protocol"
)

// code returns the code of gRPC for a status of HTTP.
func code(status int) connect.Code {
	switch status {
	case http.StatusBadRequest, http.StatusUnsupportedMediaType:
		return connect.CodeInvalidArgument
	case http.StatusUnauthorized:
		return connect.CodeUnauthenticated
	case http.StatusForbidden:
		return connect.CodePermissionDenied
	case http.StatusNotFound:
		return connect.CodeNotFound
	case http.StatusMethodNotAllowed, http.StatusHTTPVersionNotSupported:
		return connect.CodeUnimplemented
	case http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return connect.CodeResourceExhausted
	case http.StatusRequestTimeout, http.StatusGatewayTimeout:
		return connect.CodeDeadlineExceeded
	case 499:
		return connect.CodeCanceled
	case http.StatusServiceUnavailable:
		return connect.CodeUnavailable
	}
	return connect.CodeInternal
}

// ending returns the error that ends a call. The seconds after which asking again can help go as google.rpc.RetryInfo, as Retry-After, and in the form that clients of
// gRPC with a retry policy obey.
func ending(s *protocol.Status) *connect.Error {
	err := connect.NewError(code(s.Code), errors.New(s.Reason))
	after := s.After
	if after <= 0 {
		return err
	}
	err.Meta().Set("Retry-After", strconv.Itoa(after))
	err.Meta().Set("Grpc-Retry-Pushback-Ms", strconv.Itoa(1000*after))
	// RetryInfo has one field, a Duration of seconds.
	delay := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(after))
	info := &anypb.Any{TypeUrl: "type.googleapis.com/google.rpc.RetryInfo", Value: protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), delay)}
	if detail, bad := connect.NewErrorDetail(info); bad == nil {
		err.AddDetail(detail)
	}
	return err
}
