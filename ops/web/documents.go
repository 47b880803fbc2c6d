package web

import (
	"errors"
	"io"
	"net/http"
	"slices"

	"multis/internal/text"
	"multis/knowledge"
	"multis/policy"
	"multis/store"
	"multis/store/index"
)

const (
	maxDocuments = 1000 // documents in the list
	maxPassages  = 200  // passages of a document
)

// documentList is what the page of the documents shows.
type documentList struct {
	Documents                 []index.Document
	Public, Private, Passages int
}

// documents lists the documents, the newest first.
func (s *Site) documents(v *visit) error {
	found, err := s.Documents.Documents(v.r.Context(), policy.OwnerScope(), maxDocuments)
	if err != nil {
		return err
	}
	var list documentList
	for _, g := range found.Groups {
		switch {
		case g.Kind != index.KindKnowledge:
			continue
		case g.Role == policy.RolePublic:
			list.Public += g.Documents
		default:
			list.Private += g.Documents
		}
		list.Passages += g.Chunks
	}
	list.Documents = slices.SortedStableFunc(slices.Values(found.Biggest), func(a, b index.Document) int {
		return b.IndexedAt.Compare(a.IndexedAt)
	})
	s.show(v, http.StatusOK, "documents", "Documents", list)
	return nil
}

// addDocument indexes a file. Its answer says what of the file was not read.
func (s *Site) addDocument(v *visit) error {
	file, header, err := v.r.FormFile("file")
	if err != nil {
		return s.reject(v, "Choose a file of at most "+knowledge.MaxSizeText+", and who may see it.", "")
	}
	defer file.Close()
	role := policy.Role(v.r.PostFormValue("role"))
	if role != policy.RolePublic && role != policy.RoleAdmin {
		return s.reject(v, "Say who may see it: public, or only you.", "")
	}
	data, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	name := text.OneLine(text.Storable(header.Filename))
	report, added, err := s.Room.AddDocument(v.r.Context(), v.session, Upload{Name: name, Data: data, Role: role})
	if err != nil {
		return err
	}
	if !added {
		return s.reject(v, report, "")
	}
	s.show(v, http.StatusOK, "added", "Document added", report)
	return nil
}

// documentPage is what the page of a document shows.
type documentPage struct {
	index.Document

	Passages []index.ChunkText
}

// document shows a document with its passages.
func (s *Site) document(v *visit) error {
	ctx, scope := v.r.Context(), policy.OwnerScope()
	d, err := index.DocumentByID(ctx, v.db, store.DocumentID(v.id()))
	if errors.Is(err, store.ErrNotFound) || (err == nil && d.Kind != index.KindKnowledge) {
		s.fail(v, v.r, http.StatusNotFound)
		return nil
	}
	if err != nil {
		return err
	}
	page := documentPage{Document: d}
	texts, err := s.Store.OwnerReader(scope)
	if err != nil {
		return err
	}
	if page.Passages, err = index.ChunksOfDocument(ctx, v.count(texts), scope, d.ID, maxPassages); err != nil {
		return err
	}
	s.show(v, http.StatusOK, "document", d.Name, page)
	return nil
}
