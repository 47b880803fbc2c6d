package persona

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
)

func TestPersonaFile_HugeOrMissingIsSkipped(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	huge, err := os.Create(filepath.Join(folder, "AGENTS.md"))
	require.NoError(t, err)
	_, err = huge.WriteString("Be calm. ")
	require.NoError(t, err)
	require.NoError(t, huge.Truncate(1<<40), "a terabyte, most of it a hole")
	require.NoError(t, huge.Close())
	for _, name := range []string{"SOUL.md", "HEARTBEAT.md"} {
		require.NoError(t, syscall.Mkfifo(filepath.Join(folder, name), 0o600), "nobody ever writes into it")
	}
	require.NoError(t, os.Mkdir(filepath.Join(folder, "IDENTITY.md"), 0o700))
	p := Persona{Workspace: folder}
	said, _ := p.ContactPrompt()
	require.Contains(t, said, "## AGENTS.md\nBe calm. ")
	require.Contains(t, said, "[AGENTS.md is cut here: 8000 of 1099511627776 bytes]")
	require.Contains(t, said, "[not written yet: SOUL.md, IDENTITY.md]")
	require.Empty(t, p.HeartbeatItems())
}

// The tools that write files ask about these by their names.
func TestPersonaFiles_CountAsInstructions(t *testing.T) {
	t.Parallel()
	require.Subset(t, tools.InstructionFiles, slices.Concat(contactFiles, workerFiles, ownerFiles))
}
