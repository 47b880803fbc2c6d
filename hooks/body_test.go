package hooks

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSummary_ReadsKnownPrograms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want string }{
		"Alertmanager": {
			`{"receiver":"m","status":"firing","alerts":[{"status":"firing","labels":{"alertname":"Disk","instance":"nas:9100"},"annotations":{"summary":"disk full on nas"}}],"groupKey":"{}","version":"4"}`,
			"🔴 Disk firing — disk full on nas, nas:9100",
		},
		"Alertmanager, resolved": {
			`{"status":"resolved","alerts":[{"status":"resolved","labels":{"alertname":"Disk","job":"nas"}}],"groupKey":"{}"}`,
			"✅ Disk resolved — job: nas",
		},
		"Grafana": {
			`{"receiver":"","status":"firing","title":"[FIRING:1] Hot","message":"**Firing** Value: A=22 Labels: - alertname = Hot","alerts":[{"status":"firing","labels":{"alertname":"Hot"},"annotations":{"description":"It is hot"},"valueString":"A"}]}`,
			"🔴 Hot firing — It is hot",
		},
		"Grafana 8":   {`{"ruleName":"Hot","state":"alerting","message":"It is hot","evalMatches":[]}`, "🔴 Hot alerting — It is hot"},
		"GitHub push": {`{"ref":"refs/heads/main","commits":[{"message":"a\n\nb"},{"message":"Mend it\n\nWhy"}],"repository":{"full_name":"o/r"},"sender":{"login":"ana"}}`, "ana pushed 2 commits to main in o/r — Mend it"},
		"GitHub issue comment": {
			`{"action":"created","issue":{"number":7,"title":"Broken"},"comment":{"body":"Same here"},"repository":{"full_name":"o/r"},"sender":{"login":"ana"}}`,
			"ana created a comment on #7 in o/r — Broken — Same here",
		},
		"GitHub pull request": {
			`{"action":"closed","number":7,"pull_request":{"number":7,"title":"Mend it","merged":true},"repository":{"full_name":"o/r"},"sender":{"login":"ana"}}`,
			"ana merged the pull request #7 in o/r — Mend it",
		},
		"GitHub workflow": {
			`{"action":"completed","workflow_run":{"name":"CI","head_branch":"main","conclusion":"failure"},"repository":{"full_name":"o/r"},"sender":{"login":"ana"}}`,
			"🔴 CI in o/r (main): failure",
		},
		"GitHub star": {`{"action":"created","starred_at":"x","repository":{"full_name":"o/r"},"sender":{"login":"ana"}}`, "ana: created in o/r"},
		"GitLab pipeline": {
			`{"object_kind":"pipeline","object_attributes":{"ref":"main","status":"failed"},"user":{"name":"Ana"},"project":{"path_with_namespace":"o/r"}}`,
			"🔴 pipeline in o/r (main): failed",
		},
		"GitLab merge request": {
			`{"object_kind":"merge_request","object_attributes":{"iid":3,"title":"Mend it","action":"open"},"user":{"name":"Ana"},"project":{"path_with_namespace":"o/r"}}`,
			"Ana: merge request #3 open in o/r — Mend it",
		},
		"Bitbucket comment": {
			`{"actor":{"display_name":"Ana"},"repository":{"full_name":"o/r"},"pullrequest":{"id":7,"title":"Mend it"},"comment":{"content":{"raw":"Fine","html":"<p>Fine</p>"}}}`,
			"Ana: a comment on the pull request #7 in o/r — Mend it — Fine",
		},
		"Bitbucket push": {
			`{"actor":{"display_name":"Ana"},"repository":{"full_name":"o/r"},"push":{"changes":[{"new":{"name":"main"},"commits":[{"message":"Mend it\n\nWhy"}]}]}}`,
			"Ana pushed 1 commit to main in o/r — Mend it",
		},
		"Bitbucket build": {
			`{"actor":{"display_name":"Ana"},"repository":{"full_name":"o/r"},"commit_status":{"name":"CI","state":"SUCCESSFUL","description":"all passed"}}`,
			"✅ CI in o/r: successful — all passed",
		},
		"Bitbucket server": {
			`{"eventKey":"pr:merged","actor":{"displayName":"Ana","active":true},"pullRequest":{"id":7,"title":"Mend it","toRef":{"repository":{"slug":"r"}}}}`,
			"Ana: pr merged on the pull request #7 in r — Mend it",
		},
		"Azure DevOps": {`{"eventType":"git.push","message":{"text":"Ana pushed 1 commit","html":"<a>Ana</a> pushed"}}`, "Ana pushed 1 commit"},
		"Slack":        {`{"text":"hello"}`, "hello"},
		"Slack blocks": {`{"blocks":[{"type":"header","text":{"type":"plain_text","text":"Backup"}},{"type":"section","fields":[{"type":"mrkdwn","text":"failed on nas"}]}]}`, "Backup — failed on nas"},
		"Slack attached": {
			`{"attachments":[{"fallback":"x","title":"Backup","text":"failed","fields":[{"title":"host","value":"nas"}]}]}`,
			"Backup — failed — host: nas",
		},
		"Discord": {
			`{"content":"","embeds":[{"title":"Backup","description":"failed","fields":[{"name":"host","value":"nas"}]}]}`,
			"Backup — failed — host: nas",
		},
		"Teams": {
			`{"@type":"MessageCard","title":"Backup","sections":[{"facts":[{"name":"host","value":"nas"}]}]}`,
			"Backup — host: nas",
		},
		"Teams, adaptive": {
			`{"type":"message","attachments":[{"content":{"body":[{"type":"TextBlock","text":"Backup failed"}]}}]}`,
			"Backup failed",
		},
		"Sentry": {
			`{"action":"created","data":{"issue":{"title":"KeyError: x","culprit":"shop.pay"}},"installation":{"uuid":"a"}}`,
			"Sentry created — KeyError: x — shop.pay",
		},
		"Uptime Kuma": {
			`{"heartbeat":{"monitorID":1,"status":0,"msg":"timeout"},"monitor":{"name":"Shop"},"msg":"[Shop] [🔴 Down] timeout"}`,
			"🔴 Shop is down: timeout",
		},
		"Uptime Kuma try": {`{"heartbeat":null,"monitor":null,"msg":"Test"}`, "Test"},
		"CloudEvents": {
			`{"specversion":"1.0","id":"1","type":"order.created","source":"/shop","data":{"message":"one cake"}}`,
			"order.created from /shop — one cake",
		},
		"unknown": {
			`{"id":5,"state":{"name":"backup","ok":false,"size_mb":12.5},"url":"https://example.com"}`,
			"name: backup, ok: false, size mb: 12.5",
		},
		"list":    {`[{"host":"nas"},{"host":"web"}]`, "host: nas, host: web"},
		"text":    {`"done"`, "done"},
		"nothing": {`{"id":"5"}`, "(nothing was said)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said := summary("application/json", []byte(c.body))
			require.Equal(t, c.want, strings.ReplaceAll(said, `\`, ""))
		})
	}
	require.Equal(t, "Test", summary("application/x-www-form-urlencoded", []byte(`payload=%7B%22text%22%3A%22Test%22%7D`)))
}
