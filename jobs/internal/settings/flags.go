package settings

import (
	"strings"

	"github.com/alecthomas/kong"
)

// Flags are the flags of every command. With the commands they are the whole command line, with its help; the list of
// variables says which of them the environment sets, too.
type Flags struct {
	Config      string            `help:"Configuration file (default: symlake.yaml, if it is here)." detail:"- is standard input." type:"path" placeholder:"FILE" group:"Places"`
	Store       string            `help:"The store: a folder, hbase://HOST:PORT/NAMESPACE, or https://HOST of a symlake serve." detail:"file:PATH is a folder, too. hbase+zk://HOST:PORT,…/NAMESPACE asks ZooKeeper." placeholder:"URL" group:"Places"`
	Lake        lakeFlag          `help:"The Parquet tables: a folder, s3://bucket/prefix, or off." placeholder:"URL|off" group:"Places"`
	LakeProfile string            `help:"How the tables are written: sealed (default) or plain." detail:"Sealed files are encrypted, and readers need keys: see symlake keys export." enum:",sealed,plain" default:"" placeholder:"PROFILE" group:"Places"`
	LoadMode    string            `help:"How rows reach HBase: hfiles (default) or puts." enum:",hfiles,puts" default:"" placeholder:"MODE" group:"Places"`
	Redis       string            `help:"Cache that many processes share." detail:"The form is redis://[user:password@]host:port[/db]. The cache holds sealed rows." placeholder:"URL" group:"Places"`
	Keyset      string            `help:"Keyset file that opens the store (default: keyset.json in the store)." type:"path" placeholder:"FILE" xor:"kek" group:"Keys"`
	KeysetKMS   string            `help:"Key of AWS KMS that seals the keyset file." name:"keyset-kms" placeholder:"ARN" group:"Keys"`
	KMS         string            `help:"Key of AWS KMS that opens the store, instead of a keyset." name:"kms" placeholder:"ARN" xor:"kek" group:"Keys"`
	KMSEndpoint string            `help:"Address of KMS (default: AWS)." detail:"AWS_ENDPOINT_URL_KMS sets it, too." name:"kms-endpoint" placeholder:"URL" group:"Keys"`
	Token       string            `help:"Token of a symlake serve: --store shows it, serve asks for it." placeholder:"TOKEN" group:"Keys"`
	Set         map[string]string `help:"A setting of symlake.yaml that has no flag of its own." detail:"symlake help settings lists them." placeholder:"KEY=VALUE" mapsep:"none" group:"Places"`
	JSON        bool              `help:"Print one JSON record a line." name:"json" group:"Output"`
	Color       string            `help:"Tables, logs and color for people: auto (on a terminal), always or never." enum:"auto,always,never" default:"auto" placeholder:"WHEN" group:"Output"`
	NoProgress  bool              `help:"Show no progress bar on a terminal." group:"Output"`
	LogLevel    string            `help:"Least level of log lines." enum:"debug,info,warn,error" default:"info" placeholder:"LEVEL" group:"Output"`
	Metrics     string            `help:"Folder of Prometheus metrics, one text file a job." detail:"The textfile collector of node_exporter reads it." type:"path" placeholder:"DIR" group:"Output"`
	Pushgateway string            `help:"Prometheus Pushgateway that gets metrics." placeholder:"URL" group:"Output"`
	Help        bool              `help:"Show the help of a command." short:"h" group:"Help"`
	Version     bool              `help:"Print version, commit and Go version." short:"V" group:"Help"`
}

// lakeFlag is --lake: without a value, as in keys export --lake, it is the configured lake.
type lakeFlag string

// Decode takes the value, if there is one.
func (f *lakeFlag) Decode(ctx *kong.DecodeContext) error {
	next := ctx.Scan.Peek()
	if next.IsEOL() || strings.HasPrefix(next.String(), "-") {
		return nil
	}
	if err := ctx.Scan.PopValueInto("URL", (*string)(f)); err != nil {
		return err
	}
	if strings.EqualFold(string(*f), LakeOff) {
		*f = LakeOff
	}
	return nil
}

// LakeOff is the URL of no lake.
const LakeOff = "off"
