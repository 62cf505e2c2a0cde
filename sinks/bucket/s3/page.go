package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithytime "github.com/aws/smithy-go/time"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/xml"
)

// maxPage bounds a page of a listing: a thousand keys of at most 1,024 bytes need less, even escaped.
const maxPage = 32 << 20

// pageReader reads the pages of a listing in the SDK's place. The SDK's reader of XML takes more than half
// of the processor time of a run without new objects. Errors stay the SDK's.
type pageReader struct {
	sdk middleware.DeserializeMiddleware
}

// readPages puts a pageReader into the calls of a client.
func readPages(o *s3.Options) {
	o.APIOptions = append(o.APIOptions, func(stack *middleware.Stack) (err error) {
		r := &pageReader{}
		r.sdk, err = stack.Deserialize.Swap(r.ID(), r)
		return err
	})
}

// ID returns the id of the SDK's reader.
func (*pageReader) ID() string { return "OperationDeserializer" }

// HandleDeserialize implements middleware.DeserializeMiddleware.
func (r *pageReader) HandleDeserialize(ctx context.Context, in middleware.DeserializeInput, next middleware.DeserializeHandler) (
	out middleware.DeserializeOutput, meta middleware.Metadata, err error) {
	out, meta, err = next.HandleDeserialize(ctx, in)
	answer, ok := out.RawResponse.(*smithyhttp.Response)
	if err != nil || !ok || answer.StatusCode < 200 || answer.StatusCode > 299 {
		return r.sdk.HandleDeserialize(ctx, in, answered{out, meta, err})
	}
	defer answer.Body.Close()
	b := pages.Get().(*bytes.Buffer)
	defer pages.Put(b)
	b.Reset()
	_, err = b.ReadFrom(io.LimitReader(answer.Body, maxPage+1))
	if err == nil && b.Len() > maxPage {
		err = fmt.Errorf("above %d bytes", maxPage)
	}
	if err == nil {
		out.Result, err = decodePage(b.Bytes())
	}
	if err != nil {
		return out, meta, &smithy.DeserializationError{Err: &pageError{err}}
	}
	return out, meta, nil
}

// pageError is a page that did not come whole, or that makes no sense.
type pageError struct{ error }

func (e *pageError) Error() string { return "page of a listing: " + e.error.Error() }

func (e *pageError) Unwrap() error { return e.error }

// RetryableError answers the SDK's retryer: a page that broke off may come whole the next time, a text
// that is no page will not.
func (e *pageError) RetryableError() bool {
	var network net.Error
	return contextError(e.error) == nil && (errors.Is(e.error, io.ErrUnexpectedEOF) || errors.As(e.error, &network))
}

var pages = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// answered is a handler that has its answer.
type answered struct {
	out  middleware.DeserializeOutput
	meta middleware.Metadata
	err  error
}

func (a answered) HandleDeserialize(context.Context, middleware.DeserializeInput) (middleware.DeserializeOutput, middleware.Metadata, error) {
	return a.out, a.meta, a.err
}

// decodePage reads a ListBucketResult (S3 API reference, ListObjectsV2) as far as List wants it: keys, ETags, sizes, times
// and how to go on. It keeps nothing of text, which it may change.
func decodePage(text []byte) (*s3.ListObjectsV2Output, error) {
	in := parse.NewInputBytes(text)
	defer in.Restore()
	l := xml.NewLexer(in)
	page := &listPage{}
	var open [][]byte // names of the elements around
	var value []byte
	bad := func(format string, args ...any) error {
		return fmt.Errorf("byte %d: "+format, append([]any{in.Offset()}, args...)...)
	}
	for {
		token, data := l.Next()
		switch token {
		case xml.ErrorToken:
			switch {
			case l.Err() != io.EOF:
				return nil, l.Err()
			case open != nil && len(open) == 0:
				if page.IsTruncated == nil { // whoever says how to go on has more
					page.IsTruncated = aws.Bool(aws.ToString(page.NextContinuationToken) != "")
				}
				return &page.ListObjectsV2Output, nil
			}
			return nil, bad("%w", io.ErrUnexpectedEOF)
		case xml.StartTagToken:
			if len(open) == 0 && (open != nil || string(l.Text()) != "ListBucketResult") {
				return nil, bad("%.40q, want one ListBucketResult", l.Text())
			}
			open = append(open, l.Text())
			value = value[:0]
			if len(open) == 2 && string(l.Text()) == "Contents" {
				page.Contents = append(page.Contents, types.Object{})
			}
		case xml.TextToken:
			var err error
			if value, err = appendText(value, data); err != nil {
				return nil, bad("%w", err)
			}
		case xml.CDATAToken:
			value = append(value, l.Text()...)
		case xml.EndTagToken, xml.StartTagCloseVoidToken:
			n := len(open)
			if n == 0 || token == xml.EndTagToken && !bytes.Equal(open[n-1], l.Text()) {
				return nil, bad("end of %.40q where none begins", l.Text())
			}
			if err := page.set(open, value); err != nil {
				return nil, bad("%s: %w", open[n-1], err)
			}
			open = open[:n-1]
		}
	}
}

// listPage is a page that is being read. What its objects point to is made for many at once.
type listPage struct {
	s3.ListObjectsV2Output
	texts []string
	sizes []int64
	times []time.Time
}

// set takes what an element holds that ends.
func (p *listPage) set(path [][]byte, value []byte) (err error) {
	name := string(path[len(path)-1])
	switch {
	case len(path) == 2 && name == "IsTruncated":
		var more bool
		more, err = strconv.ParseBool(string(value))
		p.IsTruncated = &more
	case len(path) == 2 && name == "NextContinuationToken":
		p.NextContinuationToken = aws.String(string(value))
	case len(path) == 3 && string(path[1]) == "Contents":
		o := &p.Contents[len(p.Contents)-1]
		switch name {
		case "Key":
			o.Key = room(&p.texts)
			*o.Key = string(value)
		case "ETag":
			o.ETag = room(&p.texts)
			*o.ETag = string(value)
		case "Size":
			o.Size = room(&p.sizes)
			*o.Size, err = strconv.ParseInt(string(value), 10, 64)
		case "LastModified":
			o.LastModified = room(&p.times)
			*o.LastModified, err = smithytime.ParseDateTime(string(value))
		}
	}
	return err
}

// room gives a place of a list that grows by pieces, which stay where they are.
func room[T any](list *[]T) *T {
	if len(*list) == cap(*list) {
		*list = make([]T, 0, 512)
	}
	*list = append(*list, *new(T))
	return &(*list)[len(*list)-1]
}

// entities need no declaration (XML 1.0, 4.6).
var entities = map[string]byte{"lt": '<', "gt": '>', "amp": '&', "quot": '"', "apos": '\''}

// appendText appends the characters that text stands for (XML 1.0, 4.1 and 4.6).
func appendText(to, text []byte) ([]byte, error) {
	for {
		i := bytes.IndexByte(text, '&')
		if i < 0 {
			return append(to, text...), nil
		}
		to = append(to, text[:i]...)
		end := bytes.IndexByte(text[i:], ';')
		if end < 0 {
			return nil, fmt.Errorf("%.12q is no reference", text[i:])
		}
		name := string(text[i+1 : i+end])
		text = text[i+end+1:]
		if c, is := entities[name]; is {
			to = append(to, c)
			continue
		}
		digits, is := strings.CutPrefix(name, "#")
		base := 10
		if hex, is := strings.CutPrefix(digits, "x"); is {
			digits, base = hex, 16
		}
		c, err := strconv.ParseUint(digits, base, 32)
		if !is || err != nil || c > unicode.MaxRune || !utf8.ValidRune(rune(c)) {
			return nil, fmt.Errorf("&%.12s; is no reference", name)
		}
		to = utf8.AppendRune(to, rune(c))
	}
}
