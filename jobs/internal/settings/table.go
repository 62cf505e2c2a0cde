package settings

import (
	"slices"
	"strings"
)

// Setting is something that a user configures: by a flag, a variable, or a key of symlake.yaml.
type Setting struct {
	Key      string   // with dots; "sources.url" is of each source; "": the file cannot have it
	Flag     string   // without dashes; "": --set KEY=VALUE is its flag
	Commands []string // the commands that have the flag; nil: every command
	Type     string   // URL, path, text, list, size, time, number, share, yes/no, or the values it takes
	Default  string   // as a person reads it
	Meaning  string   // one sentence
	Example  string   // of the key
	Secret   bool     // its value is shown nowhere
}

// Variable returns the name of the variable: --load-mode has SYMLAKE_LOAD_MODE, and lake.region, which has no flag of its
// own, has SYMLAKE_LAKE_REGION.
func (s *Setting) Variable() string {
	switch {
	case s.Flag == "source": // the arguments
		return "SYMLAKE_SOURCE"
	case s.Flag != "":
		return VariableOf(s.Flag)
	}
	return VariableOf(strings.NewReplacer(".", "-", "_", "-").Replace(s.Key))
}

// VariableOf returns the variable of a flag.
func VariableOf(flag string) string {
	return "SYMLAKE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// FlagText returns the flag as the command line has it.
func (s *Setting) FlagText() string {
	switch s.Flag {
	case "":
		return "--set " + s.Key + "=…"
	case "source":
		return "SOURCE"
	}
	return "--" + s.Flag
}

// OfSources reports whether each source has the setting for itself.
func (s *Setting) OfSources() bool { return strings.HasPrefix(s.Key, "sources.") }

// isPath reports whether a relative value counts from the folder of the file.
func (s *Setting) isPath() bool { return s.Type == "path" }

var (
	sourceCommands = []string{"ingest", "plan"}
	bucketCommands = []string{"ingest", "plan", "symbolicate"}
	serveCommand   = []string{"serve"}
)

// All returns every setting, in the order of the document. The caller owns it.
func All() []Setting {
	return slices.Concat(places(), hbaseSettings(), lakeSettings(), keySettings(), sourceSettings(), limits(), output(), serving())
}

// Find returns the setting with a key; nil: there is none.
func Find(key string) *Setting {
	all := All()
	if i := slices.IndexFunc(all, func(s Setting) bool { return s.Key == key && key != "" }); i >= 0 {
		return &all[i]
	}
	return nil
}

func places() []Setting {
	return []Setting{
		{Flag: "config", Type: "path", Default: "symlake.yaml, if it is in the working folder", Meaning: "The configuration file."},
		{Key: "store", Flag: "store", Type: "URL", Default: "file:symlake-data", Meaning: "The store of rows and catalog.", Example: "hbase://master:16000/symlake"},
		{Key: "hbase.load_mode", Flag: "load-mode", Type: "hfiles, puts", Default: "hfiles", Meaning: "How rows reach HBase.", Example: "puts"},
		{Key: "hbase.hadoop_conf", Type: "path", Meaning: "The folder of core-site.xml and hdfs-site.xml, for HDFS: name services, Kerberos, protection. Unless set, HADOOP_CONF_DIR.", Example: "/etc/hadoop/conf"},
		{Key: "redis.url", Flag: "redis", Type: "URL", Meaning: "The cache of sealed rows that many processes share.", Example: "redis://cache:6379/0", Secret: true},
		{Key: "redis.ttl", Type: "time", Default: "168h", Meaning: "How long a row stays in that cache.", Example: "24h"},
		{Key: "scratch", Type: "path", Default: "scratch in a file store, else the system's temporary folder", Meaning: "The folder of sealed scratch files.", Example: "/var/tmp/symlake"},
	}
}

func hbaseSettings() []Setting {
	return []Setting{
		{Key: "hbase.security", Type: "kerberos, simple", Default: "kerberos with a token, a keytab or a ticket, else simple", Meaning: "How symlake proves its identity to HBase and HDFS. simple shows no credentials.", Example: "kerberos"},
		{Key: "hbase.principal", Type: "text", Default: "the only principal of the keytab, or the ticket's", Meaning: "The Kerberos principal that symlake acts as.", Example: "symlake/host1@EXAMPLE.COM"},
		{Key: "hbase.keytab", Type: "path", Meaning: "The keytab of that principal. symlake renews its ticket by itself.", Example: "/etc/security/symlake.keytab"},
		{Key: "hbase.krb5_conf", Type: "path", Default: "KRB5_CONFIG, else /etc/krb5.conf", Meaning: "The configuration of Kerberos.", Example: "/etc/krb5.conf"},
		{Key: "hbase.credential_cache", Type: "text", Default: "KRB5CCNAME, else the cache of kinit", Meaning: "The file of the ticket, where there is no keytab.", Example: "FILE:/run/symlake/ticket"},
		{Key: "hbase.server_principal", Type: "text", Default: "hbase/_HOST@REALM", Meaning: "The principal of HBase's servers. _HOST stands for the server's name.", Example: "hbase/_HOST@EXAMPLE.COM"},
		{Key: "hbase.protection", Type: "authentication, integrity, privacy", Default: "authentication", Meaning: "The least protection that symlake accepts. It takes the best that the server offers.", Example: "privacy"},
		{Key: "hbase.allow_insecure_fallback", Type: "yes/no", Default: "no", Meaning: "Go on without Kerberos if the server knows none, even though there are credentials.", Example: "true"},
		{Key: "hbase.token_file", Type: "path", Default: "HADOOP_TOKEN_FILE_LOCATION", Meaning: "The file of Hadoop's delegation tokens. YARN and Spark give one to their jobs.", Example: "/run/symlake/tokens"},
		{Key: "hbase.tls", Type: "yes/no", Default: "no, unless another TLS setting is there", Meaning: "Connections to HBase use TLS 1.2 or newer.", Example: "true"},
		{Key: "hbase.tls_ca", Type: "path", Default: "the system's", Meaning: "The certificates that sign the servers' certificates, PEM.", Example: "/etc/symlake/hbase-ca.pem"},
		{Key: "hbase.tls_server_name", Type: "text", Default: "the server's host name", Meaning: "The name that a server's certificate must have.", Example: "hbase.example.com"},
		{Key: "hbase.tls_certificate", Type: "path", Meaning: "The certificate that symlake shows to servers that ask for one, PEM.", Example: "/etc/symlake/client.pem"},
		{Key: "hbase.tls_key", Type: "path", Meaning: "The private key of that certificate, PEM.", Example: "/etc/symlake/client.key"},
	}
}

func lakeSettings() []Setting {
	return []Setting{
		{Key: "lake.url", Flag: "lake", Type: "URL", Default: "lake in a file store, else off", Meaning: "The Parquet tables: a folder, s3://bucket/prefix, or off.", Example: "s3://symbols/lake/"},
		{Key: "lake.profile", Flag: "lake-profile", Type: "sealed, plain", Default: "sealed", Meaning: "How the tables are written. The variable and the key convert no lake.", Example: "plain"},
		{Key: "lake.data_key", Type: "file, dataset", Default: "file", Meaning: "What shares a data key: each file has its own, or all have one.", Example: "dataset"},
		{Key: "lake.single_writer", Type: "yes/no", Default: "no", Meaning: "Only one process ever writes the lake, so the bucket needs no conditional writes.", Example: "true"},
		{Key: "lake.region", Type: "text", Meaning: "The S3 region of the lake.", Example: "eu-central-1"},
		{Key: "lake.aws_profile", Type: "text", Meaning: "The AWS profile of the lake.", Example: "lake"},
		{Key: "lake.endpoint", Type: "URL", Meaning: "The S3 server of the lake.", Example: "https://minio:9000"},
		{Key: "lake.path_style", Type: "yes/no", Default: "no", Meaning: "The S3 server of the lake wants the bucket in the path.", Example: "true"},
		{Key: "lake.checksums", Type: "auto, required", Default: "auto", Meaning: "Whether the S3 server of the lake must check sums.", Example: "required"},
		{Key: "lake.catalog", Type: "files, off, URL", Default: "files", Meaning: "The catalog of the plain lake's Iceberg tables: iceberg in the lake's folder, none, or an Iceberg REST catalog.", Example: "https://polaris:8181/api/catalog"},
		{Key: "lake.catalog_warehouse", Type: "text", Meaning: "The warehouse in the REST catalog.", Example: "symbols"},
		{Key: "lake.catalog_namespace", Type: "text", Default: "symlake", Meaning: "The namespace of the tables in the REST catalog. Each lake needs its own.", Example: "mobile.symbols"},
		{Key: "lake.catalog_token", Type: "text", Meaning: "The bearer token for the REST catalog.", Example: "…", Secret: true},
		{Key: "lake.catalog_credential", Type: "ID:SECRET", Meaning: "The client of OAuth2 that gets tokens for the REST catalog.", Example: "…", Secret: true},
		{Key: "lake.catalog_oauth", Type: "URL", Default: "v1/oauth/tokens of the catalog", Meaning: "The server of these tokens.", Example: "https://login.example.com/token"},
		{Key: "lake.catalog_scope", Type: "text", Default: "PRINCIPAL_ROLE:ALL", Meaning: "The scope of these tokens.", Example: "catalog"},
		{Key: "lake.catalog_sign", Type: "text", Meaning: "The AWS service that requests to the REST catalog are signed for, in lake.region.", Example: "glue"},
	}
}

func keySettings() []Setting {
	return []Setting{
		{Key: "keys.keyset", Flag: "keyset", Type: "path", Default: "keyset.json in a file store, else in the working folder", Meaning: "The keyset file that opens the store.", Example: "/etc/symlake/keyset.json"},
		{Key: "keys.keyset_kms", Flag: "keyset-kms", Type: "ARN", Meaning: "The key of AWS KMS that seals the keyset file.", Example: "arn:aws:kms:eu-central-1:111122223333:key/…"},
		{Key: "keys.kms", Flag: "kms", Type: "ARN", Meaning: "The key of AWS KMS that opens the store, instead of a keyset.", Example: "arn:aws:kms:eu-central-1:111122223333:key/…"},
		{Key: "keys.endpoint", Flag: "kms-endpoint", Type: "URL", Default: "AWS, or AWS_ENDPOINT_URL_KMS", Meaning: "The address of KMS.", Example: "http://localhost:8080"},
		{Key: "keys.region", Type: "text", Default: "the ARN's", Meaning: "The region of KMS.", Example: "eu-central-1"},
		{Key: "keys.profile", Type: "text", Meaning: "The AWS profile for KMS.", Example: "keys"},
		{Key: "token", Flag: "token", Type: "text", Meaning: "The token of a symlake serve: --store shows it, serve asks for it.", Example: "…", Secret: true},
	}
}

func sourceSettings() []Setting {
	return []Setting{
		{Key: "sources.url", Flag: "source", Commands: sourceCommands, Type: "URL", Meaning: "A file, folder or s3://bucket/prefix with symbol files, or debuginfod://HOST. The variable has several, parted by blanks.", Example: "s3://mobile-symbols/android/"},
		{Key: "sources.include", Flag: "include", Commands: sourceCommands, Type: "list", Default: "everything", Meaning: "Globs of keys to take.", Example: `["**/*.so"]`},
		{Key: "sources.exclude", Flag: "exclude", Commands: sourceCommands, Type: "list", Meaning: "Globs of keys to leave.", Example: `["**/test/**"]`},
		{Key: "sources.names", Flag: "names", Commands: sourceCommands, Type: "text", Meaning: "The pattern of keys that APP@BUILD comes from.", Example: `"android/{app}/{build}/**"`},
		{Key: "sources.region", Flag: "region", Commands: bucketCommands, Type: "text", Meaning: "The S3 region.", Example: "eu-central-1"},
		{Key: "sources.profile", Flag: "profile", Commands: bucketCommands, Type: "text", Meaning: "The AWS profile.", Example: "symbols"},
		{Key: "sources.endpoint", Flag: "endpoint", Commands: bucketCommands, Type: "URL", Meaning: "The S3 server.", Example: "https://minio:9000"},
		{Key: "sources.path_style", Flag: "path-style", Commands: bucketCommands, Type: "yes/no", Default: "no", Meaning: "The S3 server wants the bucket in the path.", Example: "true"},
		{Key: "sources.anonymous", Flag: "anonymous", Commands: sourceCommands, Type: "yes/no", Default: "no", Meaning: "Requests are not signed.", Example: "true"},
		{Key: "sources.checksums", Flag: "checksums", Commands: sourceCommands, Type: "auto, required", Default: "auto", Meaning: "Whether the S3 server must check sums.", Example: "required"},
		{Key: "sources.sources_content", Flag: "sources-content", Commands: sourceCommands, Type: "yes/no", Default: "no", Meaning: "Keep the source texts that source maps carry, for lookup --context.", Example: "true"},
		{Key: "sources.owner", Flag: "owner", Commands: sourceCommands, Type: "text", Meaning: "The owner of what the source publishes. Other owners' sources do not replace it.", Example: "release"},
		{Key: "sources.rank", Flag: "rank", Commands: sourceCommands, Type: "number", Default: "0", Meaning: "Sources of a higher rank replace loads of other owners.", Example: "10"},
		{Key: "sources.dates", Flag: "dates", Commands: sourceCommands, Type: "text", Meaning: "Keys begin with a day: only the last days are listed.", Example: `"%Y/%m/%d/"`},
		{Key: "sources.look_back", Flag: "look-back", Commands: sourceCommands, Type: "number", Default: "3", Meaning: "How many days are listed.", Example: "7"},
		{Key: "sources.full", Flag: "full", Commands: sourceCommands, Type: "time", Default: "24h", Meaning: "How often everything is listed all the same.", Example: "72h"},
		{Key: "sources.hints", Flag: "hints", Commands: sourceCommands, Type: "URL", Meaning: "Notifications of new objects: an SQS queue, or a file with one event a line.", Example: "https://sqs.eu-central-1.amazonaws.com/111122223333/symbols"},
	}
}

func limits() []Setting {
	return []Setting{
		{Key: "limits.memory", Type: "size", Default: "512MiB", Meaning: "Memory of sorting, names and inflated bytes together.", Example: "1GiB"},
		{Key: "limits.workers", Flag: "workers", Commands: []string{"ingest"}, Type: "number", Default: "the processors", Meaning: "Units that are read at once. With two or more, 16 times as many objects of up to 64 KiB.", Example: "2"},
		{Key: "limits.object", Type: "size", Default: "16GiB", Meaning: "The largest object that is read.", Example: "4GiB"},
		{Key: "limits.disk", Type: "size", Default: "no bound", Meaning: "The most that scratch files may take.", Example: "100GiB"},
		{Key: "limits.time", Type: "time", Default: "1h", Meaning: "The most time that one object may take.", Example: "20m"},
		{Key: "script_names", Type: "source, scope", Default: "source", Meaning: "What names the functions of scripts: the sources in their maps, or the scripts' own scopes alone.", Example: "scope"},
		{Key: "ingest.unwind", Type: "yes/no", Default: "yes", Meaning: "Loads keep call frame information, so that minidumps of their code can be unwound.", Example: "false"},
		{Key: "min_quality", Type: "share", Default: "0", Meaning: "A load is held back if it answers less than this share of the published one.", Example: "0.8"},
	}
}

func output() []Setting {
	return []Setting{
		{Key: "color", Flag: "color", Type: "auto, always, never", Default: "auto", Meaning: "Tables, logs and color for people. auto: on a terminal.", Example: "never"},
		{Key: "no_progress", Flag: "no-progress", Type: "yes/no", Default: "no", Meaning: "Show no progress bar on a terminal.", Example: "true"},
		{Key: "log_level", Flag: "log-level", Type: "debug, info, warn, error", Default: "info", Meaning: "The least level of log lines.", Example: "warn"},
		{Key: "metrics", Flag: "metrics", Type: "path", Meaning: "The folder of Prometheus metrics, one text file a job.", Example: "/var/lib/node_exporter"},
		{Key: "pushgateway", Flag: "pushgateway", Type: "URL", Meaning: "The Prometheus Pushgateway that gets metrics.", Example: "http://pushgateway:9091"},
	}
}

func serving() []Setting {
	return []Setting{
		{Key: "serve.listen", Flag: "listen", Commands: serveCommand, Type: "HOST:PORT", Default: "127.0.0.1:8080", Meaning: "The address of the server.", Example: "0.0.0.0:8080"},
		{Key: "serve.tokens", Flag: "tokens", Commands: serveCommand, Type: "path", Meaning: "The file with one NAME TOKEN pair a line.", Example: "/etc/symlake/tokens"},
		{Key: "serve.allow_host", Flag: "allow-host", Commands: serveCommand, Type: "list", Default: "localhost and addresses", Meaning: "Names of the server that callers without tokens may use.", Example: "[symlake.internal]"},
		{Key: "serve.allow_origin", Flag: "allow-origin", Commands: serveCommand, Type: "list", Meaning: "Sites with pages that may ask /symbolicate/v5.", Example: `["https://profiler.firefox.com"]`},
		{Key: "serve.tls_cert", Flag: "tls-cert", Commands: serveCommand, Type: "path", Meaning: "The certificate chain, PEM.", Example: "/etc/symlake/tls.crt"},
		{Key: "serve.tls_key", Flag: "tls-key", Commands: serveCommand, Type: "path", Meaning: "The private key of the certificate, PEM.", Example: "/etc/symlake/tls.key"},
		{Key: "serve.otlp_forward", Flag: "otlp-forward", Commands: serveCommand, Type: "URL", Meaning: "The receiver that gets the answered profiles of OpenTelemetry.", Example: "http://pyroscope:4040"},
		{Key: "serve.otlp_forward_header", Flag: "otlp-forward-header", Commands: serveCommand, Type: "list", Meaning: "Headers of each request to that receiver.", Example: `["X-Scope-OrgID=shop"]`, Secret: true},
		{Key: "serve.otlp_forward_unanswered", Flag: "otlp-forward-unanswered", Commands: serveCommand, Type: "yes/no", Default: "no", Meaning: "Profiles go on as they came while the store is out of reach.", Example: "true"},
		{Key: "serve.cache", Flag: "cache", Commands: serveCommand, Type: "size", Default: "256MiB", Meaning: "Memory of the caches and of answering.", Example: "1GiB"},
		{Key: "serve.catalog_ttl", Flag: "catalog-ttl", Commands: serveCommand, Type: "time", Default: "1m", Meaning: "How long the server remembers names and records.", Example: "5m"},
		{Key: "serve.negative_ttl", Flag: "negative-ttl", Commands: serveCommand, Type: "time", Default: "10s", Meaning: "How long the server remembers that a name is missing.", Example: "1m"},
		{Key: "serve.max_body", Flag: "max-body", Commands: serveCommand, Type: "size", Default: "16MiB", Meaning: "The largest request, inflated.", Example: "64MiB"},
		{Key: "serve.answer_limit", Flag: "answer-limit", Commands: serveCommand, Type: "size", Default: "64MiB", Meaning: "The largest answer.", Example: "256MiB"},
		{Key: "serve.max_stacks", Flag: "max-stacks", Commands: serveCommand, Type: "number", Default: "10000", Meaning: "The most stacks of a request.", Example: "100"},
		{Key: "serve.max_frames", Flag: "max-frames", Commands: serveCommand, Type: "number", Default: "250000", Meaning: "The most frames of a request.", Example: "10000"},
		{Key: "serve.max_time", Flag: "max-time", Commands: serveCommand, Type: "time", Default: "30s", Meaning: "Time for the body of a request, and then for its answer.", Example: "1m"},
		{Key: "serve.concurrent", Flag: "concurrent", Commands: serveCommand, Type: "number", Default: "four a processor", Meaning: "Requests at work at once.", Example: "16"},
		{Key: "serve.drain", Flag: "drain", Commands: serveCommand, Type: "time", Default: "30s", Meaning: "How long requests may go on after a signal to end.", Example: "1m"},
		{Key: "serve.drain_delay", Flag: "drain-delay", Commands: serveCommand, Type: "time", Default: "0s", Meaning: "How long the server takes new requests after that signal.", Example: "5s"},
	}
}
