package fetch

import (
	"net/netip"
	"slices"
	"syscall"
)

// control is asked for every connection, after names were resolved and before anything is sent.
func control(private bool) func(network, address string, _ syscall.RawConn) error {
	return func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return ErrPrivate
		}
		if at := to.Addr().Unmap(); public(at) || private && (at.IsLoopback() || at.IsPrivate()) {
			return nil
		}
		return ErrPrivate
	}
}

// public tells whether an address is on the open internet. What is not known to be, is not.
func public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" || !a.IsGlobalUnicast() || a.IsPrivate() {
		return false
	}
	if a.Is6() && !netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20}), 3).Contains(a) {
		return false // everything public is in 2000::/3; translators such as 64:ff9b::/96 lead elsewhere
	}
	return !slices.ContainsFunc(special(), func(p netip.Prefix) bool { return p.Contains(a) })
}

// special are the ranges with a meaning of their own that the checks above let through.
func special() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),       // this network
		netip.MustParsePrefix("100.64.0.0/10"),   // a provider's own network
		netip.MustParsePrefix("192.0.0.0/24"),    // protocols
		netip.MustParsePrefix("192.0.2.0/24"),    // examples
		netip.MustParsePrefix("192.88.99.0/24"),  // a way to IPv6, given up
		netip.MustParsePrefix("198.18.0.0/15"),   // measurements
		netip.MustParsePrefix("198.51.100.0/24"), // examples
		netip.MustParsePrefix("203.0.113.0/24"),  // examples
		netip.MustParsePrefix("240.0.0.0/4"),     // for the future, and 255.255.255.255
		netip.MustParsePrefix("2001::/23"),       // protocols, and tunnels that hold an IPv4 address
		netip.MustParsePrefix("2001:db8::/32"),   // examples
		netip.MustParsePrefix("2002::/16"),       // tunnels that hold an IPv4 address
		netip.MustParsePrefix("3fff::/20"),       // examples
	}
}
