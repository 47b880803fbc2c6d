package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// readSentences returns English sentences from the comments of Go's own source, which is on every machine that builds this.
func readSentences() ([]string, error) {
	var list []string
	seen := map[string]bool{}
	goroot, err := exec.Command("go", "env", "GOROOT").Output() // a program built with -trimpath does not know it
	if err != nil {
		return nil, fmt.Errorf("find the source of Go: %w", err)
	}
	root := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		paragraphs, err := comments(path)
		for _, p := range paragraphs {
			for s := range strings.SplitSeq(p, ". ") {
				s = strings.TrimSpace(s)
				if n := strings.Count(s, " "); n >= 5 && n <= 40 && !seen[s] {
					seen[s] = true
					list = append(list, s+".")
				}
			}
		}
		return err
	})
	if err == nil && len(list) < 1000 {
		err = fmt.Errorf("no sentences found in %s", root)
	}
	return list, err
}

// comments returns the comments of a Go file, each joined into one line.
func comments(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []string
	var current []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text, isComment := strings.CutPrefix(strings.TrimSpace(lines.Text()), "// ")
		if isComment {
			current = append(current, strings.TrimSpace(text))
			continue
		}
		if len(current) > 0 {
			list = append(list, strings.Join(current, " "))
			current = nil
		}
	}
	return list, nil // a file with a line too long for the scanner ends early, which is fine here
}

// invented returns a word of four syllables, a different one for each n.
func invented(n uint64) string {
	var b strings.Builder
	for range 4 {
		b.WriteByte("bdfgklmnprtvz"[n%13])
		b.WriteByte("aiou"[n/13%4])
		n /= 52
	}
	return b.String()
}

// writer generates passages: real sentences with invented words, whose frequencies follow Zipf's law.
type writer struct {
	random    *rand.Rand
	rare      *rand.Zipf
	sentences []string
}

const (
	vocabulary    = 1_000_000
	passageLength = 600 // characters, before the last sentence
	inventedWords = 8
)

func newWriter(seed uint64, sentences []string) *writer {
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // the same passages each time, by design
	return &writer{random: r, rare: rand.NewZipf(r, 1.05, 8, vocabulary), sentences: sentences}
}

func (w *writer) passage() string {
	var b strings.Builder
	for b.Len() < passageLength {
		b.WriteString(w.sentences[w.random.IntN(len(w.sentences))])
		b.WriteByte(' ')
	}
	for i := range inventedWords {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(invented(w.rare.Uint64()))
	}
	b.WriteByte('.')
	return b.String()
}

// question returns 3 to 8 consecutive words of a passage.
func (w *writer) question(passage string) string {
	words := strings.Fields(passage)
	n := min(3+w.random.IntN(6), len(words))
	from := w.random.IntN(len(words) - n + 1)
	return strings.Join(words[from:from+n], " ")
}
