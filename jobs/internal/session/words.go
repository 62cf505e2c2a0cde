package session

import (
	"cmp"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/symlake/symlake/jobs/internal/exit"
	"github.com/symlake/symlake/jobs/internal/guess"
	"github.com/symlake/symlake/jobs/internal/settings"
	"github.com/symlake/symlake/sinks/open"
	"github.com/symlake/symlake/sinks/stores"
)

// ConfigFile names the configuration file for people.
func (p *Session) ConfigFile() string {
	if p.Flags.Config == "-" {
		return "standard input"
	}
	return cmp.Or(p.Flags.Config, settings.File)
}

// Origin says where a setting comes from: --store, SYMLAKE_STORE, or "store in symlake.yaml". value is the flag's: when it
// is empty, the setting comes from the key of the configuration file.
func (p *Session) Origin(flag, value, key string) string {
	switch {
	case value == "":
		return key + " in " + p.ConfigFile() + ":"
	case p.Given(flag):
		return "--" + flag
	}
	return settings.VariableOf(flag)
}

// CheckWords finds faults in the settings that all commands share. It opens, asks and creates nothing.
func (p *Session) CheckWords() error {
	for _, check := range []func() error{p.checkStore, p.checkLake, p.checkRedis, p.checkAddresses} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Session) checkStore() error {
	place, from := p.StoreURL(), p.Origin("store", p.Flags.Store, "store")
	if IsRemote(place) {
		if u, err := url.Parse(place); err != nil || u.Host == "" {
			return exit.Usage("%s %s: the name of the server is missing: want https://HOST", from, place)
		}
		return nil
	}
	return CheckStore(from, place)
}

// CheckStore checks the URL of a store that no server offers. from says where the URL comes from.
func CheckStore(from, place string) error {
	scheme, rest := stores.Split(place)
	known := stores.Schemes()
	if !slices.Contains(known, scheme) {
		return exit.Usage("%s %s: there is no store of the kind %s%s Want a folder, file:PATH, hbase://HOST:PORT/NAMESPACE, hbase+zk://HOST:PORT/NAMESPACE or https://HOST",
			from, place, scheme, stop(guess.Hint(scheme, append(known, "https"))))
	}
	if err := stores.Check(place); err != nil {
		return exit.Usage("%s %s: %w", from, place, err)
	}
	if info, err := os.Stat(stores.Path(rest)); scheme == "file" && err == nil && !info.IsDir() {
		return exit.Usage("%s %s is a file: a store is a folder", from, place)
	}
	return nil
}

// stop ends a sentence that has no hint.
func stop(hint string) string { return cmp.Or(hint, ".") }

func (p *Session) checkLake() error {
	return CheckPlace(p.Origin("lake", string(p.Flags.Lake), "lake"), cmp.Or(string(p.Flags.Lake), p.Config.Lake.URL))
}

// bucketSchemes are the schemes of places that hold files.
var bucketSchemes = []string{"s3", "file"}

// sourceSchemes are the schemes of sources.
var sourceSchemes = append([]string{"debuginfod", "symstore"}, bucketSchemes...)

// CheckSource checks the URL of a source of files, and knows the schemes of sources.
func CheckSource(from, place string) error { return checkPlace(from, place, sourceSchemes) }

// CheckPlace checks the URL of files: s3://bucket/prefix, file:PATH or a path. An empty one is none.
func CheckPlace(from, place string) error { return checkPlace(from, place, bucketSchemes) }

func checkPlace(from, place string, schemes []string) error {
	scheme, rest, ok := strings.Cut(place, ":")
	if !ok || len(scheme) < 2 || strings.ContainsAny(scheme, `/\.`) || scheme == "file" {
		return nil
	}
	lower := strings.ToLower(scheme)
	switch {
	case scheme == "s3" && strings.HasPrefix(rest, "//"):
		if name, _, _ := strings.Cut(rest[2:], "/"); name == "" {
			return exit.Usage("%s %s: the name of the bucket is missing: want s3://bucket/prefix", from, place)
		}
		return nil
	case lower == "s3":
		return exit.Usage("%s %s: did you mean s3://%s?", from, place, strings.TrimLeft(rest, "/"))
	case strings.HasPrefix(rest, "//"):
		return exit.Usage("%s %s: there is no source or folder of the kind %s%s Want a path, file:PATH or s3://bucket/prefix", from, place, scheme, stop(guess.Hint(scheme, schemes)))
	}
	return nil
}

func (p *Session) checkRedis() error {
	if place := p.redisURL(); place != "" {
		if err := open.CheckRedis(place); err != nil {
			scheme, _, _ := strings.Cut(place, ":")
			return exit.Usage("%s: %w%s Want redis://[user:password@]host:port[/db], rediss:// or unix:///path",
				p.Origin("redis", p.Flags.Redis, "redis.url"), err, stop(guess.Hint(scheme, []string{"redis", "rediss", "unix"})))
		}
	}
	return nil
}

// checkAddresses checks the addresses of servers, and the folder of metrics.
func (p *Session) checkAddresses() error {
	kms := cmp.Or(p.Flags.KMSEndpoint, p.Config.Keys.Endpoint)
	if err := CheckHTTP(p.Origin("kms-endpoint", p.Flags.KMSEndpoint, "keys.endpoint"), kms); err != nil {
		return err
	}
	if err := CheckHTTP("endpoint of lake in "+p.ConfigFile(), p.Config.Lake.Endpoint); err != nil {
		return err
	}
	if gateway := p.Flags.Pushgateway; gateway != "" {
		if !strings.Contains(gateway, "://") {
			gateway = "http://" + gateway
		}
		if err := CheckHTTP(p.Origin("pushgateway", p.Flags.Pushgateway, ""), gateway); err != nil {
			return err
		}
	}
	if dir := p.Flags.Metrics; dir != "" {
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			return exit.Usage("%s %s is a file: want a folder", p.Origin("metrics", dir, ""), dir)
		}
	}
	return nil
}

// CheckHTTP checks the address of a server. An empty one is none.
func CheckHTTP(from, address string) error {
	if address == "" {
		return nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return exit.Usage("%s %s: want https://HOST or http://HOST:PORT", from, address)
	}
	return nil
}

// CheckOutput checks the place of a report or another file that a command writes.
func CheckOutput(flag, place string) error {
	scheme, _, ok := strings.Cut(place, "://")
	if ok && !strings.ContainsAny(scheme, `/\.`) {
		return exit.Usage("--%s %s: want a file, a folder that ends with /, or - for standard output", flag, place)
	}
	return nil
}

// mostCode is the highest exit code that a system tells.
const mostCode = 255

// CheckCodes checks the exit codes that flags give to outcomes. 1 and 2 say that a run failed, so an outcome cannot have
// them, and two outcomes need two codes.
func CheckCodes(flags []string, codes []int) error {
	for i, code := range codes {
		switch {
		case code < 0 || code > mostCode:
			return exit.Usage("--%s %d: an exit code is a number from 0 to %d", flags[i], code, mostCode)
		case code == exit.Failed || code == exit.WrongUsage:
			return exit.Usage("--%s %d: exit code %d means that %s: choose another", flags[i], code, code,
				map[int]string{exit.Failed: "the command failed", exit.WrongUsage: "the command line is wrong"}[code])
		case code != 0 && slices.Index(codes, code) < i:
			return exit.Usage("--%s and --%s are both %d: give each outcome a code of its own", flags[slices.Index(codes, code)], flags[i], code)
		}
	}
	return nil
}
