package store

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"multis/store/row"
)

// AuditEntry is a row of the audit log. Package audit makes, checks and describes them.
type AuditEntry struct {
	ID        int64
	At        time.Time
	Kind      string
	Actor     string
	Person    []byte // keyed hash of a Matrix id; nil for none
	Agent     string
	ChatID    ChatID
	MessageID MessageID
	TaskID    TaskID
	Ref       string
	Action    string
	Outcome   string
	Rule      string
	Content   []byte // keyed hash; nil for none
}

// AuditLink is an entry with its place in the chain. An entry without a link has Seq 0, and a link without an entry has ID 0: neither
// happens unless somebody changed the tables.
type AuditLink struct {
	Seq  int64
	Hash []byte
	AuditEntry
}

// AuditPoint is a place in the chain: a position and the hash of its link.
type AuditPoint struct {
	Seq  int64
	Hash []byte
}

// AuditCheckpoint is where the log was pruned: the links up to Seq are gone.
type AuditCheckpoint struct {
	AuditPoint
	Signature []byte
}

const addAuditSQL = `insert into audit_entries (kind, actor, person, agent, chat_id, message_id, task_id, ref, action, outcome, rule, content)
	values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

// AddAudit adds an entry to the audit log. The database sets its id and time. The commit links it to the chain.
func AddAudit(ctx context.Context, tx Tx, e AuditEntry) error {
	return row.Exec(ctx, tx, "write the audit log", addAuditSQL,
		e.Kind, e.Actor, e.Person, e.Agent, e.ChatID, e.MessageID, e.TaskID, e.Ref, e.Action, e.Outcome, e.Rule, e.Content)
}

const setActorSQL = "select set_config('multis.actor', $1, true)"

// SetActor sets the actor of the audit entries that triggers write in this transaction (migrations/functions/audit.sql).
// The default is "system".
func SetActor(ctx context.Context, tx Tx, actor string) error {
	return row.Exec(ctx, tx, "name the actor", setActorSQL, actor)
}

const auditRetractionsSQL = `insert into audit_entries (kind, actor, chat_id, message_id, ref, action, outcome)
	select 'deletion', audit_actor(), o.chat_id, coalesce(o.quotes[1], 0), o.id, o.purpose, case when o.event_id is null then 'withdrawn' else 'deleted' end
	from outbox o where o.id = any ($1) and o.send_as = 'owner' and (o.event_id is not null or o.state = 'queued')`

// AuditRetractions records in the audit log that messages which were sent to contacts are deleted from their rooms,
// because what they rest on was deleted. One that is still queued is withdrawn: it is not sent, or deleted once it is
// known that it was being sent. It ignores other messages, such as notices.
func AuditRetractions(ctx context.Context, tx Tx, messages []uuid.UUID) error {
	if len(messages) == 0 {
		return nil
	}
	return row.Exec(ctx, tx, "record what is taken back", auditRetractionsSQL, messages)
}

const disabledAuditTriggersSQL = `select tgname from pg_trigger where tgname like 'audit\_%' and not tgisinternal and tgenabled not in ('O', 'A') order by 1`

// DisabledAuditTriggers returns the triggers that write the audit log, and are switched off.
func DisabledAuditTriggers(ctx context.Context, db DB) ([]string, error) {
	return row.Values[string](ctx, db, "triggers of the audit log", disabledAuditTriggersSQL)
}

const auditHeadSQL = "select seq, hash from audit_head"

// AuditHead returns the last link of the audit log; Seq is 0 if there is none.
func AuditHead(ctx context.Context, db DB) (AuditPoint, error) {
	return row.One[AuditPoint](ctx, db, "end of the audit log", auditHeadSQL)
}

// auditColumns are the columns of an AuditLink. A time that somebody set to one that no program can write, such as
// infinity, is read as 1970: the hash of the link does not fit it either way, and nothing else keeps the log from being
// read.
const auditColumns = `coalesce(c.seq, 0) as seq, c.hash, coalesce(e.id, 0) as id,
	case when e.at between '0001-01-02' and '9999-12-30' then e.at else 'epoch' end as at, coalesce(e.kind, '') as kind,
	coalesce(e.actor, '') as actor, e.person, coalesce(e.agent, '') as agent, coalesce(e.chat_id, 0) as chat_id, coalesce(e.message_id, 0) as message_id,
	coalesce(e.task_id, 0) as task_id, coalesce(e.ref, '') as ref, coalesce(e.action, '') as action, coalesce(e.outcome, '') as outcome,
	coalesce(e.rule, '') as rule, e.content`

// AuditFilter chooses entries of the audit log. The zero value of a field means all.
type AuditFilter struct {
	From, To time.Time // To is exclusive
	Chat     ChatID
	Task     TaskID
	Rule     string
	Limit    int // the newest; 0 for all
	// WithoutNotices leaves out that notices to the owner, such as answers to commands, were queued, sent and delivered.
	// Those that failed are not left out.
	WithoutNotices bool
}

const listAuditSQL = "select " + auditColumns + ` from audit_entries e join audit_chain c on c.entry_id = e.id
	where ($1::timestamptz is null or e.at >= $1) and ($2::timestamptz is null or e.at < $2) and ($3::bigint = 0 or e.chat_id = $3) and ($4::bigint = 0 or e.task_id = $4)
		and ($7 = '' or e.rule = $7) and not ($6 and e.kind = 'send' and e.action = 'notice' and e.outcome in ('queued', 'sent', 'delivered'))
	order by c.seq desc limit nullif($5, 0)`

// ListAudit returns entries of the audit log, the newest first.
func ListAudit(ctx context.Context, db DB, f AuditFilter) ([]AuditLink, error) {
	return row.All[AuditLink](ctx, db, "the audit log", listAuditSQL, nullTime(f.From), nullTime(f.To), f.Chat, f.Task, f.Limit,
		f.WithoutNotices, f.Rule)
}

func nullTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

const (
	readAuditSQL = "select " + auditColumns +
		" from audit_chain c full join audit_entries e on e.id = c.entry_id order by c.seq nulls last, e.id"

	auditCheckpointsSQL = "select seq, hash, signature from audit_checkpoints order by seq"
)

// AuditReader receives the whole audit log as it was at one moment.
type AuditReader struct {
	// Start is called first, with the checkpoints and the last link.
	Start func(checkpoints []AuditCheckpoint, head AuditPoint) error
	// Link is called for each link in order, then for each entry that has none.
	Link func(l AuditLink) error
}

// ReadAudit passes the whole audit log to r, without holding it in memory. An error of r ends it and is returned.
func (s *Store) ReadAudit(ctx context.Context, r AuditReader) error {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return s.inTx(ctx, snapshot, func(tx Tx) error {
		checkpoints, err := row.All[AuditCheckpoint](ctx, tx, "checkpoints of the audit log", auditCheckpointsSQL)
		if err != nil {
			return err
		}
		head, err := AuditHead(ctx, tx)
		if err != nil {
			return err
		}
		if err := r.Start(checkpoints, head); err != nil {
			return err
		}
		return row.Each(ctx, tx, "the audit log", readAuditSQL, r.Link)
	})
}

const (
	auditPruneSQL = `select c.seq, c.hash from audit_chain c join audit_entries e on e.id = c.entry_id where c.seq < (
			select coalesce(min(newer.seq), (select seq + 1 from audit_head)) from audit_chain newer join audit_entries n on n.id = newer.entry_id where n.at >= $1)
		order by c.seq desc limit 1`
	allowPruneSQL = `do $$ begin execute format('grant delete on audit_entries, audit_chain to %I', current_user); end $$`
	denyPruneSQL  = `do $$ begin execute format('revoke delete on audit_entries, audit_chain from %I', current_user); end $$`
	pruneAuditSQL = `with gone as (delete from audit_chain where seq <= $1 returning entry_id)
		delete from audit_entries where id in (select entry_id from gone)`
	addCheckpointSQL = "insert into audit_checkpoints (seq, hash, signature) values ($1, $2, $3)"
)

// PruneAudit deletes the oldest links of the audit log, up to the first entry that is not older than before, and stores a
// checkpoint that sign has signed. It returns how many entries it deleted.
func PruneAudit(ctx context.Context, tx Tx, before time.Time, sign func(AuditPoint) []byte) (int, error) {
	points, err := row.All[AuditPoint](ctx, tx, "old audit log", auditPruneSQL, before)
	if err != nil {
		return 0, err
	}
	if len(points) == 0 {
		return 0, nil
	}
	last := points[0]
	if err := row.Exec(ctx, tx, "allow pruning of the audit log", allowPruneSQL); err != nil {
		return 0, err
	}
	deleted, err := row.Changed(ctx, tx, "prune the audit log", pruneAuditSQL, last.Seq)
	if err != nil {
		return 0, err
	}
	if err := row.Exec(ctx, tx, "forbid pruning of the audit log", denyPruneSQL); err != nil {
		return 0, err
	}
	return deleted, row.Exec(ctx, tx, "write a checkpoint of the audit log", addCheckpointSQL, last.Seq, last.Hash, sign(last))
}
