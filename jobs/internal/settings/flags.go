package settings

import (
	"strings"

	"github.com/alecthomas/kong"
)

// Flags are the flags of every command. With the commands they are the whole command line, with its help; the list of
// variables says which of them the environment sets, too.
type Flags struct {
	Config      string   `help:"Configuration file." type:"path" placeholder:"FILE"`
	Store       string   `help:"Where rows live: file:PATH, a plain path, hbase://HOST:PORT,…/NAMESPACE, or https://HOST of a symlake serve." placeholder:"URL"`
	LoadMode    string   `help:"How rows reach HBase: hfiles (default) or puts." enum:",hfiles,puts" default:"" placeholder:"MODE"`
	Lake        lakeFlag `help:"Where the Parquet tables are: a folder, s3://bucket/prefix, or off." placeholder:"URL|off"`
	LakeProfile string   `help:"sealed (default) or plain: Parquet encryption, or none." enum:",sealed,plain" default:"" placeholder:"PROFILE"`
	Keyset      string   `help:"Local keyset file." type:"path" placeholder:"FILE" xor:"kek"`
	KeysetKMS   string   `help:"Key of AWS KMS that seals the keyset file." name:"keyset-kms" placeholder:"ARN"`
	KMS         string   `help:"Key of AWS KMS, instead of a keyset." name:"kms" placeholder:"ARN" xor:"kek"`
	KMSEndpoint string   `help:"Where KMS is (default: AWS, or AWS_ENDPOINT_URL_KMS)." name:"kms-endpoint" placeholder:"URL"`
	Metrics     string   `help:"Folder for Prometheus metrics as text files, one a job: that of node_exporter's textfile collector." type:"path" placeholder:"DIR"`
	Pushgateway string   `help:"Prometheus Pushgateway to push metrics to." placeholder:"URL"`
	LogLevel    string   `help:"debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
	JSON        bool     `help:"Print NDJSON, one record a line." name:"json"`
	Token       string   `help:"Shown to a symlake serve that --store names, and asked for by one." placeholder:"TOKEN"`
	Redis       string   `help:"Cache of sealed rows that many processes share: redis://[user:password@]host:port[/db]." placeholder:"URL"`
	Color       string   `help:"Tables, logs and color for people: auto (on a terminal), always or never." enum:"auto,always,never" default:"auto" placeholder:"WHEN"`
	NoProgress  bool     `help:"No progress bar on a terminal."`
}

// lakeFlag is --lake: without a value, as in keys export --lake, it is the configured lake.
type lakeFlag string

// Decode takes the value, if there is one.
func (f *lakeFlag) Decode(ctx *kong.DecodeContext) error {
	next := ctx.Scan.Peek()
	if next.IsEOL() || strings.HasPrefix(next.String(), "-") {
		return nil
	}
	return ctx.Scan.PopValueInto("URL", (*string)(f))
}

// LakeOff is the URL of no lake.
const LakeOff = "off"
