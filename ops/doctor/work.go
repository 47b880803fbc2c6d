package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"multis/config"
	"multis/internal/text"
	"multis/ops/health"
	"multis/store"
)

const failuresSince = 24 * time.Hour

// checkSafeMode finds out whether multis is in safe mode.
func checkSafeMode(ctx context.Context, in *Input) (Result, string) {
	if skipped := in.noDatabase(); skipped != "" {
		return Result{}, skipped
	}
	safe, on, err := store.SafeModeOf(ctx, in.Database.DB())
	if err != nil {
		return failedCheck(err), ""
	}
	if on {
		return oneFinding(SafeMode, fmt.Sprintf("multis has been in safe mode since %s. %s No model is called, and contacts get nothing.",
			in.clockTime(safe.Since), safe.Why),
			in.start()+"   (without --safe; or /safe off in the admin room)"), ""
	}
	return Result{Fact: "off"}, ""
}

// checkJobs checks the jobs and the outbox.
func checkJobs(ctx context.Context, in *Input) (Result, string) {
	if skipped := in.noDatabase(); skipped != "" {
		return Result{}, skipped
	}
	db, now := in.Database.DB(), in.Now()
	var r Result
	failed, err := store.FailedJobs(ctx, db, now.Add(-failuresSince))
	if err != nil {
		return failedCheck(err), ""
	}
	if n, kinds := countJobs(failed); n > 0 {
		r.Findings = append(r.Findings, newFinding(JobsFailed, "",
			fmt.Sprintf("%s failed for good in the last 24 hours (%s).", text.Count(n, "job"), kinds),
			in.log(24)+" | grep -i error   (each line names its cause)"))
	}
	late, err := store.LateJobs(ctx, db, now.Add(-health.MaxJobDelay))
	if err != nil {
		return failedCheck(err), ""
	}
	if n, kinds := countJobs(late); n > 0 {
		r.Findings = append(r.Findings, newFinding(JobsLate, "",
			fmt.Sprintf("%s %s since %s (%s).", text.Count(n, "job"), text.Plural(n, "waits", "wait"), in.clockTime(late[0].Oldest), kinds),
			in.start()))
	}
	lost, err := store.CountFailed(ctx, db, now.Add(-failuresSince))
	if err != nil {
		return failedCheck(err), ""
	}
	if lost > 0 {
		r.Findings = append(r.Findings, newFinding(OutboxFailed, "", text.Count(lost, "message")+" did not arrive in the last 24 hours.",
			"/why and the chat's name   (in the admin room, it says the reason)"))
	}
	r.Fact = "no job failed or waits"
	return r, ""
}

// countJobs returns the number of jobs, and text for people with the number of each kind.
func countJobs(list []store.JobCount) (n int, kinds string) {
	var parts []string
	for _, j := range list {
		n += j.Jobs
		parts = append(parts, fmt.Sprintf("%d %s", j.Jobs, j.Kind))
	}
	const shown = 5
	return n, strings.Join(parts[:min(len(parts), shown)], ", ")
}

func checkBackup(ctx context.Context, in *Input) (Result, string) {
	if skipped := in.noDatabase(); skipped != "" {
		return Result{}, skipped
	}
	var last store.Backup
	if _, err := store.GetSetting(ctx, in.Database.DB(), store.SettingBackup, &last); err != nil {
		return failedCheck(err), ""
	}
	if last.Problem != "" && last.TriedAt.After(last.At) {
		return oneFinding(BackupFailed, fmt.Sprintf("The backup at %s failed: %s.", in.clockTime(last.TriedAt),
			strings.TrimSuffix(text.Clip(text.OneLine(last.Problem), 200), ".")), "multis backup create   (it says what is in the way)"), ""
	}
	known := !last.At.IsZero()
	since, message := last.At, "The last backup is from %s."
	if !known {
		message = "There is no backup, and multis has been running since %s."
		var err error
		if since, err = store.InstalledAt(ctx, in.Database.DB()); err != nil {
			return failedCheck(err), ""
		}
	}
	if now := in.Now(); now.Sub(since) > health.MaxBackupAge || since.After(now) { // by a clock that was wrong
		return oneFinding(BackupOld, fmt.Sprintf(message, in.clockTime(since)), "multis backup create"), ""
	}
	if !known {
		return Result{Fact: "none yet"}, ""
	}
	return Result{Fact: "last one " + in.clockTime(last.At)}, ""
}

// checkModels checks the configured models, each once.
func checkModels(ctx context.Context, in *Input) (Result, string) {
	if in.Config == nil {
		return Result{}, skippedNoConfig
	}
	used := ModelsInUse(in.Config)
	if len(used) == 0 {
		return Result{Fact: "none; multis answers with the passages it finds"}, ""
	}
	var r Result
	var names []string
	for _, m := range used {
		probed := ProbeModel(ctx, in.Models, m.Name, m.Key)
		r.Findings = append(r.Findings, probed.Findings...)
		names = append(names, m.Name+in.examOf(ctx, m.Name))
	}
	r.Fact = strings.Join(names, ", ")
	findings, err := checkExamined(ctx, in)
	if err != nil {
		return failedCheck(err), ""
	}
	r.Findings = append(r.Findings, findings...)
	return r, ""
}

// examOf returns the result of a model's exam behind a dash; empty if the database cannot say.
func (in *Input) examOf(ctx context.Context, model string) string {
	if in.noDatabase() != "" {
		return ""
	}
	e, err := store.ModelExamOf(ctx, in.Database.DB(), model)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return " - never examined (multis models exam " + text.ShellWord(model) + ")"
	case err != nil:
		return ""
	default:
		return " - " + e.Summary
	}
}

// UsedModel is a model that the configuration uses.
type UsedModel struct {
	Name string
	Key  string // replaces the provider's key; empty means the provider's key
}

// ModelsInUse returns the models of llm.model, vision.model, answers.judge and the agents, each once.
func ModelsInUse(c *config.Config) []UsedModel {
	var list []UsedModel
	add := func(value, key string) {
		for _, name := range c.LLM.ResolveModels(value) {
			m := UsedModel{Name: name, Key: key}
			if name != "" && name != config.NoModel && !slices.Contains(list, m) {
				list = append(list, m)
			}
		}
	}
	add(c.LLM.Model, "")
	add(c.Vision.Model, "")
	add(c.Answers.Judge, "")
	for _, a := range c.Agents {
		add(cmp.Or(a.Model, c.LLM.Model), a.APIKey.Value())
	}
	return list
}

// checkBudget checks that paid models have money left.
func checkBudget(ctx context.Context, in *Input) (Result, string) {
	if skipped := in.noDatabase(); skipped != "" {
		return Result{}, skipped
	}
	if !hasPaidModel(in) {
		return Result{Fact: "no paid model"}, ""
	}
	limit := int64(in.Config.Budget.PerDay)
	currency := in.Config.Budget.Currency
	if limit == 0 {
		return oneFinding(BudgetZero, "A paid model is configured and budget.per_day is 0, so it is never called.",
			"multis config set budget.per_day 2"), ""
	}
	usage, err := store.UsageByPurpose(ctx, in.Database.DB(), in.Now().In(in.Config.TimeZone).Format(time.DateOnly))
	if err != nil {
		return failedCheck(err), ""
	}
	var spent int64
	for _, u := range usage {
		spent += u.Amount
	}
	const percent = 98 // from this share on, the rest is too little for a call
	if spent*100 >= limit*percent {
		return oneFinding(BudgetSpent, fmt.Sprintf("Today's budget of %s is used up; answers quote documents until midnight.",
			text.Money(limit, currency)), "multis config set budget.per_day "+(2*in.Config.Budget.PerDay).String()+"   (or wait until midnight)"), ""
	}
	return Result{Fact: fmt.Sprintf("%s of %s used today", text.Money(spent, currency), text.Money(limit, currency))}, ""
}

func hasPaidModel(in *Input) bool {
	for _, m := range ModelsInUse(in.Config) {
		if info, err := in.Models.Describe(m.Name, m.Key); err == nil && (info.Price.In > 0 || info.Price.Out > 0) {
			return true
		}
	}
	return false
}

// checkMonitors finds the monitors whose last check failed.
func checkMonitors(ctx context.Context, in *Input) (Result, string) {
	if skipped := in.noDatabase(); skipped != "" {
		return Result{}, skipped
	}
	all, err := store.Monitors(ctx, in.Database.DB())
	if err != nil {
		return failedCheck(err), ""
	}
	r := Result{Fact: "none"}
	if len(all) > 0 {
		r.Fact = text.Count(len(all), "monitor") + ", none fails"
	}
	for _, m := range all {
		if m.IsFailing() {
			r.Findings = append(r.Findings, newFinding(MonitorFails, m.Name, fmt.Sprintf("The monitor %s has failed since %s: %s.", m.Name,
				in.clockTime(*m.FailingSince), m.Error), "/monitors pause "+m.Name+"   (in the admin room, if you know; else repair what it says)"))
		}
	}
	return r, ""
}

// checkCommands tests the sandbox if agents may run commands.
func checkCommands(ctx context.Context, in *Input) (Result, string) {
	switch {
	case in.Config == nil:
		return Result{}, skippedNoConfig
	case !in.Config.RunsCommands():
		return Result{Fact: "agents run none"}, ""
	case in.TestSandbox == nil:
		return Result{}, "the sandbox is tested on the machine itself"
	}
	level, err := in.TestSandbox(ctx)
	if err != nil && len(in.Config.CommandHooks) > 0 {
		return oneFinding(SandboxOff, "The command hooks (command_hooks) cannot run, so what they are asked about is denied: "+err.Error(),
			"remove command_hooks from config.yaml   (or repair what it says, and start multis again)"), ""
	}
	if err != nil && !in.Config.Exec.Enabled {
		return oneFinding(SandboxOff, "The commands of monitors cannot run, so these monitors fail: "+err.Error(),
			"remove them from config.yaml   (or repair what it says, and start multis again)"), ""
	}
	if err != nil {
		return oneFinding(SandboxOff, "Agents may run commands (exec.enabled) and cannot: "+err.Error(),
			"multis config set exec.enabled false   (or repair what it says, and start multis again)"), ""
	}
	return Result{Fact: "in a sandbox that a test could not escape from: " + level}, ""
}
