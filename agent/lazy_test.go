package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"multis/agent/tools"
	"multis/llm"
	"multis/llm/llmtest"
	"multis/policy"
	"multis/store"
	"multis/store/storetest"
)

// watchSQL notes which writes of a turn waited for the disk.
const watchSQL = `create table written (what text, waited text);
	create function note_write() returns trigger language plpgsql as $$ begin insert into written values (tg_argv[0], current_setting('synchronous_commit')); return null; end $$;
	create trigger watch_claim after update of attempt on tasks for each row when (new.finished_at is null) execute function note_write('a task is claimed');
	create trigger watch_end after update of finished_at on tasks for each row execute function note_write('a task ends');
	create trigger watch_effect after insert or update on task_steps for each row when (new.effect) execute function note_write('an effect');
	create trigger watch_step after insert or update on task_steps for each row when (not new.effect) execute function note_write('another step');
	create trigger watch_reserve after insert on usage for each row execute function note_write('money is set aside');
	create trigger watch_settle after update on usage for each row execute function note_write('it is settled');
	create trigger watch_out after insert on outbox for each row execute function note_write('words to send')`

func TestTurn_SyncsWhereOthersRely(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), storetest.DSN(t)+"&synchronous_commit=on")
	require.NoError(t, err)
	t.Cleanup(st.Close)
	b := setupIn(t, st, llm.None{})
	_, err = st.Pool().Exec(t.Context(), watchSQL)
	require.NoError(t, err)
	first, second := calls("search_docs", map[string]string{"query": "grand piano"}), calls("lamp", map[string]bool{"on": true})
	b.agent.personas.Model = b.openPaidModel(t, inTurn(first, second, llmtest.Reply{Text: answerJSON("Done.", 0, "")}))
	b.setTools(&countingTool{tier: tools.Read})
	b.ask("what does a grand piano cost? And light, please.")
	b.agent.personas.Model = b.openPaidModel(t, inTurn(llmtest.Reply{Text: answerJSON("It costs 5 euro.", 1,
		"Delivery costs 5 euro within the city.")}))
	b.storeContactMessage("What does delivery cost?", policy.ActionAnswer)
	b.runTurn()
	require.Len(t, b.queuedTexts(b.chat), 1)

	var waited []string
	require.NoError(t, st.DB().QueryRow(t.Context(),
		"select array_agg(w order by w collate \"C\") from (select what || ': ' || string_agg(distinct waited, ' and ') as w from written group by what) all_of_it").Scan(&waited))
	require.Equal(t, []string{
		"a task ends: on", "a task is claimed: on", "an effect: on", "another step: off", "it is settled: off", "money is set aside: on",
		"words to send: on",
	}, waited)
}
