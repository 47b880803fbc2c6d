package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"multis/internal/text"
	"multis/knowledge"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

// commands returns the commands about documents.
func (dc *DocumentCommands) commands() []command {
	return []command{
		{
			name:      "docs",
			args:      "[remove, title, watch or unwatch NAME]",
			group:     groupDocuments,
			run:       dc.docs,
			operators: true,
			summary:   "list or remove documents",
			help: "With sizes, and which are outdated: the file in the documents folder was changed, or the page was fetched more than 30 days ago. " +
				"`/docs remove prices.pdf` takes one out, for good and at once. " +
				"`/docs title prices.pdf \"our price list\"` says how customers read its name, in place of its first heading; `none` gives that name again. " +
				"`/docs watch prices public` keeps up with the files of a folder in the documents folder: new and changed ones are read, those that are gone are removed, and I tell you once. `/docs unwatch prices` ends it.",
		},
		{
			name: "index", args: "[path or address] [public or admin]", group: groupDocuments, run: dc.index,
			summary: "add a document",
			help: dc.settings.indexHint() +
				" a file, a folder or a pattern such as `contracts/*.pdf` in the documents folder, or the address of a page. " +
				"**public**: customers get answers from it. **admin**: only you do. Sent again under the same name, it replaces what was there. " +
				knowledge.FormatList() + ", up to " + knowledge.MaxSizeText + " and " + knowledge.MaxPagesText + " pages.",
		},
	}
}

// questions returns the kinds of questions of the topic.
func (dc *DocumentCommands) questions() []func() question {
	return []func() question{
		func() question { return &pickRole{} },
	}
}

const (
	// maxListedDocs is how many documents are listed by name.
	maxListedDocs = 10
	// maxCheckedDocs is how many documents are checked for being stale.
	maxCheckedDocs = 1000
	// staleAfter is the age from which a page counts as stale.
	staleAfter = 30 * 24 * time.Hour
)

// undoHint says how to take back an indexed document.
const undoHint = "Shared by mistake? `/index` it again with `admin` to make it private, `/docs remove NAME` deletes it."

// docs lists the documents, or removes one, or begins or ends the watching of a folder.
func (dc *DocumentCommands) docs(ctx context.Context, r request, args string) (answer, error) {
	verb, name, _ := strings.Cut(args, " ")
	switch {
	case args == "":
		return dc.list(ctx, r)
	case !isDocsVerb(verb):
	case !r.isOwner():
		return notAllowedAnswer("index"), nil
	case strings.EqualFold(verb, "remove"):
		return dc.remove(ctx, strings.TrimSpace(name))
	case strings.EqualFold(verb, "title"):
		return dc.giveTitle(ctx, strings.TrimSpace(name))
	case strings.EqualFold(verb, "watch"):
		return dc.watchFolder(ctx, r, strings.TrimSpace(name))
	default:
		return dc.unwatchFolder(ctx, strings.TrimSpace(name))
	}
	return answer{text: "`/docs` lists the documents, `/docs remove prices.pdf` removes one, `/docs title prices.pdf \"our price list\"` names one for customers, `/docs watch prices public` keeps up with a folder, `/search` looks into them."}, nil
}

// isDocsVerb reports whether a word is an action of /docs.
func isDocsVerb(word string) bool {
	return slices.ContainsFunc([]string{"remove", "title", "watch", "unwatch"}, func(verb string) bool { return strings.EqualFold(verb, word) })
}

func (dc *DocumentCommands) list(ctx context.Context, r request) (answer, error) {
	found, err := dc.library.Documents(ctx, r.scope(), maxCheckedDocs)
	if err != nil {
		return answer{}, err
	}
	var watched []string
	if r.isOwner() {
		if watched, err = dc.watchedLines(ctx); err != nil {
			return answer{}, err
		}
	}
	if len(found.Groups) == 0 {
		return answer{text: strings.Join(append([]string{dc.settings.noDocumentsText()}, watched...), "\n")}, nil
	}
	lines := []string{"**Documents** — " + documentCounts(found.Groups)}
	newest := slices.SortedStableFunc(slices.Values(found.Biggest), func(a, b index.Document) int { return b.IndexedAt.Compare(a.IndexedAt) })
	for _, d := range newest[:min(len(newest), maxListedDocs)] {
		lines = append(lines, fmt.Sprintf("**%s**%s — %s, %s, %s · %s", esc(d.Name), titleText(d), visibility(d.Role), text.Count(d.Chunks, "passage"),
			fileSize(d.Size), dc.room.shortTime(d.IndexedAt)))
	}
	if more := len(newest) - maxListedDocs; more > 0 {
		big := found.Biggest[0]
		lines = append(lines, "and "+text.Count(more, "older one")+
			fmt.Sprintf(" · the biggest is **%s** — %s, %s", esc(big.Name), text.Count(big.Chunks, "passage"), fileSize(big.Size)))
	}
	if r.isOwner() {
		lines = append(lines, dc.staleLines(found.Biggest)...)
		lines = append(lines, watched...)
		lines = append(lines, "", undoHint)
	}
	return answer{text: strings.Join(lines, "\n")}, nil
}

// titleText returns the title by which customers know a document, in quotation marks; empty if that is its name.
func titleText(d index.Document) string {
	title := d.ShownTitle()
	if title == "" {
		return ""
	}
	return " “" + esc(title) + "”"
}

// staleLines lists the documents that have changed since they were indexed, or may have changed.
func (dc *DocumentCommands) staleLines(docs []index.Document) []string {
	var lines []string
	for _, d := range docs {
		if why := dc.staleness(d); why != "" {
			lines = append(lines, fmt.Sprintf("**%s** — %s", esc(d.Name), why))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	if more := len(lines) - pageSize; more > 0 {
		lines = append(lines[:pageSize], "and "+text.Count(more, "other"))
	}
	return append([]string{"", "**Outdated** (add them again)"}, lines...)
}

// staleness says why a document should be indexed again; empty when it need not be.
func (dc *DocumentCommands) staleness(d index.Document) string {
	if d.Kind != index.KindKnowledge {
		return ""
	}
	if knowledge.IsAddress(d.Origin) {
		if dc.room.now().Sub(d.IndexedAt) < staleAfter {
			return ""
		}
		return "fetched " + dc.room.ago(d.IndexedAt)
	}
	root, err := dc.library.OpenFolder()
	if err != nil {
		return ""
	}
	if !fs.ValidPath(d.Origin) {
		return ""
	}
	defer root.Close()
	info, err := root.Stat(d.Origin)
	switch {
	case err == nil && info.ModTime().After(d.IndexedAt):
		return "changed " + dc.room.ago(info.ModTime())
	case errors.Is(err, fs.ErrNotExist) && strings.Contains(d.Origin, "/"):
		return "no longer in the documents folder"
	default:
		return ""
	}
}

// remove deletes a document and its passages. The file itself stays, and can be indexed again.
func (dc *DocumentCommands) remove(ctx context.Context, name string) (answer, error) {
	if name == "" {
		return answer{text: "Which one? `/docs remove prices.pdf`"}, nil
	}
	doc, problem, err := dc.document(ctx, name)
	if err != nil {
		return answer{}, err
	}
	if problem != "" {
		return answer{text: problem}, nil
	}
	return answer{
		text: fmt.Sprintf("🗑 **%s** is removed: %s, %s.", esc(doc.Name), text.Count(doc.Chunks, "passage"), visibility(doc.Role)),
		change: func(ctx context.Context, tx store.Tx) error {
			err := index.RemoveDocument(ctx, tx, doc.Origin)
			if errors.Is(err, store.ErrNotFound) {
				return nil // it was removed meanwhile
			}
			return err
		},
	}, nil
}

// document finds a document by its name or origin. problem says why there is not one.
func (dc *DocumentCommands) document(ctx context.Context, name string) (doc index.Document, problem string, err error) {
	found, err := dc.library.DocumentsNamed(ctx, name, pageSize)
	exact := slices.IndexFunc(found, func(d index.Document) bool { return d.Origin == name })
	switch {
	case err != nil:
		return doc, "", err
	case len(found) == 0:
		return doc, "I know no document called " + code(name) + ". `/docs` lists them.", nil
	case len(found) > 1 && exact < 0:
		var origins []string
		for _, d := range found {
			origins = append(origins, code(d.Origin))
		}
		return doc, "There are several: " + strings.Join(origins, ", ") + ". Which one?", nil
	}
	return found[max(exact, 0)], "", nil
}

// titleArguments matches the name of a document, which may have spaces before a title in quotation marks, and its title.
var titleArguments = regexp.MustCompile(`^(.+?)\s+["“”„«»]\s*([^"“”„«»]*?)\s*["“”„«»]$|^(\S+)\s+(.+)$`)

// giveTitle says by which name customers know a document.
func (dc *DocumentCommands) giveTitle(ctx context.Context, args string) (answer, error) {
	m := titleArguments.FindStringSubmatch(args)
	if m == nil {
		return answer{text: "Name the document and its title: `/docs title prices.pdf \"our price list\"`. `none` removes the title."}, nil
	}
	title, isFit := "", true
	if given := m[2] + m[4]; !strings.EqualFold(given, "none") {
		title, isFit = knowledge.CleanTitle(given)
	}
	if !isFit {
		return answer{text: fmt.Sprintf("That is not a title for customers: at most %d characters, no address, no parentheses.", knowledge.MaxTitle)}, nil
	}
	doc, problem, err := dc.document(ctx, m[1]+m[3])
	if err != nil {
		return answer{}, err
	}
	if problem != "" {
		return answer{text: problem}, nil
	}
	said := "Customers read “from " + esc(cmp.Or(title, doc.Title, doc.Name)) + "” below what is quoted from **" + esc(doc.Name) + "**."
	if title != "" {
		said += " Undo: " + code("/docs title "+doc.Name+` "none"`)
	}
	return answer{
		text:   said,
		change: func(ctx context.Context, tx store.Tx) error { return index.GiveTitle(ctx, tx, doc.Origin, title) },
	}, nil
}

// documentCounts counts the documents by who may see them, the public ones first.
func documentCounts(groups []index.DocumentGroup) string {
	var parts []string
	for _, role := range []policy.Role{policy.RolePublic, policy.RoleAdmin} {
		documents, passages := 0, 0
		var types []string
		for _, g := range groups {
			if g.Role == role && g.Kind == index.KindKnowledge {
				documents, passages = documents+g.Documents, passages+g.Chunks
				types = append(types, fmt.Sprintf("%d %s", g.Documents, formatName(g.Format)))
			}
		}
		if documents > 0 {
			parts = append(parts, visibility(role)+": "+text.Count(documents, "document")+" ("+strings.Join(types, ", ")+"), "+
				text.Count(passages, "passage"))
		}
	}
	return strings.Join(parts, " · ")
}

// formatName names the format of a document for people.
func formatName(id string) string {
	if id == "chat" {
		return "from chats"
	}
	f, _ := knowledge.FormatByID(id)
	return cmp.Or(f.Short, "text")
}
