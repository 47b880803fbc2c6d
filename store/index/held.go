package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"multis/language"
	"multis/policy"
	"multis/store/row"
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
	heldTextsSQL        = chunkTextsByIDSQL + " and $3::bigint[] = (select held_versions())"
	archiveHeldTextsSQL = archivedTextsSQL + " and $3::bigint[] = (select archive_held_versions())"
)

// RoleSizes gives the sizes of the roles of the reader's scope that are not empty, and, in the same round trip, the lexemes
// of texts as Lexemes does.
func RoleSizes(ctx context.Context, r row.Reader, in Source, list LanguageTexts) (sizes []RoleSize, lexemes [][]string, err error) {
	sql := heldSizesSQL
	if in == Messages {
		sql = archiveHeldSizesSQL
	}
	sizes, lexemes, err = withLexemes[RoleSize](ctx, r, row.Statement{SQL: sql}, list)
	if err != nil {
		return nil, nil, fmt.Errorf("read sizes: %w", err)
	}
	return sizes, lexemes, nil
}

// UnchangedTexts reads texts as ChunkTexts and MessageTexts do, and none if the versions of the roles of the reader's scope, in order,
// are no longer these: then what was known of them is no longer so. In the same round trip it gives the lexemes of texts as Lexemes does.
func UnchangedTexts(ctx context.Context, r row.Reader, in Source, scope policy.Scope, ids, versions []int64, list LanguageTexts) (texts []ChunkText, lexemes [][]string, err error) {
	sql := heldTextsSQL
	if in == Messages {
		sql = archiveHeldTextsSQL
	}
	texts, lexemes, err = withLexemes[ChunkText](ctx, r, row.Statement{SQL: sql, Args: []any{scope.Roles(), ids, versions}}, list)
	if err != nil {
		return nil, nil, fmt.Errorf("read texts: %w", err)
	}
	return texts, lexemes, nil
}

// withLexemes reads rows and, in the same round trip, the lexemes of texts.
func withLexemes[T any](ctx context.Context, r row.Reader, read row.Statement, list LanguageTexts) (found []T, lexemes [][]string, err error) {
	statements := []row.Statement{read}
	if len(list.Texts) > 0 {
		statements = append(statements, row.Statement{SQL: lexemesSQL, Args: []any{list.Languages, list.Texts}})
	}
	results, err := r.QueryAll(ctx, statements...)
	if err != nil {
		return nil, nil, err
	}
	rows, err := results.Query()
	if err == nil {
		found, err = pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	}
	if err == nil && len(list.Texts) > 0 {
		if rows, err = results.Query(); err == nil {
			lexemes, err = pgx.CollectRows(rows, pgx.RowTo[[]string])
		}
	}
	return found, lexemes, errors.Join(err, results.Close())
}

// RolePassage is a passage with all its words.
type RolePassage struct {
	Passage // without Frequencies

	Role    policy.Role
	Version int64 // of the role
	Lexemes []LexemeCount
}

// LexemeCount is how often a word stands in a passage.
type LexemeCount struct {
	Word      string
	Frequency int16
}

const (
	heldPassageColumns     = "select role, version, id, doc_id, ord, kind, config, part, n_tok, author, is_question, tsv"
	heldPassagesSQL        = heldPassageColumns + " from held_passages($1)"
	archiveHeldPassagesSQL = heldPassageColumns + " from archive_held_passages($1)"
)

// RolePassages reads all passages of roles, those that the reader's scope holds, in order of role, document and place.
func RolePassages(ctx context.Context, r row.Reader, in Source, roles []policy.Role) ([]RolePassage, error) {
	sql := heldPassagesSQL
	if in == Messages {
		sql = archiveHeldPassagesSQL
	}
	rows, err := r.Query(ctx, sql, roles)
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (p RolePassage, err error) {
		var words pgtype.TSVector
		err = row.Scan(&p.Role, &p.Version, &p.ID, &p.DocID, &p.Ord, &p.Kind, &p.Language, &p.Part, &p.Words, &p.Author, &p.IsQuestion, &words)
		p.Lexemes = make([]LexemeCount, 0, len(words.Lexemes))
		for _, l := range words.Lexemes {
			if len(l.Positions) > 0 { // else it only says how often another one stands there
				p.Lexemes = append(p.Lexemes, LexemeCount{l.Word, int16(len(l.Positions))}) //nolint:gosec // Postgres keeps 255 of them
			}
		}
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("read index: %w", err)
	}
	return list, nil
}
