package tools_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/policy/rules"
)

func TestInstructions_WritingNeedsApproval(t *testing.T) {
	t.Parallel()
	own, err := rules.Parse("own.yaml", []byte("rules:\n  - {role: owner, decision: allow}"))
	require.NoError(t, err)
	set, err := rules.New(own, rules.Vocabulary{})
	require.NoError(t, err)
	workspace := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(workspace, "skills"), 0o700))
	require.NoError(t, os.Symlink("skills", filepath.Join(workspace, "link")))
	aliased := filepath.Join(t.TempDir(), "alias")
	require.NoError(t, os.Symlink(workspace, aliased))
	r := tools.NewRegistry(tools.NewRulePolicy(set, time.UTC, nil), tools.WriteFile{}, tools.EditFile{})
	for path, asked := range map[string]bool{
		"AGENTS.md": true, "./AGENTS.md": true, "agents.MD": true, "SOUL.md": true, "HEARTBEAT.md": true, "notes/../TOOLS.md": true,
		"skills/calm.md": true, "Skills/calm.md": true,
		"link/calm.md": true, filepath.Join(workspace, "USER.md"): true,
		"notes.md": false, "AGENTS.md.old": false, "notes/AGENTS.md": false, "notes/skills/calm.md": false,
	} {
		for _, folder := range []string{workspace, aliased} {
			if filepath.IsAbs(path) && folder == aliased {
				continue
			}
			for _, tool := range []string{"write_file", "edit_file"} {
				c := tools.Call{
					ID:     "1",
					Name:   tool,
					Args:   []byte(`{"path": "` + path + `"}`),
					Caller: tools.Caller{Owner: true, Surface: rules.SurfaceOwner, Workspace: folder},
				}
				_, v, err := r.Judge(t.Context(), c)
				require.NoError(t, err)
				require.Equal(t, asked, v.Ask, "%s of %s in %s: %s", tool, path, folder, v.Why)
				require.Equal(t, !asked, v.Allow)
				if asked {
					require.Contains(t, v.Note, "tells the agent how to work")
				}
				e, err := r.Explain(c)
				require.NoError(t, err)
				require.Equal(t, asked, e.Verdict.Decision == rules.Confirm, e.Verdict.Sentence())
			}
		}
	}
}
