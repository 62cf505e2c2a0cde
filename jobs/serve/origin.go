package serve

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// A server without tokens answers every caller, and a web page reaches every server that its reader reaches. So Host
// must be a name of this server, which a page cannot forge by pointing its own name here. Origin must be this server or
// an allowed site.

// host checks the Host of a request.
func (s *Server) host(r *http.Request) error {
	name := hostName(r.Host)
	if slices.ContainsFunc(s.o.Hosts, func(known string) bool { return strings.EqualFold(known, name) || strings.EqualFold(known, r.Host) }) {
		return nil
	}
	if name == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(name); err == nil && (ip.IsLoopback() || ip.Unmap() == localIP(r)) {
		return nil
	}
	return failed(http.StatusForbidden, "Host is no name of this server: start it with --allow-host NAME, or with tokens")
}

// localIP is the address that the request came to.
func localIP(r *http.Request) netip.Addr {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		return addrOf(a.String())
	}
	return netip.Addr{}
}

// addrOf is the IP of ADDRESS:PORT; the zero Addr if it is none.
func addrOf(address string) netip.Addr {
	p, err := netip.ParseAddrPort(address)
	if err != nil {
		return netip.Addr{}
	}
	return p.Addr().Unmap().WithZone("")
}

// hostName is a Host without its port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return strings.TrimSuffix(strings.ToLower(strings.Trim(host, "[]")), ".")
}

// origin checks the Origin that a browser sends, and reports whether it is another site that was allowed.
func (s *Server) origin(r *http.Request) (other bool, err error) {
	all := r.Header.Values("Origin")
	if len(all) == 0 {
		return false, nil
	}
	if len(all) == 1 {
		if slices.Contains(s.o.Origins, strings.ToLower(all[0])) {
			return true, nil
		}
		if u, err := url.Parse(all[0]); err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host) {
			return false, nil
		}
	}
	if len(s.o.Tokens) > 0 { // the page cannot read what it gets, and has no token to send
		return false, nil
	}
	return false, failed(http.StatusForbidden, "Origin is no site that may ask: start the server with --allow-origin ORIGIN")
}

// share names the party that answers for a request: the owner of its token or, without tokens, its address. Of an IPv6
// address the network counts, because one host may choose any address in it.
func (s *Server) share(c *call) string {
	if len(s.o.Tokens) > 0 {
		return "token " + c.caller
	}
	ip := addrOf(c.r.RemoteAddr)
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}
