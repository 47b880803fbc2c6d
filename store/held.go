package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"multis/language"
	"multis/policy"
)

// RoleSize says how much there is of a role, and which version of it. A version never comes again.
type RoleSize struct {
	Role         policy.Role
	Version      int64
	Chunks       int64
	Words        int64
	Languages    []language.Language
	LanguageSize []int64 // chunks in each of Languages
}

const (
	roleSizeColumns     = "select role, version, chunks, words, configs, config_chunks"
	heldSizesSQL        = roleSizeColumns + " from held_sizes()"
	archiveHeldSizesSQL = roleSizeColumns + " from archive_held_sizes()"
)

// RoleSizes gives the sizes of the roles of the reader's scope that are not empty, and, in the same round trip, the lexemes
// of texts as Lexemes does.
func RoleSizes(ctx context.Context, r Reader, in Source, languages []language.Language, texts []string) (sizes []RoleSize, lexemes [][]string, err error) {
	list := []statement{{heldSizesSQL, nil}}
	if in == Archive {
		list[0].sql = archiveHeldSizesSQL
	}
	if len(texts) > 0 {
		list = append(list, statement{lexemesSQL, []any{languages, texts}})
	}
	results, err := r.send(ctx, list...)
	if err != nil {
		return nil, nil, fmt.Errorf("read sizes: %w", err)
	}
	defer func() {
		if closed := results.Close(); closed != nil && err == nil {
			err = fmt.Errorf("read sizes: %w", closed)
		}
	}()
	rows, err := results.Query()
	if err == nil {
		sizes, err = pgx.CollectRows(rows, pgx.RowToStructByPos[RoleSize])
	}
	if err == nil && len(texts) > 0 {
		if rows, err = results.Query(); err == nil {
			lexemes, err = pgx.CollectRows(rows, pgx.RowTo[[]string])
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read sizes: %w", err)
	}
	return sizes, lexemes, nil
}

// TextsAndSizes reads texts as ChunkTexts and ArchivedTexts do and then, in the same round trip, the sizes of the roles of
// the reader's scope: with the versions of before, the texts are those of what was known.
func TextsAndSizes(ctx context.Context, r Reader, in Source, scope policy.Scope, ids []int64) (texts []ChunkText, sizes []RoleSize, err error) {
	list := []statement{{chunkTextsByIDSQL, []any{scope.Roles(), ids}}, {heldSizesSQL, nil}}
	if in == Archive {
		list[0].sql, list[1].sql = archivedTextsSQL, archiveHeldSizesSQL
	}
	results, err := r.send(ctx, list...)
	if err != nil {
		return nil, nil, fmt.Errorf("read texts: %w", err)
	}
	defer func() {
		if closed := results.Close(); closed != nil && err == nil {
			err = fmt.Errorf("read texts: %w", closed)
		}
	}()
	rows, err := results.Query()
	if err == nil {
		texts, err = pgx.CollectRows(rows, pgx.RowToStructByPos[ChunkText])
	}
	if err == nil {
		if rows, err = results.Query(); err == nil {
			sizes, err = pgx.CollectRows(rows, pgx.RowToStructByPos[RoleSize])
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read texts: %w", err)
	}
	return texts, sizes, nil
}

// HeldPassage is a passage with all its words.
type HeldPassage struct {
	Passage // without Frequencies

	Role    policy.Role
	Version int64 // of the role
	Lexemes []HeldLexeme
}

// HeldLexeme is how often a word stands in a passage.
type HeldLexeme struct {
	Word      string
	Frequency int16
}

const (
	heldPassageColumns     = "select role, version, id, doc_id, ord, kind, config, part, n_tok, author, is_question, tsv"
	heldPassagesSQL        = heldPassageColumns + " from held_passages($1)"
	archiveHeldPassagesSQL = heldPassageColumns + " from archive_held_passages($1)"
)

// HeldPassages reads all passages of roles, those that the reader's scope holds, in order of role, document and place.
func HeldPassages(ctx context.Context, r Reader, in Source, roles []policy.Role) ([]HeldPassage, error) {
	sql := heldPassagesSQL
	if in == Archive {
		sql = archiveHeldPassagesSQL
	}
	rows, err := r.Query(ctx, sql, roles)
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p HeldPassage, err error) {
		var words pgtype.TSVector
		err = row.Scan(&p.Role, &p.Version, &p.ID, &p.DocID, &p.Ord, &p.Kind, &p.Language, &p.Part, &p.Words, &p.Author, &p.IsQuestion, &words)
		p.Lexemes = make([]HeldLexeme, 0, len(words.Lexemes))
		for _, l := range words.Lexemes {
			if len(l.Positions) > 0 { // else it only says how often another one stands there
				p.Lexemes = append(p.Lexemes, HeldLexeme{l.Word, int16(len(l.Positions))}) //nolint:gosec // Postgres keeps 255 of them
			}
		}
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	return list, nil
}
