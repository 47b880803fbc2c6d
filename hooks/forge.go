package hooks

import (
	"cmp"
	"strconv"
	"strings"

	"multis/internal/text"
)

// maxComment is the length to which a comment is cut, in characters.
const maxComment = 300

// readGitHub reads what GitHub, Gitea and Forgejo send about a repository or an organization.
func readGitHub(b node) string {
	where := b.first("repository.full_name", "organization.login", "enterprise.name", "installation.account.login")
	who := cmp.Or(b.first("sender.login", "pusher.name", "sender.username"), "somebody")
	if zen := b.at("zen").text(); zen != "" && b.at("hook").exists() {
		return sentence(" — ", sentence(" ", "GitHub will call this address for", cmp.Or(where, "its events")), zen)
	}
	if where == "" || !b.at("sender").exists() && !b.at("pusher").exists() {
		return ""
	}
	if commits := b.at("commits"); commits.exists() && b.at("ref").exists() {
		return pushText(who, where, b.at("ref").text(), commits, b.at("deleted").text() == "true")
	}
	action := strings.ReplaceAll(b.at("action").text(), "_", " ")
	if said := githubRun(b, where); said != "" {
		return said
	}
	for _, kind := range []struct{ name, noun string }{
		{"comment", "comment"},
		{"review", "review"},
		{"pull_request", "pull request"},
		{"issue", "issue"},
		{"discussion", "discussion"},
		{"release", "release"},
		{"alert", "alert"},
		{"security_advisory", "security advisory"},
		{"milestone", "milestone"},
		{"label", "label"},
		{"deployment_status", "deployment"},
		{"deployment", "deployment"},
		{"project", "project"},
		{"member", "member"},
		{"team", "team"},
		{"package", "package"},
		{"registry_package", "package"},
		{"branch_protection_rule", "branch protection"},
		{"key", "key"},
		{"forkee", "fork"},
	} {
		if part := b.at(kind.name); part.exists() {
			return githubItem(b, part, who, cmp.Or(action, "changed"), kind.noun, where)
		}
	}
	if ref := b.at("ref").text(); ref != "" && b.at("ref_type").exists() {
		return sentence(" ", who, cmp.Or(action, "changed"), "the", b.at("ref_type").text(), ref, "in", where)
	}
	if state := b.at("state").text(); state != "" && b.at("sha").exists() {
		return stateSign(state) + sentence(" — ", sentence(" ", cmp.Or(b.at("context").text(), "status"), "in", where+":", state),
			b.at("description").text())
	}
	return sentence(" — ", sentence(" ", who+":", cmp.Or(action, "an event"), "in", where),
		sentence(", ", valuesBelow("", b.at("changes"), 2)...))
}

// githubRun reads the result of a workflow, a check, or a job.
func githubRun(b node, where string) string {
	for _, name := range []string{"workflow_run", "workflow_job", "check_run", "check_suite"} {
		run := b.at(name)
		if !run.exists() {
			continue
		}
		state := cmp.Or(run.at("conclusion").text(), run.at("status").text())
		title := cmp.Or(run.first("name", "app.name"), strings.ReplaceAll(name, "_", " "))
		return stateSign(state) + sentence(" ", title, "in", where+inBranch(run.first("head_branch", "check_suite.head_branch"))+":",
			strings.ReplaceAll(state, "_", " "))
	}
	return ""
}

// inBranch returns a branch in parentheses; empty for none.
func inBranch(name string) string {
	if name == "" {
		return ""
	}
	return " (" + name + ")"
}

// githubItem returns a sentence about an issue, a pull request, or another thing with an action.
func githubItem(b, part node, who, action, noun, where string) string {
	title := part.first("title", "name", "tag_name", "login", "slug", "summary", "security_advisory.summary", "rule.description", "state",
		"environment")
	number := part.at("number").text()
	if noun == "comment" || noun == "review" {
		for _, about := range []string{"pull_request", "issue", "discussion"} {
			if on := b.at(about); on.exists() {
				title, number = on.at("title").text(), on.at("number").text()
			}
		}
		return sentence(" — ", sentence(" ", who, action, "a", noun, "on", strings.TrimSuffix("#"+number, "#"), "in", where), title,
			text.Clip(part.at("body").text(), maxComment))
	}
	if number != "" {
		number = "#" + number
	}
	if noun == "pull request" && action == "closed" && part.at("merged").text() == "true" {
		action = "merged"
	}
	return sentence(" — ", sentence(" ", who, action, "the", noun, number, "in", where), title)
}

// pushText returns a sentence about commits that were pushed.
func pushText(who, where, ref string, commits node, isDeleted bool) string {
	branch := strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"), "refs/tags/")
	list := commits.list()
	if len(list) == 0 {
		verb := "pushed"
		if isDeleted {
			verb = "deleted"
		}
		return sentence(" ", who, verb, branch, "in", where)
	}
	first, _, _ := strings.Cut(list[len(list)-1].at("message").lines(), "\n")
	return sentence(" — ", sentence(" ", who, "pushed", text.Count(len(list), "commit"), "to", branch, "in", where), first)
}

// readGitLab reads what GitLab sends about a project.
func readGitLab(b node) string {
	kind := cmp.Or(b.at("object_kind").text(), b.at("event_name").text())
	where := b.first("project.path_with_namespace", "project.name", "project_name", "group.full_path", "group_path")
	if kind == "" || where == "" {
		return ""
	}
	who := cmp.Or(b.first("user.name", "user_name", "user.username"), "somebody")
	about := b.at("object_attributes")
	switch kind {
	case "push", "tag_push":
		return pushText(who, where, b.at("ref").text(), b.at("commits"), strings.Trim(b.at("after").text(), "0") == "" && b.at("after").exists())
	case "note":
		on := b.first("merge_request.title", "issue.title", "snippet.title", "commit.message")
		return sentence(" — ", sentence(" ", who, "commented in", where), on, text.Clip(about.at("note").text(), maxComment))
	case "pipeline", "build":
		state := cmp.Or(about.at("status").text(), b.at("build_status").text())
		branch := inBranch(cmp.Or(about.at("ref").text(), b.at("ref").text()))
		return stateSign(state) + sentence(" ", cmp.Or(b.at("build_name").text(), "pipeline"), "in", where+branch+":", state)
	}
	number := about.at("iid").text()
	if _, err := strconv.Atoi(number); err == nil {
		number = "#" + number
	}
	action := cmp.Or(about.at("action").text(), b.first("action", "status"), "changed")
	return sentence(" — ", sentence(" ", who+":", strings.ReplaceAll(kind, "_", " "), number, action, "in", where),
		cmp.Or(about.first("title", "name"), b.first("name", "tag", "title", "commit_title", "environment")))
}

// readBitbucket reads what Bitbucket sends about a repository, from its cloud and from a server.
func readBitbucket(b node) string {
	who := b.first("actor.display_name", "actor.displayName")
	where := b.first("repository.full_name", "repository.slug", "pullRequest.toRef.repository.slug")
	if who == "" || where == "" {
		return ""
	}
	if status := b.at("commit_status"); status.exists() {
		state := strings.ToLower(status.at("state").text())
		return stateSign(state) + sentence(" — ", sentence(" ", status.at("name").text(), "in", where+":", state),
			status.at("description").text())
	}
	if changes := append(b.at("push", "changes").list(), b.at("changes").list()...); len(changes) > 0 {
		first := changes[0]
		isDeleted := first.at("closed").text() == "true" || first.at("type").text() == "DELETE"
		return pushText(who, where, first.first("new.name", "old.name", "ref.displayId"), first.at("commits"), isDeleted)
	}
	said := strings.NewReplacer(":", " ", "_", " ").Replace(b.at("eventKey").text()) // that of the cloud is in a header only
	if said == "" && b.at("comment").exists() {
		said = "a comment"
	}
	return sentence(" — ", sentence(" ", who+":", cmp.Or(said, "an event"), bitbucketItem(b), "in", where),
		b.first("pullrequest.title", "pullRequest.title", "issue.title"), text.Clip(b.first("comment.content.raw", "comment.text"), maxComment))
}

// bitbucketItem returns what an event of Bitbucket is about: "on the pull request #7"; empty for the repository itself.
func bitbucketItem(b node) string {
	for _, kind := range []struct{ name, noun string }{{"pullrequest", "pull request"}, {"pullRequest", "pull request"}, {"issue", "issue"}} {
		if part := b.at(kind.name); part.exists() {
			return strings.TrimSuffix("on the "+kind.noun+" #"+part.at("id").text(), " #")
		}
	}
	return ""
}
