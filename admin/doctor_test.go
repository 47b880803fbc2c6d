package admin_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"multis/business/hours"
	"multis/config"
	"multis/ops/doctor"
)

// examined is an examiner with a fixed result.
type examined struct{ findings *[]doctor.Finding }

func (e examined) Examine(context.Context) doctor.Report {
	return doctor.Report{Sections: []doctor.Section{{Name: "bridges", Findings: *e.findings}}}
}

func TestDoctor_FindingsCountInStatus(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var found []doctor.Finding
	r.examiner = examined{&found}
	r.restart()
	ana := r.chat("Ana", "whatsapp")
	r.chat("Bob", "signal")

	require.Contains(t, r.asOwner("/doctor"), "nothing is wrong")
	require.NotContains(t, r.asOwner("/status"), "finding")

	found = []doctor.Finding{
		{ID: doctor.BridgeDown, Severity: doctor.Error, Message: "WhatsApp says: logged out.", Fix: "write login", Network: "whatsapp"},
		{
			ID: doctor.ChatsUnreadable, Severity: doctor.Warning, Message: "2 messages in Ana cannot be read.", Fix: "multis verify",
			Chat: int64(ana.ID), Network: "whatsapp",
		},
	}
	require.Contains(t, r.asOwner("/status"), "2 findings: `/doctor`")
	all := r.asOwner("/doctor")
	require.Contains(t, all, "❌ WhatsApp says: logged out.")
	require.Contains(t, all, "`multis verify`")
	require.Contains(t, r.asOwner("/doctor whatsapp"), "2 findings")
	require.Contains(t, r.asOwner("/doctor signal"), "nothing is wrong")
	require.Contains(t, r.asOwner("/doctor Ana"), "2 messages in Ana")
	require.Contains(t, r.asOwner("/doctor Bob"), "nothing is wrong")
	require.Contains(t, r.asOwner("/doctor chats"), "1 finding")
	require.Contains(t, r.asOwner("/doctor bridge.down"), "logged out")
	for shout, said := range map[string]string{
		"/doctor BRIDGE.DOWN": "logged out", "/doctor WHATSAPP": "2 findings",
		"/doctor ANA": "2 messages in Ana", "/DOCTOR Chats": "1 finding",
	} {
		require.Contains(t, r.asOwner(shout), said)
	}
}

// oneKeyConfig allows one key.
type oneKeyConfig struct{}

func (oneKeyConfig) Values(settings map[string]string) ([]config.Entry, error) {
	if v, ok := settings["budget.per_day"]; ok {
		return []config.Entry{{Key: "budget.per_day", Value: v, Source: "set in chat"}}, nil
	}
	return []config.Entry{{Key: "budget.per_day", Value: "2"}}, nil
}

func (oneKeyConfig) Holidays(map[string]string) ([]hours.Days, error) { return nil, nil }

func (oneKeyConfig) Check(_ map[string]string, key, value string) error {
	if key != "budget.per_day" || value == "much" {
		return errors.New(key + " cannot be " + value)
	}
	return nil
}

func TestConfig_SetsOnlyAllowedKeys(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config = oneKeyConfig{}
	r.restart()
	require.Contains(t, r.asOwner("/config"), "`budget.per_day` 2")
	require.Contains(t, r.asOwner("/config set owner @eve:example.com"), "Not set: owner cannot be")
	require.Contains(t, r.asOwner("/config set budget.per_day much"), "Not set")
	require.Equal(t, 0, r.count("select count(*) from settings where key like 'config:%'"))
	require.Contains(t, r.asOwner("/config set budget.per_day 3"), "is **3** from now on")
	require.Contains(t, r.asOwner("/config get budget"), "`budget.per_day` 3 · set in chat")
	require.Contains(t, r.asOwner("/config reset budget.per_day"), "as in config.yaml again")
	require.Contains(t, r.asOwner("/config"), "`budget.per_day` 2")
	require.Contains(t, r.asOwner("/config get nonsense"), "`/config` lists them, and `multis config get` on the machine all others.")
	require.Contains(t, r.asOwner("/config set budget.per_day"), "Try `/config set budget.per_day 3`")
	require.Contains(t, r.asOperator("/config set budget.per_day 9"), "Only the owner can use")
}
