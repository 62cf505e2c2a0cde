package s3

import (
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/google/go-cmp/cmp"
)

// plainPage is what a page says, read by encoding/xml.
type plainPage struct {
	XMLName               xml.Name `xml:"ListBucketResult"`
	IsTruncated           bool
	NextContinuationToken string
	Contents              []plainObject
}

type plainObject struct {
	Key          string
	ETag         string
	Size         int64
	LastModified time.Time
}

func plain(p *s3.ListObjectsV2Output) *plainPage {
	out := &plainPage{IsTruncated: aws.ToBool(p.IsTruncated), NextContinuationToken: aws.ToString(p.NextContinuationToken)}
	for _, o := range p.Contents {
		out.Contents = append(out.Contents, plainObject{aws.ToString(o.Key), aws.ToString(o.ETag), aws.ToInt64(o.Size), aws.ToTime(o.LastModified)})
	}
	return out
}

const onePage = `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix></Prefix><KeyCount>2</KeyCount>
 <IsTruncated>true</IsTruncated><NextContinuationToken>1&amp;2==</NextContinuationToken><!-- no matter -->
 <Contents><Key>a/&lt;b&gt; &#x1;&#9;&quot;c&apos;&amp;amp;é.so</Key><LastModified>2026-01-02T03:04:05.678Z</LastModified><ETag>&quot;d41d8&quot;</ETag>
  <Owner><ID>x</ID><Key>none</Key></Owner><Size>12345678901</Size><StorageClass>STANDARD</StorageClass></Contents>
 <Contents><Key>a/c</Key><LastModified>2026-01-02T03:04:05Z</LastModified><ETag><![CDATA["e"]]></ETag><Size>0</Size><Owner/></Contents>
 <CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes></ListBucketResult>`

// A page is read as the standard library reads it; but that it knows no control characters, which keys may have.
func TestPage(t *testing.T) {
	got, err := decodePage([]byte(onePage))
	if err != nil {
		t.Fatal(err)
	}
	var want plainPage
	if err := xml.Unmarshal([]byte(strings.ReplaceAll(onePage, "&#x1;", "\u00a7")), &want); err != nil {
		t.Fatal(err)
	}
	want.XMLName = xml.Name{}
	want.Contents[0].Key = strings.ReplaceAll(want.Contents[0].Key, "\u00a7", "\x01")
	if diff := cmp.Diff(&want, plain(got)); diff != "" {
		t.Errorf("(-encoding/xml +ours)\n%s", diff)
	}
	end := strings.LastIndex(onePage, "</ListBucketResult>")
	for i := range end {
		if _, err := decodePage([]byte(onePage[:i])); err == nil {
			t.Fatalf("cut after %d of %d bytes: no error", i, len(onePage))
		}
	}
	for _, bad := range []string{
		"<Error><Code>SlowDown</Code></Error>", "<ListBucketResult/><ListBucketResult/>", "<ListBucketResult><Contents></ListBucketResult></Contents>",
		"<ListBucketResult><Contents><Size>many</Size></Contents></ListBucketResult>", "<ListBucketResult><Contents><Key>&nbsp;</Key></Contents></ListBucketResult>",
		"<ListBucketResult><Contents><Key>&#xffffffff;</Key></Contents></ListBucketResult>", "<ListBucketResult><IsTruncated>perhaps</IsTruncated></ListBucketResult>",
		"<ListBucketResult><Contents><LastModified>today</LastModified></Contents></ListBucketResult>", "<ListBucketResult></ListBucketResult>\x00", "</ListBucketResult>",
	} {
		if _, err := decodePage([]byte(bad)); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// FuzzPage: no panic, and where the standard library reads keys, so do we, and the same.
func FuzzPage(f *testing.F) {
	f.Add([]byte(onePage))
	f.Add([]byte("<ListBucketResult><Contents><Key>a</Key></Contents></ListBucketResult>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		was := string(text) // the lexer mends attributes in place
		got, err := decodePage(text)
		var want struct {
			XMLName  xml.Name      `xml:"ListBucketResult"`
			Contents []plainObject `xml:"Contents"`
		}
		if err != nil || xml.Unmarshal([]byte(was), &want) != nil || strings.ContainsAny(was, "\r!?:") {
			return
		}
		if len(want.Contents) != len(got.Contents) {
			t.Fatalf("%d objects, encoding/xml has %d", len(got.Contents), len(want.Contents))
		}
	})
}
