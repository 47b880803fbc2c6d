package sandbox

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// attachedValues returns what may be the value of a short option that is written without a space, such as "/etc" in
// "-t/etc" and in "-rt/etc".
func attachedValues(arg string) (values []string) {
	if len(arg) < 3 || arg[0] != '-' || arg[1] == '-' {
		return nil
	}
	values = []string{arg[2:]}
	for _, begin := range []string{"/", ".."} {
		if i := strings.Index(arg, begin); i > 2 {
			values = append(values, arg[i:])
		}
	}
	return values
}

// fileNames returns the names of files that an argument may hold: itself, the value of an option, or each word of a script.
func fileNames(arg string) []string {
	names := append(attachedValues(arg), arg)
	if _, value, ok := strings.Cut(arg, "="); ok {
		names = append(names, value)
	}
	if strings.ContainsAny(arg, " \t\n;") {
		names = append(names, strings.FieldsFunc(arg, func(r rune) bool { return strings.ContainsRune(" \t\n;|&<>()'\"", r) })...)
	}
	return names
}

// Inner returns the commands that are arguments of a command and that it runs, as far as its words tell: of "timeout 5
// nice curl x" both "nice curl x" and "curl x". Where a program that runs others is not in its simplest form, each of its
// words may begin such a command.
func Inner(argv []string) [][]string { return inner(argv, 0) }

func inner(argv []string, depth int) (all [][]string) {
	if len(argv) == 0 || depth > maxUnwrap {
		return nil
	}
	name, _ := programName(argv[0])
	if r, ok := harmless[name]; ok && r.allows(argv[1:]) {
		return nil
	}
	switch plain := unwrapSimple(name, argv[1:]); {
	case slices.Contains(shells, name):
		for i, a := range argv[1:] {
			if isScript(argv, i+1) {
				all = append(all, scriptCommands(a, depth+1)...)
			}
		}
	case plain != nil:
		all = append(inner(plain, depth+1), plain)
	case len(argv) <= maxWrapped: // a longer one is never run
		if start := firstCommand(name, argv[1:]); start >= 0 {
			for i := start + 1; i < len(argv); i++ {
				all = append(all, commandsAt(i, name, argv, depth)...)
			}
		}
	}
	return all
}

// commandsAt returns the commands that may begin in argument i of a program that runs others.
func commandsAt(i int, name string, argv []string, depth int) (all [][]string) {
	for _, word := range innerWords(argv[i]) {
		command := argv[i:]
		if word != argv[i] {
			command = append([]string{word}, argv[i+1:min(len(argv), i+1+maxUnwrap)]...)
		}
		if !slices.Contains(scriptReaders, name) {
			all = append(all, command)
		}
		for _, script := range scriptsIn(argv, word) {
			all = append(all, scriptCommands(script, depth+1)...)
		}
	}
	return all
}

// scriptCommands returns the commands of a script, and those that they run. A word that is only known when the script runs is a "$".
func scriptCommands(script string, depth int) (all [][]string) {
	file := parseScript(script, depth)
	if file == nil {
		return nil
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		argv := make([]string, len(call.Args))
		for i, w := range call.Args {
			if argv[i], ok = literal(w); !ok {
				argv[i] = "$"
			}
		}
		all = append(append(all, argv), inner(argv, depth+1)...)
		return true
	})
	return all
}

// metadataServices are the addresses at which clouds give programs of a machine its rights.
var metadataServices = []netip.Addr{ //nolint:gochecknoglobals // a constant, were there constant lists
	netip.AddrFrom4([4]byte{169, 254, 169, 254}), netip.AddrFrom4([4]byte{169, 254, 170, 2}), netip.MustParseAddr("fd00:ec2::254"),
	netip.AddrFrom4([4]byte{100, 100, 100, 200}), netip.AddrFrom4([4]byte{192, 0, 0, 192}), netip.AddrFrom4([4]byte{168, 63, 129, 16}),
	netip.MustParseAddr("fd20:ce::254"),
}

// namesMetadataService reports whether a word in lower case has the address of a metadata service, in any form that
// programs accept: with octal or hexadecimal numbers, with fewer than four of them, or as IPv6.
func namesMetadataService(word string) bool {
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return !strings.ContainsRune("0123456789abcdefx.:", r) }) {
		isOne := func(host string) bool { return slices.Contains(metadataServices, parseIPv4(host)) }
		if slices.Contains(metadataServices, parseIPv6(part)) || slices.ContainsFunc(strings.Split(part, ":"), isOne) {
			return true
		}
	}
	return false
}

// parseIPv4 reads an IPv4 address as inet_aton does. It returns the zero Addr for anything else.
func parseIPv4(s string) netip.Addr {
	parts := strings.Split(strings.TrimSuffix(s, "."), ".")
	if len(parts) > 4 {
		return netip.Addr{}
	}
	var value uint64
	for i, p := range parts {
		limit := uint64(1) << 8
		if i == len(parts)-1 { // the last number fills what is left
			limit = 1 << (8 * (5 - len(parts)))
		}
		n, err := strconv.ParseUint(p, 0, 33)
		if err != nil {
			return netip.Addr{}
		}
		if n >= limit {
			return netip.Addr{}
		}
		if i == len(parts)-1 {
			value = value<<(8*(5-len(parts))) | n
		} else {
			value = value<<8 | n
		}
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)})
}

// parseIPv6 reads an IPv6 address; a mapped IPv4 address is returned as one. It returns the zero Addr for anything else.
func parseIPv6(s string) netip.Addr {
	a, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}
	}
	return a.Unmap()
}
