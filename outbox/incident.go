package outbox

import (
	"context"
	"time"

	"github.com/google/uuid"

	"multis/store"
)

// maxIncident is how long the message about an incident is edited. After that it is announced again: what ended it may be lost.
const maxIncident = 24 * time.Hour

// QueueIncident queues what is new about an incident to a room. It replaces shown, the message about the incident, if that was sent to the
// room in the last day: quietly, without a new message. Otherwise it is a notice of the given kind, whose id is returned. shown may be nil.
func (b *Box) QueueIncident(ctx context.Context, tx store.Tx, room store.Chat, shown *store.OutboxMessage, kind NoticeKind,
	markdown string,
) (message uuid.UUID, isNew bool, err error) {
	isShown := shown != nil && shown.EventID != nil && shown.ChatID == room.ID && !shown.IsErased() &&
		time.Since(shown.CreatedAt) < maxIncident
	if isShown {
		kind = Quiet
	}
	m := NewNotice(room, markdown, kind)
	if isShown {
		m.Replaces = *shown.EventID
	}
	message, _, err = b.Queue(ctx, tx, m)
	return message, !isShown, err
}
