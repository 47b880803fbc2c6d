package fetch

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// AddressKind is the kind of network that an IP address belongs to.
type AddressKind int

// The kinds of addresses. A Blocked address is that of a cloud metadata service, a link-local or reserved address, or any
// other that is of none of the other kinds. No client connects to it.
const (
	Blocked      AddressKind = iota
	Loopback                 // this machine, by an address that other machines cannot reach
	OwnInterface             // this machine, by an address of one of its interfaces
	Private                  // a private network
	Public                   // the open internet
)

// Control returns a function for the Control field of net.Dialer that allows connections only to the given kinds of addresses. It checks
// every connection after name resolution and before any data is sent. A refused connection fails with ErrPrivate.
func Control(kinds ...AddressKind) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return ErrPrivate
		}
		own, err := net.InterfaceAddrs()
		if err != nil {
			return ErrPrivate
		}
		if !slices.Contains(kinds, addressKind(to.Addr(), own)) {
			return ErrPrivate
		}
		return nil
	}
}

// IsLoopback reports whether the host of a URL is this machine, by its name or IP address, without name resolution.
func IsLoopback(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	at, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && addressKind(at, nil) == Loopback
}

// addressKind returns the kind of an IP address on a machine whose interfaces have the addresses own.
func addressKind(a netip.Addr, own []net.Addr) AddressKind {
	a = a.Unmap()
	switch {
	case a.IsLoopback(), a.IsUnspecified():
		return Loopback
	case !a.IsValid(), a.Zone() != "", !a.IsGlobalUnicast(), slices.ContainsFunc(specialRanges(), func(p netip.Prefix) bool {
		return p.Contains(a)
	}):
		return Blocked
	case slices.ContainsFunc(own, func(o net.Addr) bool {
		p, err := netip.ParsePrefix(o.String())
		return err == nil && p.Addr().Unmap() == a
	}):
		return OwnInterface
	case a.IsPrivate():
		return Private
	case a.Is6() && !netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3).Contains(a):
		return Blocked // all public addresses are in 2000::/3; translation prefixes such as 64:ff9b::/96 may lead to private ones
	default:
		return Public
	}
}

// specialRanges returns the ranges of IANA's special-purpose registries that the other checks of addressKind do not
// cover, and the metadata services of clouds outside of them. The table is our own because code.dny.dev/ssrf v0.3.0,
// compared over the cases of TestControl_RefusesSpecialAddresses, knows only public or not (a model on this machine must
// be reachable), lets Azure's metadata service through, and refuses public addresses in IPv4-mapped form.
func specialRanges() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),         // this network
		netip.MustParsePrefix("100.64.0.0/10"),     // carrier-grade NAT; 100.100.100.200 is Alibaba Cloud's metadata service
		netip.MustParsePrefix("168.63.129.16/32"),  // Azure's metadata service
		netip.MustParsePrefix("192.0.0.0/24"),      // protocols; 192.0.0.192 is Oracle Cloud's metadata service
		netip.MustParsePrefix("192.0.2.0/24"),      // examples
		netip.MustParsePrefix("192.31.196.0/24"),   // the name service AS112
		netip.MustParsePrefix("192.52.193.0/24"),   // multicast relays
		netip.MustParsePrefix("192.175.48.0/24"),   // the name service AS112
		netip.MustParsePrefix("192.88.99.0/24"),    // 6to4 relays, deprecated
		netip.MustParsePrefix("198.18.0.0/15"),     // benchmarks
		netip.MustParsePrefix("198.51.100.0/24"),   // examples
		netip.MustParsePrefix("203.0.113.0/24"),    // examples
		netip.MustParsePrefix("240.0.0.0/4"),       // reserved, and 255.255.255.255
		netip.MustParsePrefix("2001::/23"),         // protocols, and tunnels that hold an IPv4 address
		netip.MustParsePrefix("2001:db8::/32"),     // examples
		netip.MustParsePrefix("2002::/16"),         // tunnels that hold an IPv4 address
		netip.MustParsePrefix("2620:4f:8000::/48"), // the name service AS112
		netip.MustParsePrefix("3fff::/20"),         // examples
		netip.MustParsePrefix("fd00:ec2::/32"),     // Amazon's metadata service
		netip.MustParsePrefix("fd00:c1::/32"),      // Oracle Cloud's metadata service
		netip.MustParsePrefix("fd20:ce::/32"),      // Google's metadata service
	}
}
