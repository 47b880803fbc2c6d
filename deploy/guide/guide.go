// Package guide reads the commands from a Markdown document, so that tests run exactly what the document tells people to type.
package guide

import (
	"fmt"
	"os"
	"strings"
)

// Block is a fenced block of code.
type Block struct {
	// Language is the word after the fence, such as "sh".
	Language string
	// Text is the content, with its last line break.
	Text string
}

// Commands returns the lines of the block that are commands: not empty, not a comment, and not an edit of a file by hand.
func (b Block) Commands() (commands []string) {
	if b.Language != "sh" {
		return nil
	}
	for line := range strings.Lines(b.Text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "$EDITOR ") {
			continue
		}
		commands = append(commands, line)
	}
	return commands
}

// Blocks returns the blocks of one section of a document, in order. heading is the section's first line, such as "##
// Install"; the section ends at the next heading of the same or a higher level. A section without blocks is an error.
func Blocks(path, heading string) ([]Block, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	level := strings.IndexFunc(heading, func(r rune) bool { return r != '#' })
	var blocks []Block
	inside, open := false, false
	for line := range strings.Lines(string(data)) {
		bare := strings.TrimRight(line, "\r\n")
		language, fence := strings.CutPrefix(bare, "```")
		switch {
		case fence && open:
			open = false
		case fence:
			open = true
			if inside {
				blocks = append(blocks, Block{Language: language})
			}
		case open && inside:
			blocks[len(blocks)-1].Text += line
		case open:
		case bare == heading:
			inside = true
		case inside && isHeading(bare, level):
			inside = false
		}
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("%s has no block of code in %q", path, heading)
	}
	return blocks, nil
}

// isHeading reports whether a line is a heading of this level or a higher one.
func isHeading(line string, level int) bool {
	hashes := len(line) - len(strings.TrimLeft(line, "#"))
	return hashes > 0 && hashes <= level && strings.HasPrefix(line[hashes:], " ")
}
