package sandbox

import (
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"multis/internal/text"
)

// Class says how dangerous a command is.
type Class int

// The classes. A program that is not known is Destructive.
const (
	Harmless     Class = iota // it only reads
	Destructive               // it changes something, or runs what cannot be classified
	Catastrophic              // it is never run: it destroys the machine, gains privileges, or attacks multis itself
)

// String names the class.
func (c Class) String() string { return [...]string{"harmless", "destructive", "catastrophic"}[c] }

// Verdict is the class of a command and why it is not a lower one.
type Verdict struct {
	Class Class
	Why   string // one sentence; empty for a harmless command
}

// worse returns the verdict with the higher class.
func worse(a, b Verdict) Verdict {
	if b.Class > a.Class {
		return b
	}
	return a
}

// maxWrapped is the maximum number of words of a program that runs another, each of which may begin the inner command.
const maxWrapped = 500

// maxUnwrap is the maximum nesting of commands in commands that is classified. A command nested deeper is Catastrophic.
const maxUnwrap = 8

// Classify returns how dangerous a command is, judged by its words alone. The sandbox does not depend on the class: it restricts a harmless
// command as well.
func Classify(argv []string) Verdict { return classify(argv, 0, false) }

// classify classifies a command that is nested in depth others. isPart is true for a part of a wrapper's arguments, all
// of which are classified one by one.
func classify(argv []string, depth int, isPart bool) Verdict {
	switch {
	case len(argv) == 0 || argv[0] == "":
		return Verdict{Destructive, "It names no program."}
	case depth > maxUnwrap:
		return Verdict{Catastrophic, "It runs commands in commands, too deep to be read."}
	}
	v := Verdict{}
	words := argv
	if isPart {
		words = argv[:1] // the others were classified with the whole
	}
	for _, a := range words {
		v = worse(v, classifyWord(a))
	}
	name, trusted := programName(argv[0])
	switch {
	case isCatastrophic(name):
		return Verdict{Catastrophic, name + " gets rights, changes the machine or stops it."}
	case !trusted:
		v = worse(v, Verdict{Destructive, "The program lies outside the folders of the system."})
	}
	if rule, ok := harmless[name]; ok && rule.allows(argv[1:]) {
		return v
	}
	v = worse(v, classifyTargets(name, argv[1:]))
	switch {
	case slices.Contains(shells, name):
		return worse(v, classifyShell(argv, depth, isPart))
	case firstCommand(name, argv[1:]) >= 0:
		return worse(v, classifyWrapper(name, argv, depth, isPart))
	default:
		return worse(v, Verdict{Destructive, name + " may change something, or runs another program."})
	}
}

// programName returns the name of a program without its folder. trusted is false if arg names a folder that is not in Path.
func programName(arg string) (name string, trusted bool) {
	name = path.Base(filepath.Clean(arg))
	if !strings.Contains(arg, "/") {
		return arg, true
	}
	return name, slices.Contains(strings.Split(Path, ":"), path.Dir(filepath.Clean(arg)))
}

// isCatastrophic reports whether a program is never run.
func isCatastrophic(name string) bool {
	return slices.Contains(catastrophic, name) || strings.HasPrefix(name, "mkfs.") || strings.HasPrefix(name, "fsck.") ||
		strings.HasPrefix(name, "multis")
}

// classifyWord returns Catastrophic for a word that no command may have as an argument: a device, another process, a socket of Docker, the
// metadata service.
func classifyWord(word string) Verdict {
	for _, part := range strings.FieldsFunc(word, func(r rune) bool { return strings.ContainsRune("=,;:\"'() ", r) }) {
		for _, value := range append(attachedValues(part), part) {
			if v := classifyPath(strings.TrimLeft(value, "@<>|&")); v.Class == Catastrophic {
				return v
			}
		}
	}
	lower := strings.ToLower(text.Fold(word)) // programs read the names of hosts like that
	if plain, err := url.PathUnescape(lower); err == nil {
		lower = plain
	}
	for _, name := range []string{"docker.sock", "containerd.sock", "podman.sock", ".s.pgsql.", "metadata.google", "a9fe:a9fe"} {
		if strings.Contains(lower, name) {
			return Verdict{Catastrophic, "It reaches for a service of this machine that gives rights."}
		}
	}
	if namesMetadataService(lower) {
		return Verdict{Catastrophic, "It reaches for a service of this machine that gives rights."}
	}
	return Verdict{}
}

// classifyPath returns Catastrophic for a path to a device or to another process. A path that leads out of its folder by
// ".." may lead anywhere.
func classifyPath(name string) Verdict {
	clean := path.Clean(name)
	for strings.HasPrefix(clean, "../") {
		if clean = clean[len("../"):]; !strings.HasPrefix(clean, "..") {
			clean = "/" + clean
		}
	}
	process, isProcess := strings.CutPrefix(clean, "/proc/")
	process, _, _ = strings.Cut(process, "/")
	switch {
	case strings.HasPrefix(clean, "/dev/") && !isHarmlessDevice(clean):
		return Verdict{Catastrophic, "It names the device " + clean + "."}
	// kcore, kallsyms
	case clean == "/proc", isProcess && isNumber(process),
		isProcess && (process == "self" || process == "thread-self" || strings.HasPrefix(process, "sys") || strings.HasPrefix(process, "k")):
		return Verdict{Catastrophic, "It reaches into processes or the kernel by /proc."}
	}
	return Verdict{}
}

// isHarmlessDevice reports whether a clean path is a device that every command may read and write.
func isHarmlessDevice(clean string) bool {
	return slices.Contains(deviceFiles, clean) || slices.Contains([]string{"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"}, clean)
}

// classifyTargets returns Catastrophic for a command that removes or changes folders of the system.
func classifyTargets(name string, args []string) Verdict {
	if !slices.Contains(modifyingPrograms, name) {
		return Verdict{}
	}
	script := sedScript(name, args)
	for i, a := range args {
		if i == script || name == "find" && i > 0 && slices.Contains(findPrograms, args[i-1]) {
			continue // no file
		}
		option, value, ok := strings.Cut(a, "=")
		if !ok || !strings.HasPrefix(a, "-") && name != "dd" {
			option, value = "", a
		}
		values := attachedValues(a)
		if i < len(args)-1 && option == "" && len(values) == 0 && slices.Contains(copiers, name) && !strings.HasPrefix(args[max(i-1, 0)], "-t") {
			continue // it is only read
		}
		isDangerous := func(value string) bool { return value != "" && isProtected(path.Clean(value)) }
		if slices.ContainsFunc(append(values, value), isDangerous) || len(a) > 4 && isLong([]string{"--no-preserve-root"}, a) {
			return Verdict{Catastrophic, name + " outside the workspace, on the root or on a folder of the system destroys the machine."}
		}
	}
	return Verdict{}
}

// sedScript returns the index of the argument of sed that is its script, such as "/etc/d"; -1 if an option holds the
// script, or may hold it.
func sedScript(name string, args []string) int {
	mayHold := func(a string) bool { return strings.HasPrefix(a, "-") && strings.ContainsAny(a, "ef") }
	if name != "sed" || slices.ContainsFunc(args, mayHold) {
		return -1
	}
	return slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
}

// findPrograms are the options of find that are followed by a program.
var findPrograms = strings.Fields("-exec -execdir -ok -okdir") //nolint:gochecknoglobals // a constant, were there constant lists

// isProtected reports whether no command may change a path: the root, an entry of the root, a path in a folder of the
// system, or one with "..".
func isProtected(clean string) bool {
	return path.IsAbs(clean) && strings.Count(clean, "/") == 1 || clean == ".." || strings.HasPrefix(clean, "../") ||
		slices.ContainsFunc(systemRoots, func(root string) bool { return within(root, clean) })
}

// classifyShell classifies the commands in the arguments of a shell. A shell is never Harmless. It is Catastrophic if one
// of the commands is unknown until the script runs. Of a part of a wrapper's arguments it leaves out what follows the
// next shell, which is a part of its own.
func classifyShell(argv []string, depth int, isPart bool) Verdict {
	v := Verdict{Destructive, argv[0] + " runs a script."}
	for i, a := range argv[1:] {
		if name, _ := programName(a); isPart && slices.Contains(shells, name) {
			break
		}
		if isScript(argv, i+1) {
			v = worse(v, classifyScript(a, depth+1))
		}
	}
	return v
}

// isScript reports whether argument i of a shell is a script: one that follows an option such as -c. Other arguments are
// options, a script file, which is not read, or arguments of the script.
func isScript(argv []string, i int) bool {
	isOption := strings.HasPrefix(argv[i], "-") || strings.HasPrefix(argv[i], "+")
	return i > 1 && strings.HasPrefix(argv[i-1], "-") && !isOption
}

// parseScript parses the script of a shell. It returns nil for a text that cannot be parsed, or is nested too deep.
func parseScript(script string, depth int) *syntax.File {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil
	}
	if depth > maxUnwrap {
		return nil
	}
	return file
}

// unreadable is the verdict on a text that cannot be parsed as a script, or is nested too deep.
var unreadable = Verdict{Catastrophic, "It runs a script that cannot be read."} //nolint:gochecknoglobals // a constant, were there constant structs

// classifyScript returns the worst class of the commands in a script.
func classifyScript(script string, depth int) Verdict {
	file := parseScript(script, depth)
	if file == nil {
		return unreadable
	}
	v := Verdict{Destructive, "It runs a script."}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.FuncDecl:
			v = worse(v, Verdict{Catastrophic, "Its script defines functions."})
		case *syntax.Redirect:
			if word, ok := literal(n.Word); ok {
				v = worse(v, classifyWord(word))
				if !isHarmlessDevice(word) {
					v = worse(v, classifyTargets("tee", []string{word}))
				}
			}
		case *syntax.BinaryCmd:
			if n.Op == syntax.Pipe || n.Op == syntax.PipeAll {
				v = worse(v, classifyInput(n.Y, depth))
			}
		case *syntax.ProcSubst:
			if n.Op == syntax.CmdOut {
				for _, s := range n.Stmts {
					v = worse(v, classifyInput(s, depth))
				}
			}
		case *syntax.CoprocClause:
			v = worse(v, classifyInput(n.Stmt, depth))
		case *syntax.Stmt:
			readsFile := func(r *syntax.Redirect) bool { return strings.HasPrefix(r.Op.String(), "<") }
			if n.Cmd != nil && slices.ContainsFunc(n.Redirs, readsFile) {
				v = worse(v, classifyInput(n.Cmd, depth))
			}
		case *syntax.CallExpr:
			v = worse(v, classifyCall(n, depth))
		}
		return true
	})
	return v
}

// classifyCall classifies one command of a script. It classifies an argument that is unknown until the script runs as the
// word "$", or the whole command as Catastrophic if the argument may be a target (see isTarget).
func classifyCall(call *syntax.CallExpr, depth int) Verdict {
	var argv []string
	for i, w := range call.Args {
		word, ok := literal(w)
		if !ok && i == 0 {
			return Verdict{Catastrophic, "Its script runs a program that is only known when it runs."}
		}
		if !ok {
			word = "$" // an unknown argument
			if isTarget(argv) {
				return Verdict{Catastrophic, argv[0] +
					" in a script changes or runs what is only known when it runs: write the argument itself, or put the script into a file."}
			}
		}
		argv = append(argv, word)
	}
	if len(argv) == 0 {
		return Verdict{}
	}
	if runsText(argv) {
		return Verdict{Catastrophic, "Its script runs text as a command."}
	}
	return classify(argv, depth+1, false)
}

// runsText reports whether a command is a builtin of a shell that runs text, or gives a program another name.
func runsText(argv []string) bool {
	switch argv[0] {
	case "eval", "source", ".", "trap", "alias", "enable", "bind", "fc":
		return true
	case "hash":
		return slices.ContainsFunc(argv[1:], func(a string) bool { return strings.HasPrefix(a, "-") && strings.Contains(a, "p") })
	case "mapfile", "readarray", "complete", "compgen":
		return slices.ContainsFunc(argv[1:], func(a string) bool { return strings.HasPrefix(a, "-") && strings.ContainsAny(a, "CF") })
	default:
		return false
	}
}

// isTarget reports whether the next argument may be the target of a dangerous program, or a command that the program runs.
func isTarget(argv []string) bool {
	name, _ := programName(argv[0])
	_, isLauncher := launchers[name]
	if name == "git" {
		isLauncher = !slices.ContainsFunc(argv[1:], func(a string) bool {
			l, ok := gitLaunchers[a]
			return ok && l.isZero()
		}) || firstCommand(name, argv[1:]) >= 0
	}
	return isLauncher || name == "make" || slices.ContainsFunc([][]string{modifyingPrograms, wrappers, scriptReaders, shells},
		func(all []string) bool {
			return slices.Contains(all, name)
		})
}

// classifyWrapper classifies a program that runs another. In its simplest form it has the class of the inner command (see
// unwrapSimple). In any other form each word is classified as a possible start of the inner command.
func classifyWrapper(name string, argv []string, depth int, isPart bool) Verdict {
	if inner := unwrapSimple(name, argv[1:]); inner != nil {
		return classify(inner, depth+1, isPart)
	}
	v := Verdict{Destructive, name + " runs another program."}
	if isPart {
		return v
	}
	if len(argv) > maxWrapped {
		return Verdict{Catastrophic, fmt.Sprintf("%s may run another program, and has more than %d words, too many to be read.", name,
			maxWrapped)}
	}
	for i := firstCommand(name, argv[1:]) + 1; i < len(argv); i++ {
		for _, word := range innerWords(argv[i]) {
			if !slices.Contains(scriptReaders, name) {
				v = worse(v, catastrophicOrHarmless(classify(append([]string{word}, argv[i+1:]...), depth+1, true)))
			}
			if runsProgram(argv, "sed") {
				_, files := readSed(word)
				v = worse(v, classifyTargets("tee", files))
			}
			for _, script := range scriptsIn(argv, word) {
				if inner := classifyScript(script, depth+1); inner != unreadable {
					v = worse(v, catastrophicOrHarmless(inner))
				}
			}
		}
	}
	return v
}

// innerWords returns the parts of an argument that may be a program or a script: all of it, the value of a short option,
// what follows "=", "!" or ",", what stands before the first ",", and what follows the S in a row of short options, as in
// "env -iSls".
func innerWords(arg string) []string {
	words := []string{arg}
	if len(arg) > 2 && arg[0] == '-' && arg[1] != '-' {
		words = append(words, arg[2:])
		if i := strings.IndexByte(arg[2:], 'S'); i >= 0 {
			words = append(words, arg[i+3:])
		}
	}
	for i, r := range arg {
		if (r == '=' || r == '!' || r == ',') && i+1 < len(arg) && len(words) < maxUnwrap {
			words = append(words, arg[i+1:])
		}
	}
	if first, _, found := strings.Cut(arg, ","); found {
		words = append(words, first) // gcc -wrapper sudo,id
	}
	for i, w := range words {
		words[i] = strings.ReplaceAll(w, `\_`, " ") // a space for env -S
		if i > 0 {
			words[i] = strings.Trim(words[i], `"'[]`) // cargo --config 'a.b=["x"]'
		}
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

// scriptsIn returns the parts of a wrapper's argument that a shell may run as scripts: the quoted texts in it if the
// wrapper runs awk or an editor, the commands in it if it runs sed or the client of a database, and the whole word if it
// is more than the name of a program. The whole word is left out if the program is one of scriptReaders.
func scriptsIn(argv []string, word string) (scripts []string) {
	if runsProgram(argv, "awk") || runsProgram(argv, "vi") || runsProgram(argv, "vim") {
		for _, mark := range []string{`"`, "'"} {
			for i, part := range strings.Split(word, mark) {
				if i%2 == 1 {
					scripts = append(scripts, part)
				}
			}
		}
	}
	if runsProgram(argv, "sed") {
		programs, _ := readSed(word)
		scripts = append(scripts, programs...)
	}
	if runsProgram(argv, "sqlite3") || runsProgram(argv, "mysql") || runsProgram(argv, "mariadb") {
		scripts = append(scripts, readClientScript(word)...)
	}
	if name, _ := programName(argv[0]); !slices.Contains(scriptReaders, name) && strings.ContainsAny(word, " \t\n;|&<>()`") {
		scripts = append(scripts, word)
	}
	return scripts
}

// runsProgram reports whether a word of a command is the name of a program, or ends with it, as "gawk" and "/usr/bin/awk" do.
func runsProgram(argv []string, name string) bool {
	return slices.ContainsFunc(argv, func(arg string) bool { return strings.HasSuffix(arg, name) })
}

// catastrophicOrHarmless returns v if it is Catastrophic, else the zero Verdict.
func catastrophicOrHarmless(v Verdict) Verdict {
	if v.Class == Catastrophic {
		return v
	}
	return Verdict{}
}

// unwrapSimple returns the command that a wrapper in its simplest form runs, as in "timeout 5 COMMAND"; nil for any other form.
func unwrapSimple(name string, args []string) []string {
	switch {
	case name == "timeout" && len(args) > 1 && isNumber(args[0]):
		return args[1:]
	case name == "nice" && len(args) > 2 && args[0] == "-n" && isNumber(args[1]):
		return args[2:]
	case (name == "nice" || name == "time") && len(args) > 0 && !strings.HasPrefix(args[0], "-"):
		return args
	case (name == "env" || name == "busybox" || name == "nohup") && len(args) > 0 && !strings.HasPrefix(args[0], "-") &&
		!strings.Contains(args[0], "="):
		return args
	}
	return nil
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
