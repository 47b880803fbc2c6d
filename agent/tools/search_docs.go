package tools

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"multis/knowledge/search"
	"multis/policy/rules"
	"multis/store/index"
)

//go:embed search_docs.md
var searchDocsText string

// maxPassages is how many passages one search returns.
const maxPassages = 6

// SearchDocs is the tool that searches the documents in the caller's scope.
type SearchDocs struct{ Search *search.Searcher }

type searchDocsArgs struct {
	Query string `json:"query" jsonschema:"what to look for, in the language of the documents"`
}

// Spec describes the tool.
func (SearchDocs) Spec() Spec {
	return Spec{
		Name:        "search_docs",
		Description: searchDocsText,
		Schema:      Schema[searchDocsArgs](),
		Tier:        Read,
		Class:       rules.ClassRead,
	}
}

// Run returns the best passages.
func (t SearchDocs) Run(ctx context.Context, c Call) (Result, error) {
	args, err := Decode[searchDocsArgs](c)
	if err != nil {
		return BadArguments(err), nil
	}
	if strings.TrimSpace(args.Query) == "" {
		return Refused(CodeArguments, "query is empty"), nil
	}
	find := t.Search.AsContact
	if c.Owner {
		find = t.Search.AsOwner
	}
	found, err := find(ctx, c.Scope, search.Query{Text: args.Query, Limit: maxPassages, Kinds: []index.Kind{index.KindKnowledge}})
	if err != nil {
		return Result{}, err
	}
	if len(found.Hits) == 0 || len(found.Terms) == 0 {
		return Result{ForLLM: "No passage holds these words.", ForUser: fmt.Sprintf("searched the documents for “%s”: nothing", args.Query)}, nil
	}
	return Result{Passages: found.Hits, ForUser: fmt.Sprintf("searched the documents for “%s”: %d passages", args.Query, len(found.Hits))}, nil
}
