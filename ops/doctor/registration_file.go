package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/user"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"multis/config"
	"multis/internal/plainfile"
	"multis/internal/sleep"
	"multis/internal/text"
	"multis/ops/health"
)

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// maxYAMLBytes is the maximum size of a YAML file of another program that is read.
const maxYAMLBytes = 4 << 20

// readYAML reads a YAML file as keys and values.
func readYAML(path string) (map[string]any, error) {
	data, err := plainfile.Read(path, maxYAMLBytes)
	if err != nil {
		return nil, err
	}
	var content map[string]any
	if err := yaml.Unmarshal(data, &content); err != nil {
		return nil, fmt.Errorf("%s is not valid YAML", path)
	}
	return content, nil
}

// registrationOf returns the registration that a configuration asks for, as keys and values.
func registrationOf(c *config.Config) (map[string]any, error) {
	text, err := config.Registration(c)
	if err != nil {
		return nil, err
	}
	var content map[string]any
	if err := yaml.Unmarshal(text, &content); err != nil {
		return nil, fmt.Errorf("read the registration: %w", err)
	}
	return content, nil
}

// differences returns the keys of the wanted registration that are missing or different in the existing one. Additional
// keys of the existing one do not count.
func differences(want, existing map[string]any) []string {
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if !reflect.DeepEqual(want[key], existing[key]) {
			keys = append(keys, key)
		}
	}
	return keys
}

// checkRegistration checks the registration: the file of multis, those that Synapse is told to load, and what Synapse has loaded.
func checkRegistration(ctx context.Context, in *Input) (Result, string) {
	if in.Config == nil {
		return Result{}, skippedNoConfig
	}
	want, err := registrationOf(in.Config)
	if err != nil {
		return failedCheck(err), ""
	}
	var r Result
	r.Findings = append(r.Findings, checkRegistrationFile(in, want)...)
	installed, found := checkSynapseFiles(in, want)
	r.Findings = append(r.Findings, found...)
	if _, err := in.Homeserver.Server(ctx); err != nil { // whatever answers at that address has not loaded it
		if r.OK() {
			return r, notAnswered(err)
		}
		return r, ""
	}
	loaded := probeRegistration(ctx, in.Homeserver, in.Config, in.installFix())
	loaded.Findings = append(loaded.Findings, checkRateLimit(ctx, in, loaded)...)
	for i, f := range loaded.Findings {
		if installed && strings.HasPrefix(string(f.ID), "registration.") {
			loaded.Findings[i] = newFinding(RegistrationRestart, f.Subject,
				"Synapse has not been restarted since its registration file changed: "+lowerFirst(f.Message),
				in.restartSynapse()+"   (if it stays, homeserver.address leads to another homeserver)")
		}
	}
	if len(found) > 0 { // these findings explain why Synapse has not loaded the right one
		loaded.Findings = slices.DeleteFunc(loaded.Findings, func(f Finding) bool { return strings.HasPrefix(string(f.ID), "registration.") })
	}
	r.Fact, r.Findings = loaded.Fact, append(r.Findings, unique(loaded.Findings)...)
	return r, ""
}

// unique returns the first finding of each id.
func unique(list []Finding) []Finding {
	var kept []Finding
	for _, f := range list {
		if !slices.ContainsFunc(kept, func(k Finding) bool { return k.ID == f.ID }) {
			kept = append(kept, f)
		}
	}
	return kept
}

func lowerFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// checkRegistrationFile compares the file that multis -g wrote with the configuration.
func checkRegistrationFile(in *Input, want map[string]any) []Finding {
	path := in.Paths.Registration
	existing, err := readYAML(path)
	if errors.Is(err, os.ErrNotExist) || path == "" {
		return nil // it may have been moved to Synapse
	}
	if err != nil {
		return []Finding{newFinding(RegistrationFile, path, fmt.Sprintf("The registration cannot be read: %v.", err),
			"multis -g -r "+text.ShellWord(path))}
	}
	var found []Finding
	if keys := differences(want, existing); len(keys) > 0 {
		found = append(found, newFinding(RegistrationFile, path,
			fmt.Sprintf("%s is older than config.yaml: %s differ.", path, strings.Join(keys, ", ")), "multis -g -r "+text.ShellWord(path)))
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o004 != 0 {
		found = append(found, newFinding(RegistrationPermissions, path,
			fmt.Sprintf("Every user of this machine can read %s, which opens your Matrix account.", path), chmodLine(path)))
	}
	return found
}

// checkSynapseFiles checks the registrations that Synapse is told to load. installed is true if one of them is that of the configuration.
func checkSynapseFiles(in *Input, want map[string]any) (installed bool, found []Finding) {
	if in.Synapse == nil {
		return false, nil
	}
	for _, path := range in.Synapse.Registrations {
		existing, err := readYAML(path)
		if err != nil {
			if errors.Is(err, os.ErrPermission) {
				return false, nil
			}
			continue
		}
		if existing["id"] != want["id"] && existing["as_token"] != want["as_token"] {
			continue
		}
		keys := differences(want, existing)
		if len(keys) == 0 {
			return true, nil
		}
		return false, []Finding{newFinding(RegistrationDrift, path,
			fmt.Sprintf("%s, which Synapse loads, is not what config.yaml asks for: %s differ.", path, strings.Join(keys, ", ")), in.installFix())}
	}
	return false, []Finding{newFinding(RegistrationMissing, in.Synapse.Config,
		"Synapse's configuration ("+in.Synapse.Config+") names no registration of multis.", in.installFix())}
}

// checkRateLimit checks that the homeserver does not limit multis.
func checkRateLimit(ctx context.Context, in *Input, loaded Result) []Finding {
	if !loaded.OK() || loaded.Fact == "" {
		return nil
	}
	rooms, err := in.Homeserver.JoinedRooms(ctx, in.Config.Owner)
	if err != nil {
		return nil
	}
	if len(rooms) == 0 {
		return nil
	}
	limited, err := in.Homeserver.IsRateLimited(ctx, rooms[0])
	if err != nil {
		return nil
	}
	if !limited {
		return nil
	}
	return []Finding{newFinding(RegistrationRateLimit, "",
		"The homeserver limits the requests of multis, so answers come late: the registration in Synapse lacks rate_limited: false.",
		in.installFix())}
}

// stopped is the result when multis does not run.
func stopped(ctx context.Context, in *Input) Result {
	if in.Restore.File != "" {
		return Result{Findings: []Finding{in.Restore.finding(MultisStopped)}}
	}
	if in.IsStarting != nil && in.IsStarting(ctx) {
		return oneFinding(MultisStopped,
			"multis is being started and does not answer yet: it makes a backup, changes the database, or waits for one.",
			in.log(1)+"   (says what it does)")
	}
	if in.StopReason != nil {
		if why := strings.TrimSuffix(text.Clip(text.OneLine(in.StopReason(ctx)), 400), "."); why != "" {
			return oneFinding(MultisStopped, "multis does not run. It ended last with: "+why+".",
				"correct that, then "+in.start()+"   ("+in.log(1)+" shows more)")
		}
	}
	return oneFinding(MultisStopped, "multis does not run.", in.start())
}

// awaitListening is health.IsListening, but gives a service that is just being started or restarted some time.
func awaitListening(ctx context.Context, in *Input) (answers, other bool) {
	const patience, pause = 5 * time.Second, 100 * time.Millisecond
	for until := time.Now().Add(patience); ; {
		answers, other = health.IsListening(ctx, in.Config.Appservice.LocalAddr())
		if answers || in.IsStarting == nil || !in.IsStarting(ctx) || time.Now().After(until) {
			return answers, other
		}
		if sleep.For(ctx, pause) != nil {
			return answers, other
		}
	}
}

// checkRunning checks that multis runs and that the homeserver reaches it.
func checkRunning(ctx context.Context, in *Input) (Result, string) {
	if in.Config == nil {
		return Result{}, skippedNoConfig
	}
	switch answers, other := awaitListening(ctx, in); {
	case other:
		return oneFinding(PingOther, fmt.Sprintf("A different program answers at %s.", in.Config.Appservice.LocalAddr()),
			fmt.Sprintf("appservice.port: a port that no other program uses   (then multis -g; ss -ltnp | grep %d shows which program it is)",
				in.Config.Appservice.Port)), ""
	case !answers:
		return stopped(ctx, in), ""
	}
	return probePing(ctx, in.Homeserver, in.Config, in.installFix(), in.start())
}
