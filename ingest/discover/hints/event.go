// Package hints reads messages about new objects: events as S3 sends them to a
// queue, as topics and event buses wrap them, and as S3 servers of other makers
// write them (versitygw, MinIO).
//
// A hint only brings an object forward, so nothing here is believed: which
// object is meant is found out by asking for it, and a message that makes no
// sense is dropped. What comes of the objects is the caller's.
package hints

import (
	"encoding/json"
	"net/url"
	"strings"
)

const (
	// maxEventBytes is what SQS allows a message.
	maxEventBytes = 1 << 20
	// maxRecords of one message are looked at; S3 sends one.
	maxRecords = 1000
	// maxWraps is how often a message may be wrapped in another.
	maxWraps = 4
)

// event is every form at once: their fields do not collide.
type event struct {
	Records []struct {
		EventName string `json:"eventName"`
		S3        place  `json:"s3"`
	}
	Message    string          // of a topic: the event as text
	DetailType string          `json:"detail-type"` // of an event bus
	Detail     json.RawMessage `json:"detail"`
}

type place struct {
	Bucket struct {
		Name string `json:"name"`
	} `json:"bucket"`
	Object struct {
		Key string `json:"key"`
	} `json:"object"`
}

// URLs gives the objects that a message says were made, each in every way in
// which its key may be meant: S3 escapes keys as in a form, an event bus and other servers do not, or as in a path.
// None: it says nothing of the kind.
func URLs(message []byte) []string { return urls(message, maxWraps) }

func urls(message []byte, wraps int) []string {
	var e event
	if len(message) > maxEventBytes || json.Unmarshal(message, &e) != nil {
		return nil
	}
	var all []string
	switch {
	case len(e.Records) > 0:
		for _, r := range e.Records[:min(len(e.Records), maxRecords)] {
			if strings.HasPrefix(strings.TrimPrefix(r.EventName, "s3:"), "ObjectCreated:") {
				all = append(all, r.S3.urls(true)...)
			}
		}
	case e.DetailType == "Object Created":
		var p place
		if json.Unmarshal(e.Detail, &p) == nil {
			all = p.urls(false)
		}
	case e.Message != "" && wraps > 0:
		return urls([]byte(e.Message), wraps-1)
	}
	return all
}

func (p place) urls(escaped bool) []string {
	if p.Bucket.Name == "" || p.Object.Key == "" {
		return nil
	}
	keys := []string{p.Object.Key}
	if escaped {
		for _, unescape := range []func(string) (string, error){url.QueryUnescape, url.PathUnescape} {
			if k, err := unescape(p.Object.Key); err == nil && k != keys[len(keys)-1] && k != keys[0] {
				keys = append(keys, k)
			}
		}
	}
	for i, k := range keys {
		keys[i] = "s3://" + p.Bucket.Name + "/" + k
	}
	return keys
}
