package sandbox

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// launcher says which arguments of a program are, or are followed by, a command that the program runs.
type launcher struct {
	short string   // letters of short options whose value is a command
	long  []string // long options whose value is a command; a prefix of one counts as the option
	words []string // arguments that a command follows, such as "exec"
	marks string   // first characters of arguments that are commands, such as "+"
}

var (
	editor   = launcher{short: "c", long: []string{"--cmd"}, marks: "+"}                                                                   //nolint:gochecknoglobals // a constant, were there constant structs
	compiler = launcher{long: []string{"-wrapper"}}                                                                                        //nolint:gochecknoglobals // the same
	packages = launcher{short: "o", long: []string{"--option"}}                                                                            //nolint:gochecknoglobals // the same
	scripts  = launcher{short: "c", long: []string{"--call", "--script-shell", "--shell"}, words: []string{"exec", "dlx", "x", "explore"}} //nolint:gochecknoglobals // the same
)

// launchers are the programs that run a command only if their arguments say so. All other arguments are no commands: "tar
// cf x.tar route" does not run route.
var launchers = map[string]launcher{ //nolint:gochecknoglobals // a constant, were there constant maps
	"find": {words: findPrograms}, "fd": {short: "xX", long: []string{"--exec", "--exec-batch"}},
	"rg": {long: []string{"--pre", "--hostname-bin"}},
	"tar": {short: "IF", long: []string{
		"--use-compress-program", "--info-script", "--new-volume-script", "--to-command",
		"--checkpoint-action", "--rsh-command", "--rmt-command",
	}},
	"rsync": {short: "e", long: []string{"--rsh", "--rsync-path"}}, "man": {short: "PHE", long: []string{"--pager", "--html"}},
	"less": {marks: "+"}, "more": {marks: "+"},
	"zip": {short: "T", long: []string{"--unzip-command"}}, "sort": {long: []string{"--compress-program"}},
	"split": {long: []string{"--filter"}},
	"vi":    editor, "vim": editor, "ex": editor, "view": editor, "nvim": editor, "vimdiff": editor,
	"gcc": compiler, "g++": compiler, "cc": compiler, "c++": compiler, "cpp": compiler, "gfortran": compiler, "clang": compiler,
	"clang++": compiler,
	"apt":     packages, "apt-get": packages, "apt-cache": packages, "aptitude": packages,
	"npm": scripts, "pnpm": scripts, "yarn": scripts, "bun": scripts, "uv": {words: []string{"run"}}, "poetry": {words: []string{"run"}},
	"pipenv": {words: []string{"run"}},
	"pipx":   {words: []string{"run"}}, "bundle": {words: []string{"exec"}}, "cargo": {short: "C", long: []string{"--config"}},
	"rustc":   {short: "C", long: []string{"--codegen"}},
	"install": {long: []string{"--strip-program"}}, "wget": {short: "e", long: []string{"--use-askpass", "--execute"}},
	"gpg":  {long: []string{"--photo-viewer", "--agent-program", "--dirmngr-program", "--keyboxd-program"}},
	"cpio": {long: []string{"--rsh-command"}},
	"dpkg": {long: []string{"--pre-invoke", "--post-invoke"}}, "go": {long: []string{"-toolexec", "-exec", "-vettool"}},
}

// scriptReaders are the programs whose arguments are texts with commands in them (see scriptsIn), and never programs.
var scriptReaders = strings.Fields("sed awk gawk mawk sqlite3 mysql mariadb") //nolint:gochecknoglobals // a constant, were there constant lists

// gitLaunchers are the commands of git that run no other program, except by these arguments. Any other command may be an
// alias for anything.
var gitLaunchers = map[string]launcher{ //nolint:gochecknoglobals // a constant, were there constant maps
	"rebase": {short: "x", long: []string{"--exec"}}, "difftool": {short: "x", long: []string{"--extcmd"}},
	"grep":   {short: "O", long: []string{"--open-files-in-pager"}},
	"bisect": {words: []string{"run"}}, "submodule": {words: []string{"foreach"}},
	"clone": {short: "cu", long: []string{"--config", "--upload-pack"}},
	"fetch": {long: []string{"--upload-pack"}}, "pull": {long: []string{"--upload-pack"}},
	"ls-remote": {long: []string{"--upload-pack", "--exec"}},
	"push":      {long: []string{"--receive-pack", "--exec"}}, "archive": {long: []string{"--exec"}},
	"add": {}, "am": {}, "apply": {}, "blame": {}, "branch": {}, "cat-file": {}, "checkout": {}, "cherry-pick": {}, "clean": {}, "commit": {},
	"describe": {}, "diff": {},
	"format-patch": {}, "init": {}, "log": {}, "ls-files": {}, "ls-tree": {}, "merge": {}, "mv": {}, "notes": {}, "reflog": {}, "remote": {},
	"reset": {}, "restore": {}, "rev-parse": {},
	"revert": {}, "rm": {}, "shortlog": {}, "show": {}, "stash": {}, "status": {}, "switch": {}, "tag": {}, "worktree": {},
}

// firstCommand returns the index of the first argument of a program that may be, or be followed by, a command that the
// program runs; -1 if none is. All further arguments may be commands as well.
func firstCommand(name string, args []string) int {
	switch {
	case name == "command" && len(args) > 0 && (args[0] == "-v" || args[0] == "-V"):
		return -1 // it only says where a program is
	case slices.Contains(wrappers, name), slices.Contains(scriptReaders, name):
		return 0
	case name == "git":
		return firstCommandOfGit(args)
	case name == "make":
		return slices.IndexFunc(args, func(a string) bool {
			return strings.Contains(a, "=") || isLong([]string{"--eval"}, a) || isShort(a) && strings.Contains(a, "E")
		})
	}
	l, ok := launchers[name]
	if !ok {
		l = launchers[strings.TrimRight(name, "-.0123456789")] // gcc-13
	}
	if name == "tar" && len(args) > 0 && !strings.HasPrefix(args[0], "-") && strings.ContainsAny(args[0], l.short) {
		return 0
	}
	return slices.IndexFunc(args, l.runs)
}

// runs reports whether an argument is, or is followed by, a command.
func (l launcher) runs(arg string) bool {
	switch {
	case arg == "":
		return false
	case strings.ContainsRune(l.marks, rune(arg[0])), slices.Contains(l.words, arg), isLong(l.long, arg):
		return true
	default:
		return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.ContainsAny(arg[1:], l.short)
	}
}

// isZero reports whether the program runs no command, whatever its arguments are.
func (l launcher) isZero() bool { return l.short+l.marks == "" && len(l.long)+len(l.words) == 0 }

// firstCommandOfGit is firstCommand for git. The options before its command may set a program, such as "-c core.pager=PROGRAM".
func firstCommandOfGit(args []string) int {
	for i, a := range args {
		if strings.HasPrefix(a, "-") {
			if a != "--no-pager" && a != "-P" {
				return i
			}
			continue
		}
		l, ok := gitLaunchers[a]
		if !ok {
			return i
		}
		if j := slices.IndexFunc(args[i+1:], l.runs); j >= 0 {
			return i + 1 + j
		}
		return -1
	}
	return -1
}

// clientCommand matches what a client of a database runs: .shell, .system and edit() of sqlite3 and files that begin with
// "|", and system, pager, \! and \P of mysql.
var clientCommand = regexp.MustCompile(`(?m)(?:^|[=;"'])\s*(?:\.(?:sh|sy)[a-z]*|system|pager)\s+([^\n;]+)|(?:\\[!P]|^--pager=)\s*([^\n;]+)|(?:^|[^|])\|\s*([^|\n;"']+)|edit\s*\([^)]*["']([^"']+)["']\s*\)`)

// readClientScript returns the commands that a script of a database client runs.
func readClientScript(script string) (programs []string) {
	for _, m := range clientCommand.FindAllStringSubmatch(script, -1) {
		programs = append(programs, m[1]+m[2]+m[3]+m[4])
	}
	return programs
}

// classifyInput returns Catastrophic for a command of a script that reads commands, or what it changes, from the command
// before it in a pipe or from a file.
func classifyInput(node syntax.Node, depth int) (v Verdict) {
	if node == nil || depth > maxUnwrap {
		return v
	}
	syntax.Walk(node, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		var argv []string
		for _, w := range call.Args {
			word, ok := literal(w)
			if !ok {
				word = "$"
			}
			argv = append(argv, word)
		}
		for _, command := range append(inner(argv, depth+1), argv) {
			if readsCommands(command) {
				v = worse(v, Verdict{Catastrophic, "Its script runs text as a command."})
			}
		}
		return true
	})
	return v
}

// readsCommands reports whether a command runs what it reads from its input, or changes the files that it reads there.
func readsCommands(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	name, _ := programName(argv[0])
	switch {
	case slices.Contains(shells, name):
		isFile := func(a string) bool { return !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") }
		readsInput := func(a string) bool { return isShort(a) && strings.Contains(a, "s") || a == "-" || a == "/dev/stdin" }
		return !slices.ContainsFunc(argv[1:], isFile) || slices.ContainsFunc(argv[1:], readsInput)
	case name == "parallel" && !slices.ContainsFunc(argv[1:], func(a string) bool { return !strings.HasPrefix(a, "-") }):
		return true
	case name == "xargs" || name == "parallel":
		return slices.ContainsFunc(argv[1:], func(a string) bool {
			program, _ := programName(a)
			return slices.Contains(modifyingPrograms, program) || slices.Contains(shells, program)
		})
	default:
		return false
	}
}

// isShort reports whether an argument is a row of short options.
func isShort(a string) bool { return len(a) > 1 && a[0] == '-' && a[1] != '-' }
