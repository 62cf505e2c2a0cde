package hdfs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/symlake/symlake/sinks/hbase/internal/krb"
	"github.com/symlake/symlake/sinks/hbase/internal/namenode"
	"github.com/symlake/symlake/sinks/hbase/internal/sasl"
	"github.com/symlake/symlake/sinks/hbase/internal/token"
	"github.com/symlake/symlake/sinks/hbase/security"
)

// identity is how symlake presents itself to NameNodes.
type identity struct {
	s     *settings
	creds *krb.Credentials // nil: by name or token only
	token *token.Token     // goes before creds; nil: none
}

// newIdentity finds the credentials that HBase's client finds, or none.
func newIdentity(s *settings, o security.Options) (*identity, error) {
	if o.Mode == "simple" {
		return &identity{s: s}, nil
	}
	tokens, err := token.Find(o, token.KindHDFS)
	if err != nil {
		return nil, err
	}
	if t := s.choose(tokens); t != nil {
		return &identity{s: s, token: t}, nil
	}
	creds, err := krb.New(o)
	switch {
	case err == nil:
		return &identity{s: s, creds: creds}, nil
	case !errors.Is(err, krb.ErrNone) || o.Mode != "" || o.Principal != "" || o.Protection != "" && o.Protection != sasl.Authentication.String():
		return nil, security.Refused(err)
	case s.kerberos:
		return nil, security.Refused(fmt.Errorf("%s asks for Kerberos: %w", s.dir, err))
	}
	return &identity{s: s}, nil
}

// proves reports whether there is anything to log in with.
func (i *identity) proves() bool { return i.creds != nil || i.token != nil }

// user returns the loader's name, for sentences.
func (i *identity) user(name string) string {
	if i.creds != nil {
		return i.creds.Principal().String()
	}
	return name
}

// login chooses the token, else Kerberos, where a NameNode offers it.
func (i *identity) login(ctx context.Context, address string, offer []namenode.Auth) (namenode.Identity, error) {
	if i.token != nil {
		return namenode.Identity{Method: "TOKEN", Mechanism: sasl.NewDigest(i.token.Identifier, i.token.Password, i.s.rpc).For("/default")}, nil
	}
	const method = "KERBEROS"
	at := slices.IndexFunc(offer, func(a namenode.Auth) bool { return a.Method == method })
	if at < 0 {
		return namenode.Identity{}, security.Refused(fmt.Errorf("NameNode %s does not offer Kerberos", address))
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return namenode.Identity{}, err
	}
	pattern := i.s.principals[address]
	if pattern == "" {
		if pattern, err = claimed(host, address, offer[at]); err != nil {
			return namenode.Identity{}, err
		}
	}
	t, err := i.creds.Ticket(ctx, pattern, host)
	if err != nil {
		err = fmt.Errorf("log in to NameNode %s as %s, which dfs.namenode.kerberos.principal names %s: %w", address, i.creds.Principal(), pattern, err)
		if e := (*krb.Error)(nil); errors.As(err, &e) && e.Final {
			err = security.Refused(err)
		}
		return namenode.Identity{}, err
	}
	return namenode.Identity{Method: method, Mechanism: sasl.NewGSSAPI(t, i.s.rpc), User: t.Client.String()}, nil
}

// claimed is the principal that a NameNode says it has, where no configuration says it. It has to be one of the names
// that NameNodes bear, on the host that was asked: any other server could claim to be another one.
func claimed(host, address string, a namenode.Auth) (string, error) {
	if (a.Protocol == "hdfs" || a.Protocol == "nn") && (strings.EqualFold(a.Server, host) || net.ParseIP(host) != nil) {
		return a.Protocol + "/_HOST", nil
	}
	return "", security.Refused(fmt.Errorf("NameNode %s says that it is %s/%s: set hbase.hadoop_conf to a folder whose hdfs-site.xml has dfs.namenode.kerberos.principal", address, a.Protocol, a.Server))
}

// choose returns the token for the root's NameNodes: by service, else the only one there is.
func (s *settings) choose(list []token.Token) *token.Token {
	var names []string
	if s.ha {
		names = append(names, s.tokenService(""))
	} else {
		host, port, _ := net.SplitHostPort(s.addresses[0])
		names = append(names, s.addresses[0])
		if numbers, err := net.LookupHost(host); err == nil {
			for _, n := range numbers {
				names = append(names, net.JoinHostPort(n, port))
			}
		}
	}
	for i := range list {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, list[i].Service) }) {
			return &list[i]
		}
	}
	if len(list) == 1 {
		return &list[0]
	}
	return nil
}
