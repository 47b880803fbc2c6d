package admin

import (
	"context"
	"slices"
	"strings"

	"multis/agent/skills"
	"multis/internal/text"
	"multis/store"
)

// runSaved starts a saved task, or lists them.
func (ts *TaskCommands) runSaved(_ context.Context, r request, name string) (answer, error) {
	var all []skills.SavedTask
	if ts.saved != nil {
		all = ts.saved.Saved()
	}
	name = strings.ToLower(name)
	i := slices.IndexFunc(all, func(s skills.SavedTask) bool { return strings.ToLower(s.Name) == name })
	switch {
	case len(all) == 0:
		return answer{text: "There are no saved tasks. One is a file in the tasks folder, such as `week.yaml` with `prompt: What was promised this week?`; then `/run week` begins it."}, nil
	case name == "":
		return answer{text: savedText(all)}, nil
	case i < 0:
		reply := "I know no task " + code(text.Clip(name, 40)) + "."
		var names []string
		for _, s := range all {
			names = append(names, s.Name)
		}
		if near := nearest(name, names, 1); len(near) > 0 {
			reply += " Did you mean `/run " + near[0] + "`?"
		}
		return answer{text: reply + " `/run` lists them."}, nil
	case all[i].Problem != "":
		return answer{text: cannotStartText(all[i].Name, all[i].Problem)}, nil
	case !ts.asker.HasModel(r.room, "@"+all[i].Agent):
		return answer{text: "A saved task needs a model: set `llm.model` in config.yaml, or `agents.<name>.model` that of its agent."}, nil
	}
	return answer{reaction: reactionStarted, changeWithText: func(ctx context.Context, tx store.Tx) (string, error) {
		problem, err := ts.saved.Start(ctx, tx, r.room, r.message, all[i].Name)
		if problem != "" {
			problem = cannotStartText(all[i].Name, problem)
		}
		return problem, err
	}}, nil
}

// cannotStartText says why a saved task cannot start.
func cannotStartText(name, problem string) string {
	return "⚠️ " + code(name) + " cannot be begun: " + esc(problem) + "."
}

// savedText lists the saved tasks.
func savedText(all []skills.SavedTask) string {
	lines := []string{"**" + text.Count(len(all), "saved task") + "**"}
	for _, s := range all {
		entry := code("/run " + s.Name)
		if s.Agent != "" {
			entry += " by " + code("@"+s.Agent)
		}
		if s.Problem != "" {
			entry += " ⚠️ " + esc(s.Problem)
		} else {
			entry += " — " + quote(text.OneLine(s.Prompt), 80)
		}
		lines = append(lines, entry)
	}
	return strings.Join(lines, "\n")
}
