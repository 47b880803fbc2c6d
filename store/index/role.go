package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"multis/internal/language"
	"multis/policy"
	"multis/store/row"
)

// RoleSize is the size and version of a role's passages. Each change of the passages sets a new version, which is unique over all roles.
type RoleSize struct {
	Role          policy.Role
	Version       int64
	Chunks        int64
	Words         int64
	Languages     []language.Language `db:"configs"`
	LanguageSizes []int64             `db:"config_chunks"` // chunks in each of Languages
}

const (
	roleSizeColumns          = "select role, version, chunks, words, configs, config_chunks"
	roleSizesSQL             = roleSizeColumns + " from role_sizes()"
	messageRoleSizesSQL      = roleSizeColumns + " from message_role_sizes()"
	unchangedTextsSQL        = chunkTextsByIDSQL + " and $3::bigint[] = (select role_versions())"
	unchangedMessageTextsSQL = messageTextsSQL + " and $3::bigint[] = (select message_role_versions())"
)

// RoleSizes returns the sizes of the roles of the reader's scope that are not empty. In the same round trip it returns the lexemes
// of texts, as Lexemes does.
func RoleSizes(ctx context.Context, r row.Reader, in Source, list LanguageTexts) (sizes []RoleSize, lexemes [][]string, err error) {
	sql := roleSizesSQL
	if in == Messages {
		sql = messageRoleSizesSQL
	}
	sizes, lexemes, err = withLexemes[RoleSize](ctx, r, row.Statement{SQL: sql}, list)
	if err != nil {
		return nil, nil, fmt.Errorf("read sizes: %w", err)
	}
	return sizes, lexemes, nil
}

// TextsIfUnchanged reads the texts of ids, as ChunkTexts or MessageTexts do, for a caller that has cached the index
// entries of its roles. If the roles in the reader's scope no longer have the given versions (sorted), it returns no
// texts, because the cache is outdated. The same round trip returns the lexemes of list, as Lexemes does.
func TextsIfUnchanged(ctx context.Context, r row.Reader, in Source, scope policy.Scope, ids, versions []int64,
	list LanguageTexts,
) (texts []ChunkText, lexemes [][]string, err error) {
	sql := unchangedTextsSQL
	if in == Messages {
		sql = unchangedMessageTextsSQL
	}
	texts, lexemes, err = withLexemes[ChunkText](ctx, r, row.Statement{SQL: sql, Args: []any{scope.Roles(), ids, versions}}, list)
	if err != nil {
		return nil, nil, fmt.Errorf("read texts: %w", err)
	}
	return texts, lexemes, nil
}

// withLexemes reads rows as Ts and, in the same round trip, the lexemes of texts.
func withLexemes[T any](ctx context.Context, r row.Reader, read row.Statement,
	list LanguageTexts,
) (found []T, lexemes [][]string, err error) {
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
		found, err = pgx.CollectRows(rows, pgx.RowToStructByName[T])
	}
	if err == nil && len(list.Texts) > 0 {
		if rows, err = results.Query(); err == nil {
			lexemes, err = pgx.CollectRows(rows, pgx.RowTo[[]string])
		}
	}
	return found, lexemes, errors.Join(err, results.Close())
}

// RolePassage is a passage with all of its lexemes.
type RolePassage struct {
	Passage // without Frequencies

	Role    policy.Role
	Version int64 // of the role
	Lexemes []LexemeCount
}

// LexemeCount is the number of times that a lexeme occurs in a passage.
type LexemeCount struct {
	Lexeme    string
	Frequency int16
}

const (
	rolePassageColumns     = "select role, version, id, doc_id, ord, kind, config, part, n_tok, author, is_question, tsv"
	rolePassagesSQL        = rolePassageColumns + " from role_passages($1)"
	messageRolePassagesSQL = rolePassageColumns + " from message_role_passages($1)"
)

// RolePassages returns all passages of those of the roles that are in the reader's scope, in the order of role, document and place.
func RolePassages(ctx context.Context, r row.Reader, in Source, roles []policy.Role) ([]RolePassage, error) {
	sql := rolePassagesSQL
	if in == Messages {
		sql = messageRolePassagesSQL
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
			if len(l.Positions) > 0 { // a lexeme of FrequencyMarks has no positions
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
