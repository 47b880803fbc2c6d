package web_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/ops/doctor"
	"multis/ops/health"
)

func TestDoctor_ShowsFindingsAndChecks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.checks.Checks = []health.Check{
		{Name: "intake", Status: health.OK, Detail: "last push 2 s ago"},
		{Name: "disk", Status: health.Failed, Detail: "only 0.2 GiB free"},
	}
	r.report = doctor.Report{At: r.now, Sections: []doctor.Section{{
		Name: "bridges", Fact: "3 bridges",
		Findings: []doctor.Finding{{
			ID: "bridge.down", Severity: doctor.Error, Message: "WhatsApp says: <b>logged out</b>.",
			Fix: "login qr", Network: "whatsapp",
		}},
	}}}
	page := r.get("/doctor")
	for _, want := range []string{
		"<h1>1 finding</h1>", "WhatsApp says: &lt;b&gt;logged out&lt;/b&gt;.", "<code>login qr</code>", "/doctor whatsapp",
		"last push 2 s ago", "only 0.2 GiB free", "3 bridges", `aria-current="page">Health <span class="count quiet">1</span>`,
	} {
		require.Contains(t, page, want)
	}
}

// hostileSection is a part of the installation whose texts others have written.
func hostileSection() doctor.Section {
	return doctor.Section{Name: "bridges", Fact: hostile, Findings: []doctor.Finding{{
		ID: "bridge.down", Severity: doctor.Warning, Message: hostile, Fix: hostile, Network: "whatsapp",
	}}}
}
