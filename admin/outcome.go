package admin

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"multis/internal/text"
	"multis/jobs"
	"multis/knowledge"
	"multis/policy"
)

// indexReport says what was indexed, and why the rest was not.
func indexReport(args jobs.IndexArgs, outcomes []knowledge.Outcome) string {
	text := outcomeText(outcomes[0])
	if len(outcomes) > 1 {
		text = batchReport(args.Path, args.Role, outcomes)
	} else if outcomes[0].Origin != args.Path && outcomes[0].StayedPrivate(args.Role) {
		text += "\n" + leftPrivateText(args.Role, outcomes)
	}
	if slices.ContainsFunc(outcomes, func(o knowledge.Outcome) bool { return o.Err == nil && o.Report.Role == policy.RolePublic }) {
		text += makePrivateHint(args)
	}
	return text
}

// makePrivateHint says how to make a public document private again.
func makePrivateHint(args jobs.IndexArgs) string {
	if where := args.Path + args.Address; where != "" {
		return "\nShared by mistake? " + code("/index "+where+" admin") + " makes it private."
	}
	return "\nShared by mistake? Reply `/index admin` to the file to make it private."
}

// outcomeText returns the report about one document.
func outcomeText(o knowledge.Outcome) string {
	if o.Err != nil {
		return outcomeErrorText(o)
	}
	r, what := o.Report, "done"
	if r.Unchanged {
		what = "unchanged"
	}
	amount := text.Count(r.Chunks, "passage")
	if r.Pages > 0 {
		amount += " of " + text.Count(r.Pages, "page")
	}
	return fmt.Sprintf("📄 **%s** — %s: %s, %s.", esc(r.Name), what, amount, visibility(r.Role)) + notesText(r.Notes)
}

// outcomeErrorText says why a document is not indexed.
func outcomeErrorText(o knowledge.Outcome) string {
	return "⚠️ **" + esc(o.Name) + "** is not indexed: " + esc(fileErrorText(o.Err)) + "."
}

// leftPrivateText names the documents that stay private; empty when there are none.
func leftPrivateText(asked policy.Role, outcomes []knowledge.Outcome) string {
	var names []string
	for _, o := range outcomes {
		if o.StayedPrivate(asked) {
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

// keptRoleText says that a document keeps its role, because that was set later than the role of the batch.
func keptRoleText(o knowledge.Outcome) string {
	return "**" + esc(o.Name) + "** stays " + visibility(o.Report.Role) + ", as you said later."
}

// notesText says what of a document was not read, or may be wrong.
func notesText(notes []string) string {
	var b strings.Builder
	for _, note := range notes {
		b.WriteString(" " + esc(note))
	}
	return b.String()
}

// batchReport returns the report about many documents. It names those that were not read, or only in part.
func batchReport(where string, asked policy.Role, outcomes []knowledge.Outcome) string {
	read := 0
	unchanged := 0
	passages := 0
	var lines []string
	for _, o := range outcomes {
		switch {
		case o.Err != nil:
			lines = append(lines, outcomeErrorText(o))
			continue
		case o.StayedPrivate(asked):
			continue
		case o.Report.Unchanged:
			unchanged++
		default:
			read++
		}
		if notes := notesText(o.Report.Notes); notes != "" {
			lines = append(lines, "**"+esc(o.Name)+"**:"+notes)
		}
		if o.Report.Role != asked {
			lines = append(lines, keptRoleText(o))
		}
		passages += o.Report.Chunks
	}
	if len(lines) > pageSize {
		lines = append(lines[:pageSize], "and "+text.Count(len(lines)-pageSize, "more line"))
	}
	if left := leftPrivateText(asked, outcomes); left != "" {
		lines = append([]string{left}, lines...)
	}
	if read+unchanged == 0 {
		return strings.Join(lines, "\n")
	}
	first := fmt.Sprintf("📄 %s — done: %s, %s, %s.", code(where), text.Count(read+unchanged, "document"), text.Count(passages, "passage"),
		visibility(asked))
	if unchanged > 0 {
		first += fmt.Sprintf(" %d %s unchanged.", unchanged, text.Plural(unchanged, "was", "were"))
	}
	return strings.Join(append([]string{first}, lines...), "\n")
}

// fileErrorText says in a few words why a file could not be read.
func fileErrorText(err error) string {
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
