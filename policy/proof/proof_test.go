package proof

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

type pair struct {
	ID       string   `json:"id"`
	Lang     string   `json:"lang"`
	Headings []string `json:"headings"`
	Units    []string `json:"units"`
	Question string   `json:"question"`
	Sentence string   `json:"sentence"`
	Follows  bool     `json:"follows"`
	Kind     string   `json:"kind"`
}

func TestSet(t *testing.T) {
	f, err := os.Open(os.Getenv("CLAIMS"))
	if err != nil {
		t.Skip()
	}
	defer f.Close()
	verbose := os.Getenv("V") != ""
	passed, failed, yes, no := 0, 0, 0, 0
	kinds := map[string]int{}
	s := bufio.NewScanner(f)
	for s.Scan() {
		var p pair
		if json.Unmarshal(s.Bytes(), &p) != nil {
			t.Fatal(s.Text())
		}
		gap := FindGap(Claim{p.Sentence, p.Units, p.Headings, p.Question})
		if p.Follows {
			yes++
			if gap != "" {
				failed++
				kinds["fail "+p.Kind+" "+p.Lang]++
				if verbose {
					t.Logf("TRUE FAILS %s %s: %s | %v | Q %s\n    %s", p.ID, p.Kind, p.Sentence, p.Units, p.Question, gap)
				}
			}
		} else {
			no++
			if gap == "" {
				passed++
				kinds["pass "+p.Kind+" "+p.Lang]++
				if verbose {
					t.Logf("FALSE PASSES %s %s: %s | %v | Q %s", p.ID, p.Kind, p.Sentence, p.Units, p.Question)
				}
			}
		}
	}
	t.Logf("false that pass %d of %d, true that fail %d of %d", passed, no, failed, yes)
	t.Log(kinds)
}
