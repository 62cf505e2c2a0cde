package hdfs

import (
	"fmt"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/colinmarc/hdfs/v2/hadoopconf"

	"github.com/symlake/symlake/sinks/hbase/internal/bulk"
	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// settings are what Hadoop's configuration says of one root. Without a configuration it is what the root itself says.
type settings struct {
	dir       string   // of core-site.xml and hdfs-site.xml; "": there is none
	service   string   // host of the root
	addresses []string // of NameNodes
	// principals are the NameNodes', by address; "" where nothing says it.
	principals map[string]string
	kerberos   bool       // the configuration asks for it
	simple     bool       // the configuration says that there is none
	rpc        sasl.Layer // the least for calls
	// transfer is the least for blocks, and privileged lets DataNodes on privileged ports
	// go without a login, as Hadoop does.
	transfer   sasl.Layer
	privileged bool
	ha, byName bool // several NameNodes; tokens name servers by host, not by number
	hostnames  bool // DataNodes are reached by name
}

const defaultPort = ":8020"

// readSettings reads the configuration for a root's host.
func readSettings(host string, o *bulk.FileOptions) (*settings, error) {
	s := &settings{service: host, dir: o.HadoopConf, principals: make(map[string]string)}
	if s.dir == "" {
		s.dir = os.Getenv("HADOOP_CONF_DIR")
	}
	var conf hadoopconf.HadoopConf
	if s.dir != "" {
		var err error
		if conf, err = hadoopconf.Load(s.dir); err != nil {
			return nil, fmt.Errorf("read Hadoop's configuration in %s: %w", s.dir, err)
		}
		if conf == nil && o.HadoopConf != "" {
			return nil, fmt.Errorf("hbase.hadoop_conf: there is no core-site.xml and no hdfs-site.xml in %s", s.dir)
		}
		if conf == nil {
			s.dir = ""
		}
		expand(conf)
	}
	if err := s.nameNodes(conf); err != nil {
		return nil, err
	}
	switch v := strings.ToLower(conf["hadoop.security.authentication"]); v {
	case "kerberos":
		s.kerberos = true
	case "", "simple":
		s.simple = s.dir != ""
	default:
		return nil, s.refuse("hadoop.security.authentication", v, "symlake knows kerberos and simple")
	}
	s.byName = strings.EqualFold(conf["hadoop.security.token.service.use_ip"], "false")
	s.hostnames = strings.EqualFold(conf["dfs.client.use.datanode.hostname"], "true")
	return s, s.protection(conf, o.Security)
}

// refuse says that a configuration asks for something that there is not.
func (s *settings) refuse(key, value, why string) error {
	return security.Refused(fmt.Errorf("%s: %s is %s: %s; write the files with --hfiles-out, or load with --load-mode puts", s.dir, key, value, why))
}

// nameNodes finds the addresses and principals of the root's NameNodes.
func (s *settings) nameNodes(conf hadoopconf.HadoopConf) error {
	principal := func(suffix string) string {
		const key = "dfs.namenode.kerberos.principal"
		for _, k := range []string{key + suffix, key + "." + s.service, key} {
			if v := conf[k]; v != "" {
				return v
			}
		}
		return ""
	}
	const address = "dfs.namenode.rpc-address."
	if hasPort(s.service) {
		s.addresses = []string{s.service}
		s.principals[s.service] = principal("")
		for key, v := range conf { // it may be a NameNode of a name service
			if suffix, ok := strings.CutPrefix(key, address); ok && v == s.service {
				s.principals[s.service] = principal("." + suffix)
			}
		}
		return nil
	}
	ids := list(conf["dfs.ha.namenodes."+s.service])
	for _, id := range ids {
		v := conf[address+s.service+"."+id]
		if v == "" {
			return fmt.Errorf("%s: %s%s.%s is missing: it is the address of a NameNode of hdfs://%s", s.dir, address, s.service, id, s.service)
		}
		s.addresses = append(s.addresses, v)
		s.principals[v] = principal("." + s.service + "." + id)
	}
	if s.ha = len(ids) > 0; s.ha {
		return nil
	}
	v := conf[address+s.service]
	if v == "" {
		if slices.Contains(list(conf["dfs.nameservices"]), s.service) {
			v = conf["dfs.namenode.rpc-address"]
		}
		if v == "" {
			v = s.service + defaultPort
		}
	}
	s.addresses = []string{v}
	s.principals[v] = principal("")
	return nil
}

// protection reads how calls and blocks are protected.
func (s *settings) protection(conf hadoopconf.HadoopConf, o security.Options) error {
	least, err := sasl.ParseLayer(o.Protection)
	if err != nil {
		return fmt.Errorf("hbase.protection: %w", err)
	}
	// range of a list of Hadoop's: the lowest and the highest of its layers.
	layers := func(key string) (low, high sasl.Layer, err error) {
		for _, v := range list(strings.ToLower(conf[key])) {
			l, err := sasl.ParseLayer(v)
			if err != nil {
				return 0, 0, s.refuse(key, v, "symlake knows authentication, integrity and privacy")
			}
			if low == 0 || l < low {
				low = l
			}
			high = max(high, l)
		}
		if high != 0 && high < least {
			return 0, 0, s.refuse(key, conf[key], fmt.Sprintf("hbase.protection asks for %s", least))
		}
		return max(low, least), high, nil
	}
	if s.rpc, _, err = layers("hadoop.rpc.protection"); err != nil {
		return err
	}
	const transfer, encrypt = "dfs.data.transfer.protection", "dfs.encrypt.data.transfer"
	encrypted := strings.EqualFold(conf[encrypt], "true")
	low, high, err := layers(transfer)
	if err != nil && !encrypted {
		return err
	}
	switch {
	case encrypted:
		s.transfer = sasl.Privacy
	case high == 0 && least == sasl.Authentication: // nothing is said: the DataNodes' ports do
		s.transfer, s.privileged = sasl.Authentication, true
	default:
		s.transfer, s.privileged = low, least == sasl.Authentication
	}
	return nil
}

// tokenService is how servers find a token of the NameNode at peer.
func (s *settings) tokenService(peer string) string {
	switch {
	case s.ha:
		return "ha-hdfs:" + s.service
	case s.byName:
		return strings.ToLower(s.addresses[0])
	}
	return peer
}

// list splits a list of Hadoop's.
func list(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
}

// variable is a reference to another property, or to the environment.
var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([^}$\s]+)\}`) })

// maxDepth is how deep Hadoop follows references.
const maxDepth = 20

// expand fills in the references of all properties.
func expand(conf hadoopconf.HadoopConf) {
	for key, v := range conf {
		v = strings.TrimSpace(v)
		for range maxDepth {
			next := variable().ReplaceAllStringFunc(v, func(ref string) string {
				name := ref[2 : len(ref)-1]
				if env, ok := strings.CutPrefix(name, "env."); ok {
					if v, ok := os.LookupEnv(env); ok {
						return v
					}
				} else if v, ok := conf[name]; ok {
					return strings.TrimSpace(v)
				}
				return ref
			})
			if next == v || len(next) > 1<<16 {
				break
			}
			v = next
		}
		conf[key] = v
	}
}

// hasPort reports whether a host of a URL comes with a port.
func hasPort(host string) bool {
	_, port, err := net.SplitHostPort(host)
	return err == nil && port != ""
}
