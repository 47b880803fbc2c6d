package jobs

import (
	"cmp"
	"context"
	"time"

	"github.com/riverqueue/river"

	"multis/store"
)

// Handlers are the parts of the program that do the jobs, in the order of workers. If Bridges, Embed or Folders is nil,
// its jobs do nothing. If IndexMessages is nil, messages are not indexed.
type Handlers struct {
	// Chats.
	Turn         Turner
	Quiet        QuietChatChecker // nil writes nothing into quiet chats
	Send         Sender
	Retract      Retractor
	Describe     Describer
	History      Historian
	ImportNotice ImportNotifier
	Bridges      BridgeChecker
	Decrypt      Decrypter
	Transcribe   Transcriber
	KeepFile     AttachmentStore

	// The admin room.
	Command   Commander
	PIN       PINContinuer
	Redact    Redactor
	Exec      CommandRunner
	Ask       Answerer
	AdminRoom AdminRoomMaker
	Draft     DraftPresenter
	Question  QuestionEnder
	// Withdraw withdraws outdated drafts; nil looks for none.
	Withdraw            DraftWithdrawer
	Approval            ApprovalRequester
	Notice              Notifier
	Budget              BudgetNotifier
	Undelivered         UndeliveredNotifier
	LateMessages        LateMessagesNotifier
	CommitmentReminders CommitmentReminder
	Escalation          EscalationUpdater
	CopyFile            FileCopier
	Reply               ReplyChanger
	Export              Exporter
	// Backup makes backups; nil makes none.
	Backup BackupMaker

	// Agents' tasks.
	Task Resumer

	// AnswerTimeout bounds an attempt at an answer, UnattendedTimeout an execution of a schedule. They default to 5 minutes.
	AnswerTimeout, UnattendedTimeout time.Duration

	// Documents and memory.
	Index         Indexer
	Folders       FolderIndexer
	Embed         Embedder
	IndexMessages MessageIndexer
	Capture       Capturer
	Summarise     Summariser
	// Answers keeps the owner's answers; nil where there are none, as in a terminal.
	Answers AnswerDocuments
	Forget  Forgetter

	// The clock, hooks and watched pages.
	Tick      ScheduleRunner
	Execution Executor
	Hook      Deliverer
	Watch     PageChecker
	Monitor   MonitorChecker // nil checks no monitors
}

// storeTime is the time that an attempt has to store its result after its own timeout.
const storeTime = time.Minute

// modelTimeout bounds an attempt that calls models.
func (h Handlers) modelTimeout() time.Duration {
	return cmp.Or(h.AnswerTimeout, ExecutionTimeout) + storeTime
}

// executionTimeout bounds an execution of a schedule.
func (h Handlers) executionTimeout() time.Duration {
	return max(h.UnattendedTimeout, UpkeepTimeout) + storeTime
}

// workers returns the worker of each kind of job: the handler, and the time that one attempt may take.
func (h Handlers) workers(st *store.Store) *river.Workers {
	w := river.NewWorkers()
	h.addChats(w)
	h.addAdminRoom(w)
	h.addTasks(w)
	h.addMemory(w, st)
	h.addClock(w)
	return w
}

func (h Handlers) addChats(w *river.Workers) {
	handle(w, h.modelTimeout(), func(ctx context.Context, a TurnArgs, try Attempt) error {
		return h.Turn.Turn(ctx, a.ChatID, try.ID, try.Last)
	})
	handle(w, 3*time.Minute, func(ctx context.Context, a SendArgs, try Attempt) error {
		return h.Send.Send(ctx, a.OutboxID, try.Last)
	}) // sending a file may take long
	handle(w, time.Minute, func(ctx context.Context, _ CheckQuietChatsArgs, _ Attempt) error {
		if h.Quiet == nil {
			return nil
		}
		return h.Quiet.CheckQuietChats(ctx)
	})
	handle(w, time.Minute, func(ctx context.Context, _ WithdrawDraftsArgs, _ Attempt) error {
		if h.Withdraw == nil {
			return nil
		}
		return h.Withdraw.WithdrawOutdatedDrafts(ctx)
	})
	handle(w, time.Minute, func(ctx context.Context, a RetractArgs, _ Attempt) error { return h.Retract.Retract(ctx, a.OutboxID) })
	handle(w, 10*time.Minute, func(ctx context.Context, a DescribeArgs, _ Attempt) error { return h.Describe.Describe(ctx, a.RoomID) })
	handle(w, 2*time.Minute, func(ctx context.Context, a HistoryArgs, _ Attempt) error {
		return readHistory(ctx, h.History, h.ImportNotice, a)
	})
	handle(w, time.Minute, func(ctx context.Context, _ CheckBridgesArgs, _ Attempt) error {
		if h.Bridges == nil {
			return nil
		}
		return h.Bridges.CheckBridges(ctx)
	})
	handle(w, time.Minute, func(ctx context.Context, a DecryptArgs, _ Attempt) error { return h.Decrypt.Decrypt(ctx, a) })
	handle(w, 5*time.Minute, func(ctx context.Context, a TranscribeArgs, try Attempt) error {
		return h.Transcribe.Transcribe(ctx, a.MessageID, try.Last)
	})
	handle(w, 3*time.Minute, func(ctx context.Context, a KeepFileArgs, _ Attempt) error {
		return h.KeepFile.KeepFile(ctx, a.MessageID)
	})
}

func (h Handlers) addAdminRoom(w *river.Workers) {
	handle(w, 5*time.Minute, func(ctx context.Context, a CommandArgs, try Attempt) error {
		return h.Command.HandleCommand(ctx, a.MessageID, try.Last)
	})
	handle(w, 12*time.Minute, func(ctx context.Context, a ExecArgs, _ Attempt) error { return h.Exec.RunCommand(ctx, a) })
	handle(w, time.Minute, func(ctx context.Context, a PINArgs, try Attempt) error {
		return h.PIN.ContinueAfterPIN(ctx, a, try.Last)
	})
	handle(w, time.Minute, func(ctx context.Context, a RedactArgs, try Attempt) error {
		return h.Redact.RedactPIN(ctx, a.RoomID, a.EventID, try.Last)
	})
	handle(w, h.modelTimeout(), func(ctx context.Context, a AskArgs, try Attempt) error {
		return h.Ask.Answer(ctx, a.MessageID, try.Last)
	})
	handle(w, time.Minute, func(ctx context.Context, _ AdminRoomArgs, _ Attempt) error { return h.AdminRoom.MakeAdminRoom(ctx) })
	handle(w, h.modelTimeout(), func(ctx context.Context, a PresentDraftArgs, _ Attempt) error {
		return h.Draft.PresentDraft(ctx, a.OutboxID)
	})
	handle(w, time.Minute, func(ctx context.Context, a EndQuestionArgs, _ Attempt) error {
		return h.Question.EndQuestion(ctx, a.DialogID, !a.At.IsZero())
	})
	handle(w, h.modelTimeout(), func(ctx context.Context, a ApprovalArgs, _ Attempt) error {
		return h.Approval.RequestApproval(ctx, a.ApprovalID)
	})
	handle(w, time.Minute, func(ctx context.Context, a NoticeArgs, _ Attempt) error { return h.Notice.Notify(ctx, a) })
	handle(w, time.Minute, func(ctx context.Context, a BudgetArgs, _ Attempt) error { return h.Budget.NotifyBudget(ctx, a) })
	handle(w, time.Minute, func(ctx context.Context, a UndeliveredArgs, _ Attempt) error {
		return h.Undelivered.NotifyUndelivered(ctx, a.OutboxID)
	})
	handle(w, time.Minute, func(ctx context.Context, _ LateMessagesArgs, _ Attempt) error {
		return h.LateMessages.NotifyOfLateMessages(ctx)
	})
	handle(w, backupTimeout, func(ctx context.Context, _ BackupArgs, _ Attempt) error {
		if h.Backup == nil {
			return nil
		}
		return h.Backup.MakeBackup(ctx)
	})
	handle(w, time.Minute, func(ctx context.Context, _ RemindCommitmentsArgs, _ Attempt) error {
		return h.CommitmentReminders.RemindCommitments(ctx)
	})
	handle(w, time.Minute, func(ctx context.Context, a UpdateEscalationArgs, _ Attempt) error {
		return h.Escalation.UpdateEscalation(ctx, a.EscalationID, !a.At.IsZero())
	})
	handle(w, 3*time.Minute, func(ctx context.Context, a CopyFileArgs, _ Attempt) error {
		return h.CopyFile.CopyFile(ctx, a.EscalationID, a.MessageID)
	})
	handle(w, time.Minute, func(ctx context.Context, a ChangeReplyArgs, _ Attempt) error {
		return h.Reply.ChangeReply(ctx, a.MessageID)
	})
	handle(w, 5*time.Minute, func(ctx context.Context, a ExportArgs, try Attempt) error { return h.Export.Export(ctx, a, try.Last) })
}

func (h Handlers) addTasks(w *river.Workers) {
	handle(w, h.modelTimeout(), func(ctx context.Context, a TaskArgs, try Attempt) error { return resume(ctx, h.Task, a, try.Last) })
	handle(w, h.modelTimeout(), func(ctx context.Context, a SubtaskArgs, try Attempt) error {
		return h.Task.Resume(ctx, a.TaskID, try.Last)
	})
}

// addMemory adds the jobs of documents and memory. An attempt continues where the last one stopped.
func (h Handlers) addMemory(w *river.Workers, st *store.Store) {
	// for a folder; each file has its own limit
	handle(w, time.Hour, func(ctx context.Context, a IndexArgs, try Attempt) error { return h.Index.Index(ctx, a, try.Last) })
	handle(w, 5*time.Minute, func(ctx context.Context, _ PublishAnswersArgs, _ Attempt) error {
		if h.Answers == nil {
			return nil
		}
		return h.Answers.PublishAnswers(ctx)
	})
	handle(w, time.Minute, func(ctx context.Context, _ FindAnswersArgs, _ Attempt) error {
		if h.Answers == nil {
			return nil
		}
		return h.Answers.FindAnswers(ctx)
	})
	handle(w, time.Hour, func(ctx context.Context, _ IndexFoldersArgs, _ Attempt) error {
		if h.Folders == nil {
			return nil
		}
		return h.Folders.IndexFolders(ctx)
	})
	handle(w, 6*time.Hour, func(ctx context.Context, a EmbedArgs, _ Attempt) error { // long enough for a library that was never embedded
		if h.Embed == nil {
			return nil
		}
		return h.Embed.Embed(ctx, a.RetryFailed)
	})
	handle(w, 5*time.Minute, func(ctx context.Context, _ IndexMessagesArgs, _ Attempt) error {
		return h.IndexMessages.IndexMessages(ctx)
	})
	handle(w, time.Minute, func(ctx context.Context, _ FindCapturesArgs, _ Attempt) error {
		return enqueueCaptures(ctx, st, h.Capture)
	})
	handle(w, 5*time.Minute, func(ctx context.Context, a CaptureArgs, try Attempt) error {
		return h.Capture.Capture(ctx, a.ChatID, try.Last)
	})
	handle(w, 5*time.Minute, func(ctx context.Context, a SummariseArgs, _ Attempt) error {
		return h.Summarise.Summarise(ctx, a.ChatID, a.Agent)
	})
	handle(w, 8*time.Minute, func(ctx context.Context, a ForgetArgs, _ Attempt) error { return h.Forget.Forget(ctx, a.ForgettingID) })
}

func (h Handlers) addClock(w *river.Workers) {
	handle(w, 30*time.Second, func(ctx context.Context, a TickArgs, _ Attempt) error { return h.Tick.Tick(ctx, a.ScheduleID, a.At) })
	handle(w, 30*time.Second, func(ctx context.Context, a WithdrawScheduleArgs, _ Attempt) error {
		return h.Tick.Withdraw(ctx, a.ScheduleID)
	})
	handle(w, h.executionTimeout(), func(ctx context.Context, a ExecutionArgs, try Attempt) error {
		return h.Execution.Execute(ctx, a.ExecutionID, try.Last)
	}) // the minute is for storing how it ended
	handle(w, time.Minute, func(ctx context.Context, a DeliverHookArgs, try Attempt) error {
		return h.Hook.Deliver(ctx, a.DeliveryID, try.Last)
	})
	handle(w, 2*time.Minute, func(ctx context.Context, a CheckPageArgs, _ Attempt) error { return h.Watch.CheckPage(ctx, a.WatchID) })
	handle(w, 2*time.Minute, func(ctx context.Context, a CheckMonitorArgs, _ Attempt) error {
		if h.Monitor == nil {
			return nil
		}
		return h.Monitor.CheckMonitor(ctx, a.MonitorID)
	})
}
