package fetch_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/internal/fetch"
)

// isPublic reports whether a client of public pages may connect to an address.
func isPublic(address netip.Addr) bool {
	return fetch.Control(fetch.Public)("tcp", netip.AddrPortFrom(address, 443).String(), nil) == nil
}

// lastOf returns the last address of a range.
func lastOf(p netip.Prefix) netip.Addr {
	bytes := p.Addr().AsSlice()
	for bit := p.Bits(); bit < p.Addr().BitLen(); bit++ {
		bytes[bit/8] |= 0x80 >> (bit % 8)
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// The ranges are all of IANA's registries of special-purpose addresses, multicast, and what is not assigned; and the
// translations and tunnels that hold an IPv4 address. The first and the last address of each is refused.
func TestControl_RefusesSpecialRanges(t *testing.T) {
	t.Parallel()
	for _, special := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24",
		"192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16", "192.175.48.0/24",
		"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32",
		"::1/128", "::/128", "::/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64",
		"2001::/23", "2001::/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32", "2001:4:112::/48",
		"2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16",
		"fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8", "200::/7", "400::/6", "1000::/4", "4000::/3", "6000::/3", "8000::/3", "a000::/3",
		"c000::/3", "e000::/4", "f000::/5", "f800::/6",
	} {
		t.Run(special, func(t *testing.T) {
			t.Parallel()
			prefix := netip.MustParsePrefix(special)
			for _, address := range []netip.Addr{prefix.Addr(), lastOf(prefix)} {
				require.False(t, isPublic(address), address)
				if address.Is4() {
					require.False(t, isPublic(netip.AddrFrom16(address.As16())), "%s, as an IPv6 address", address)
				}
			}
		})
	}
}

func TestControl_RefusesSpecialAddresses(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{
		"metadata of most clouds":          "169.254.169.254",
		"metadata of Alibaba Cloud":        "100.100.100.200",
		"metadata of Azure":                "168.63.129.16",
		"metadata of Oracle Cloud":         "192.0.0.192",
		"metadata of Amazon":               "fd00:ec2::254",
		"metadata of Oracle Cloud by IPv6": "fd00:c1::a9fe:a9fe",
		"metadata of Google by IPv6":       "fd20:ce::254",
		"IPv4-mapped loopback":             "::ffff:127.0.0.1",
		"IPv4-mapped private":              "::ffff:10.0.0.1",
		"IPv4-mapped metadata":             "::ffff:169.254.169.254",
		"IPv4-compatible loopback":         "::127.0.0.1",
		"IPv4-compatible public":           "::8.8.8.8",
		"IPv4-translated":                  "::ffff:0:127.0.0.1",
		"NAT64 to loopback":                "64:ff9b::127.0.0.1",
		"NAT64 to metadata":                "64:ff9b::169.254.169.254",
		"NAT64 to a public address":        "64:ff9b::8.8.8.8",
		"local NAT64":                      "64:ff9b:1::10.0.0.1",
		"6to4 to loopback":                 "2002:7f00:1::1",
		"6to4 to metadata":                 "2002:a9fe:a9fe::1",
		"Teredo":                           "2001:0:7f00:1::80ff:fffe",
		"broadcast":                        "255.255.255.255",
		"link-local with a zone":           "fe80::1%eth0",
		"public with a zone":               "2606:4700::1111%eth0",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.False(t, isPublic(netip.MustParseAddr(address)))
		})
	}
}

func TestControl_AllowsPublicAddresses(t *testing.T) {
	t.Parallel()
	for _, address := range []string{
		"1.1.1.1", "8.8.8.8", "::ffff:8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1",
		"169.253.255.255", "169.255.0.1", "172.15.255.255", "172.32.0.1", "192.0.1.1", "192.167.255.255", "192.169.0.1", "198.17.255.255",
		"198.20.0.1", "223.255.255.254", "168.63.129.15", "168.63.129.17", "2001:200::1", "2001:4860:4860::8888", "2003::1", "2606:4700::1111",
		"2a00:1450:4001::1",
	} {
		t.Run(address, func(t *testing.T) {
			t.Parallel()
			require.True(t, isPublic(netip.MustParseAddr(address)))
		})
	}
}
