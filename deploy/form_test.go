package deploy_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The rules of form that no linter knows. In `if err != nil || done { return err }`, a reader has to prove that the returned
// err may be nil: the error is returned first. At most two names are assigned together, and at most four fields of a literal
// stand on a line, except in a row of a table.
func TestForm_OneStatementALine(t *testing.T) {
	t.Parallel()
	var problems []string
	files := goFiles(t, "..")
	for _, path := range files {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		problems = append(problems, formProblems(set, file)...)
	}
	require.Greater(t, len(files), 500)
	require.Empty(t, strings.Join(problems, "\n"))
}

// goFiles returns the files of Go in a folder and below it, without hidden folders.
func goFiles(t *testing.T, folder string) (files []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != ".." {
			return fs.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(path, ".go") {
			files = append(files, path)
		}
		return nil
	}))
	return files
}

// formProblems returns the places of a file that break a rule of form.
func formProblems(set *token.FileSet, file *ast.File) []string {
	var problems []string
	report := func(n ast.Node, problem string) {
		problems = append(problems, fmt.Sprintf("%s: %s", set.Position(n.Pos()), problem))
	}
	rows := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			if hasTwoExits(n) {
				report(n, "return the error first, then ask for the other condition")
			}
		case *ast.AssignStmt:
			if len(n.Rhs) > 2 && !isRotation(n) {
				report(n, "assign at most two names together")
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				rows[e] = true
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					rows[kv.Value] = true
				}
			}
			if !rows[n] && fieldsOnOneLine(set, n) > 4 {
				report(n, "write each field of a literal on its own line")
			}
		}
		return true
	})
	return problems
}

// hasTwoExits reports whether an if returns err for an error and for another condition.
func hasTwoExits(s *ast.IfStmt) bool {
	or, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || or.Op != token.LOR || len(s.Body.List) != 1 {
		return false
	}
	first := or
	for {
		inner, ok := first.X.(*ast.BinaryExpr)
		if !ok || inner.Op != token.LOR {
			break
		}
		first = inner
	}
	isError, ok := first.X.(*ast.BinaryExpr)
	if !ok || isError.Op != token.NEQ || !isIdent(isError.X, "err") || !isIdent(isError.Y, "nil") {
		return false
	}
	exit, ok := s.Body.List[0].(*ast.ReturnStmt)
	return ok && len(exit.Results) > 0 && isIdent(exit.Results[len(exit.Results)-1], "err")
}

// isRotation reports whether an assignment exchanges variables, as a, b, c = b, c, a does: that needs one statement.
func isRotation(s *ast.AssignStmt) bool {
	assigned := map[string]bool{}
	for _, e := range s.Lhs {
		if id, ok := e.(*ast.Ident); ok {
			assigned[id.Name] = true
		}
	}
	for _, e := range s.Rhs {
		id, ok := e.(*ast.Ident)
		if !ok || !assigned[id.Name] {
			return false
		}
	}
	return true
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}

// fieldsOnOneLine returns the largest number of fields of a struct literal that stand on one line.
func fieldsOnOneLine(set *token.FileSet, literal *ast.CompositeLit) int {
	most := 0
	perLine := map[int]int{}
	for _, e := range literal.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return 0
		}
		if _, isField := kv.Key.(*ast.Ident); !isField {
			return 0
		}
		line := set.Position(kv.Pos()).Line
		perLine[line]++
		most = max(most, perLine[line])
	}
	return most
}
