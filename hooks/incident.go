package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"multis/outbox"
	"multis/store"
)

// incident is what a monitor says of one thing that it watches: it begins, changes and ends.
type incident struct {
	key  string // the same for all that the monitor says of it; empty if the body names no incident
	ends bool   // nothing of it needs anybody any more
}

// incidentOf reads which incident the body of a monitor is about: a group of alerts of Alertmanager and Grafana, a rule of Grafana before
// version 9, a monitor of Uptime Kuma.
func incidentOf(body node) incident {
	switch {
	case body.at("groupKey").text() != "":
		return incident{keyOf("group", body.at("groupKey").text()), hasEnded(body.at("status").text())}
	case body.at("ruleId").exists() && body.at("state").exists():
		return incident{keyOf("rule", body.at("ruleId").text()), hasEnded(body.at("state").text())}
	case body.at("monitor", "id").exists() && body.at("heartbeat", "status").exists():
		return incident{keyOf("monitor", body.at("monitor", "id").text()), body.at("heartbeat", "status").text() == "1"}
	default:
		return incident{}
	}
}

// hasEnded reports whether a state of Alertmanager or Grafana needs nobody any more.
func hasEnded(state string) bool { return state == "resolved" || state == "ok" }

func keyOf(kind, name string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + name))
	return hex.EncodeToString(sum[:])
}

// show shows the owner what a monitor says. What it says of an open incident replaces the message about it, if that was sent to the room
// that is used now; what ends it is not announced again.
func (in *Webhooks) show(ctx context.Context, tx store.Tx, watch store.WatchID, i incident, text string) error {
	if i.key == "" {
		return in.box.NotifyOwner(ctx, tx, outbox.Alert, text)
	}
	room, err := outbox.AdminRoom(ctx, tx)
	if err != nil {
		return err
	}
	var shown *store.OutboxMessage
	message, err := store.IncidentMessage(ctx, tx, watch, i.key)
	switch {
	case err == nil:
		shown = &message
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	out, isNew, err := in.box.QueueIncident(ctx, tx, room, shown, outbox.Alert, text)
	switch {
	case err != nil:
		return err
	case i.ends:
		return store.EndIncident(ctx, tx, watch, i.key)
	case isNew:
		return store.PutIncident(ctx, tx, watch, i.key, out)
	default:
		return nil
	}
}
