package fetch

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// Kind is where an address leads.
type Kind int

// The kinds of addresses. Nowhere is what no client connects to: a cloud's inside, other machines on the same link, and what is not known to
// be of another kind.
const (
	Blocked      Kind = iota
	Loopback          // this machine, by an address that no other one reaches it under
	OwnInterface      // this machine, by an address of one of its interfaces
	Private           // a private network
	Public            // the open internet
)

// Control returns a net.Dialer's Control that lets connections lead to some kinds of addresses only. It is asked for every connection, after
// names were resolved and before anything is sent.
func Control(kinds ...Kind) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return ErrPrivate
		}
		own, err := net.InterfaceAddrs()
		if err != nil || !slices.Contains(kinds, kindOf(to.Addr(), own)) {
			return ErrPrivate
		}
		return nil
	}
}

// IsLoopback reports whether a host, as it stands in an address, is this machine by its very name.
func IsLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	at, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && kindOf(at, nil) == Loopback
}

// kindOf tells where an address leads from a machine whose interfaces have the addresses own.
func kindOf(a netip.Addr, own []net.Addr) Kind {
	a = a.Unmap()
	switch {
	case a.IsLoopback(), a.IsUnspecified():
		return Loopback
	case !a.IsValid(), a.Zone() != "", !a.IsGlobalUnicast(), slices.ContainsFunc(specialRanges(), func(p netip.Prefix) bool { return p.Contains(a) }):
		return Blocked
	case slices.ContainsFunc(own, func(o net.Addr) bool {
		p, err := netip.ParsePrefix(o.String())
		return err == nil && p.Addr().Unmap() == a
	}):
		return OwnInterface
	case a.IsPrivate():
		return Private
	case a.Is6() && !netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3).Contains(a):
		return Blocked // everything public is in 2000::/3; translators such as 64:ff9b::/96 lead elsewhere
	default:
		return Public
	}
}

// specialRanges are the ranges with a meaning of their own that the checks above let through.
func specialRanges() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),        // this network
		netip.MustParsePrefix("100.64.0.0/10"),    // a provider's own network; 100.100.100.200 is Alibaba's inside
		netip.MustParsePrefix("168.63.129.16/32"), // Azure's inside
		netip.MustParsePrefix("192.0.0.0/24"),     // protocols; 192.0.0.192 is Oracle's inside
		netip.MustParsePrefix("192.0.2.0/24"),     // examples
		netip.MustParsePrefix("192.88.99.0/24"),   // a way to IPv6, given up
		netip.MustParsePrefix("198.18.0.0/15"),    // measurements
		netip.MustParsePrefix("198.51.100.0/24"),  // examples
		netip.MustParsePrefix("203.0.113.0/24"),   // examples
		netip.MustParsePrefix("240.0.0.0/4"),      // for the future, and 255.255.255.255
		netip.MustParsePrefix("2001::/23"),        // protocols, and tunnels that hold an IPv4 address
		netip.MustParsePrefix("2001:db8::/32"),    // examples
		netip.MustParsePrefix("2002::/16"),        // tunnels that hold an IPv4 address
		netip.MustParsePrefix("3fff::/20"),        // examples
		netip.MustParsePrefix("fd00:ec2::/32"),    // Amazon's inside
		netip.MustParsePrefix("fd00:c1::/32"),     // Oracle's inside
		netip.MustParsePrefix("fd20:ce::/32"),     // Google's inside
	}
}
