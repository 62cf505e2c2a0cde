package hbase

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/symlake/symlake/sinks"
	"github.com/symlake/symlake/sinks/hbase/internal/client"
)

const (
	masterPort       = "16000"
	zooKeeperPort    = "2181"
	defaultNamespace = "symlake"
	defaultRegions   = 16
	maxRegions       = 4096
)

// address is what a store URL says.
type address struct {
	client    client.Options
	namespace string
	regions   int
}

// isNamespace reports whether a name has only letters, digits and underscores.
func isNamespace(name string) bool {
	for _, c := range []byte(name) {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return name != ""
}

// Check returns an error where the part of a store URL that follows "hbase:" or "hbase+zk:" has a wrong form.
func Check(rest string, zooKeeper bool) error {
	_, err := parse(rest, zooKeeper)
	return err
}

// parse reads what follows "hbase:" or "hbase+zk:" in a store URL.
func parse(rest string, zooKeeper bool) (address, error) {
	a := address{regions: defaultRegions}
	bad := func(format string, args ...any) (address, error) {
		return a, fmt.Errorf("%w: %s; want hbase://HOST:PORT,…/NAMESPACE", sinks.ErrUnfit, fmt.Sprintf(format, args...))
	}
	rest, ok := strings.CutPrefix(rest, "//")
	if !ok {
		return bad("%q names no server", rest)
	}
	rest, query, _ := strings.Cut(rest, "?")
	hosts, namespace, _ := strings.Cut(rest, "/")
	if user, h, ok := strings.Cut(hosts, "@"); ok {
		a.client.User, hosts = user, h
	}
	port := masterPort
	if zooKeeper {
		port = zooKeeperPort
	}
	for _, h := range strings.Split(hosts, ",") {
		if h == "" {
			return bad("a server has no name")
		}
		host, p, err := net.SplitHostPort(h)
		if err != nil {
			host, p = strings.Trim(h, "[]"), port
		}
		if n, err := strconv.ParseUint(p, 10, 16); err != nil || n == 0 || host == "" {
			return bad("server %q", h)
		}
		if h = net.JoinHostPort(host, p); zooKeeper {
			a.client.ZooKeeper = append(a.client.ZooKeeper, h)
		} else {
			a.client.Servers = append(a.client.Servers, h)
		}
	}
	if a.namespace = strings.TrimSuffix(namespace, "/"); a.namespace == "" {
		a.namespace = defaultNamespace
	}
	if !isNamespace(a.namespace) {
		return bad("namespace %q: HBase takes letters, digits and _", a.namespace)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return bad("%v", err)
	}
	for name, v := range values {
		switch {
		case name == "znode" && zooKeeper:
			a.client.Parent = v[0]
		case name == "regions":
			if a.regions, err = strconv.Atoi(v[0]); err != nil || a.regions < 1 || a.regions > maxRegions {
				return bad("regions=%s: want 1 to %d", v[0], maxRegions)
			}
		default:
			return bad("unknown parameter %q", name)
		}
	}
	return a, nil
}
