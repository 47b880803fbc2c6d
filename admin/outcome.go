package admin

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"multis/jobs"
	"multis/knowledge"
	"multis/policy"
	"multis/text"
)

// reportOf reports the result of an indexing.
func reportOf(args jobs.IndexArgs, outcomes []knowledge.Outcome) string {
	text := outcomeSentence(outcomes[0])
	if len(outcomes) > 1 {
		text = summary(args.Path, args.Role, outcomes)
	} else if outcomes[0].Origin != args.Path && outcomes[0].IsLeftPrivate(args.Role) {
		text += "\n" + leftPrivate(args.Role, outcomes)
	}
	if slices.ContainsFunc(outcomes, func(o knowledge.Outcome) bool { return o.Err == nil && o.Report.Role == policy.Public }) {
		text += madePublic(args)
	}
	return text
}

// madePublic says how to make a public document private again.
func madePublic(args jobs.IndexArgs) string {
	if where := args.Path + args.Address; where != "" {
		return "\nShared by mistake? " + code("/index "+where+" admin") + " makes it private."
	}
	return "\nShared by mistake? Reply `/index admin` to the file to make it private."
}

// outcomeSentence reports the result for one document.
func outcomeSentence(o knowledge.Outcome) string {
	if o.Err != nil {
		return outcomeTrouble(o)
	}
	r, what := o.Report, "done"
	if r.Unchanged {
		what = "unchanged"
	}
	amount := text.Count(r.Chunks, "passage")
	if r.Pages > 0 {
		amount += " of " + text.Count(r.Pages, "page")
	}
	return fmt.Sprintf("📄 **%s** — %s: %s, %s.", esc(r.Name), what, amount, visibility(r.Role)) + blankPages(r.Blank)
}

// outcomeTrouble says why a document is not indexed.
func outcomeTrouble(o knowledge.Outcome) string {
	return "⚠️ **" + esc(o.Name) + "** is not indexed: " + esc(fileTrouble(o.Err)) + "."
}

// leftPrivate names the documents that stay private; empty when there are none.
func leftPrivate(asked policy.Role, outcomes []knowledge.Outcome) string {
	var names []string
	for _, o := range outcomes {
		if o.IsLeftPrivate(asked) {
			names = append(names, code(cmp.Or(o.Origin, o.Name)))
		}
	}
	if len(names) == 0 {
		return ""
	}
	all := len(names)
	if names = names[:min(all, pageSize)]; len(names) < all {
		names = append(names, text.Count(all-len(names), "other"))
	}
	return fmt.Sprintf("🔒 Left private (only you): %s. To make one public, name it: `/index NAME public`.", text.List(names))
}

// keepsRole says that a document keeps the role that was set for it later than that of the batch.
func keepsRole(o knowledge.Outcome) string {
	return "**" + esc(o.Name) + "** stays " + visibility(o.Report.Role) + ", as you said later."
}

// blankPages names the pages that could not be read.
func blankPages(pages []int) string {
	if len(pages) == 0 {
		return ""
	}
	var names []string
	for _, page := range pages[:min(len(pages), pageSize)] {
		names = append(names, strconv.Itoa(page))
	}
	if more := len(pages) - len(names); more > 0 {
		names = append(names, text.Count(more, "other"))
	}
	return fmt.Sprintf(" %s %s %s no text layer (a scan, or nothing on it); I could not read %s.",
		text.Plural(len(pages), "Page", "Pages"), text.List(names), text.Plural(len(pages), "has", "have"), text.Plural(len(pages), "it", "them"))
}

// summary reports the result for many documents, and names those that were not read, or not fully.
func summary(where string, asked policy.Role, outcomes []knowledge.Outcome) string {
	read, unchanged, passages := 0, 0, 0
	var lines []string
	for _, o := range outcomes {
		switch {
		case o.Err != nil:
			lines = append(lines, outcomeTrouble(o))
			continue
		case o.IsLeftPrivate(asked):
			continue
		case o.Report.Unchanged:
			unchanged++
		default:
			read++
		}
		if blank := blankPages(o.Report.Blank); blank != "" {
			lines = append(lines, "**"+esc(o.Name)+"**:"+blank)
		}
		if o.Report.Role != asked {
			lines = append(lines, keepsRole(o))
		}
		passages += o.Report.Chunks
	}
	if len(lines) > pageSize {
		lines = append(lines[:pageSize], "and "+text.Count(len(lines)-pageSize, "more line"))
	}
	if left := leftPrivate(asked, outcomes); left != "" {
		lines = append([]string{left}, lines...)
	}
	if read+unchanged == 0 {
		return strings.Join(lines, "\n")
	}
	first := fmt.Sprintf("📄 %s — done: %s, %s, %s.", code(where), text.Count(read+unchanged, "document"), text.Count(passages, "passage"), visibility(asked))
	if unchanged > 0 {
		first += fmt.Sprintf(" %d %s unchanged.", unchanged, text.Plural(unchanged, "was", "were"))
	}
	return strings.Join(append([]string{first}, lines...), "\n")
}

// fileTrouble says in a few words why a file could not be read.
func fileTrouble(err error) string {
	err = jobs.Cause(err)
	var onDisk *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file in the documents folder"
	case errors.Is(err, fs.ErrInvalid), errors.As(err, &onDisk) && onDisk.Err.Error() == "path escapes from parent":
		return "it lies outside the documents folder"
	case errors.Is(err, fs.ErrPermission):
		return "I may not read it"
	case errors.As(err, &onDisk):
		return onDisk.Err.Error()
	default:
		return err.Error()
	}
}
