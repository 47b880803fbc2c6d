package run

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"multis/internal/text"
	"multis/llm"
	"multis/llm/reply"
	"multis/policy/proof"
	"multis/store"
)

// judgeRules tell the judge what to decide. It sees nothing but the sentences, what they cite and the question.
const judgeRules = `You check sentences that answer a customer of a business. For each sentence there are the lines of a document that it cites.
Say "yes" if the lines alone prove all of the sentence, in whatever words or language. A fact that the customer told about himself may be used.
Say "no" if the sentence adds anything: another thing, service, day, place or group of people, a "free", "included", "always" or "all", a promise; or if it leaves out
a condition, exception or limit that matters for the question; or if it turns a limit round ("from" for "until"), or says of one thing
what the lines say of another. Say "no" if you are not sure.
Answer with one JSON object and nothing else, with a word for each sentence, in their order: {"verdicts": ["yes", "no"]}
`

const (
	// maxJudgeTokens is the maximum length of the judge's answer.
	maxJudgeTokens = 100
	// maxJudgedQuestion is how much of the question the judge reads, in characters.
	maxJudgedQuestion = 500
	// judgeStep begins the names of the judge's steps.
	judgeStep = "judge "
)

// GapsIn returns why each sentence to a contact does not follow from what it cites, for the model to mend; empty if it
// follows. The judge is asked about those that the check leaves open, unless another sentence is wrong anyway.
func (a *Attempt) GapsIn(ctx context.Context, sentences []Sentence) []string {
	gaps := make([]string, len(sentences))
	var open []int
	var claims []proof.Claim
	isWrong := false
	for i, s := range sentences {
		claim, finding := a.examine(s, sentences)
		gaps[i] = finding.Reason
		isWrong = isWrong || finding.Outcome == proof.Contradicts
		if finding.Outcome == proof.Unknown {
			open = append(open, i)
			claims = append(claims, claim)
		}
	}
	if isWrong || len(open) == 0 || a.Judge == nil {
		return gaps
	}
	for n, follows := range a.judge(ctx, claims) {
		if follows {
			gaps[open[n]] = ""
		}
	}
	return gaps
}

// judge returns which claims the judge says follow. It asks about the same claims once. Whatever is not a clear yes is a no.
func (a *Attempt) judge(ctx context.Context, claims []proof.Claim) []bool {
	request := a.judgeRequest(claims)
	key := claimsText(claims, "")
	if verdicts, known := a.verdicts[key]; known {
		return verdicts
	}
	verdicts := make([]bool, len(claims))
	said := readVerdicts(a.askJudge(ctx, request))
	for i := range verdicts {
		verdicts[i] = len(said) == len(claims) && said[i]
	}
	if a.verdicts == nil {
		a.verdicts = map[string][]bool{}
	}
	a.verdicts[key] = verdicts
	return verdicts
}

// readVerdicts reads the judge's answer; nil if it cannot be read.
func readVerdicts(said string) []bool {
	answer, err := reply.Read[struct {
		Verdicts []string `json:"verdicts" alias:"verdict,answers,answer,results,result"`
	}](said)
	if err != nil {
		return nil
	}
	verdicts := make([]bool, len(answer.Verdicts))
	for i, v := range answer.Verdicts {
		verdicts[i] = strings.EqualFold(strings.TrimSpace(v), "yes")
	}
	return verdicts
}

// judgeRequest asks for verdicts about claims.
func (a *Attempt) judgeRequest(claims []proof.Claim) llm.Request {
	fence := a.engine.Fence()
	return llm.Request{
		System:    judgeRules + FenceRule,
		Messages:  []llm.Message{{Role: llm.RoleUser, Text: claimsText(claims, fence)}},
		Purpose:   "answer judge",
		Chat:      a.firstRequest.Chat,
		Agent:     a.firstRequest.Agent,
		Run:       a.firstRequest.Run,
		JSON:      true,
		MaxTokens: maxJudgeTokens,
	}
}

// claimsText returns claims as the judge reads them.
func claimsText(claims []proof.Claim, fence string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s question of the customer\n%s\n", fence, text.Clip(claims[0].Question, maxJudgedQuestion))
	for i, c := range claims {
		headings := strings.Join(slices.Compact(slices.Clone(c.Headings)), " > ")
		fmt.Fprintf(&b, "%s lines that sentence %d cites (%s)\n%s\n", fence, i+1, headings, strings.Join(slices.Concat(c.Units, c.Beside), "\n"))
		fmt.Fprintf(&b, "%s sentence %d\n%s\n", fence, i+1, c.Sentence)
	}
	fmt.Fprintf(&b, "%s end\n", fence)
	return b.String()
}

// askJudge returns the judge's answer: the stored one if an earlier attempt asked. It is empty if the judge fails.
func (a *Attempt) askJudge(ctx context.Context, request llm.Request) string {
	name := judgeStep + a.Judge.Name()
	if known := a.stepAt(a.nextSeq); known != nil && !strings.HasPrefix(known.Name, judgeStep) || known == nil && a.isReplay {
		return "" // the task was not judged
	}
	seq, known := a.nextStep()
	if known != nil && known.EndedAt != nil {
		return known.Text
	}
	if a.isReplay {
		return ""
	}
	step := store.Step{Seq: seq, Kind: store.StepModel, Name: name, RequestDigest: digest(request)}
	if err := store.BeginStep(ctx, a.engine.Store.AsyncCommit(), a.Task, step); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot store the step of the judge; its sentences are refused")
		return ""
	}
	said, err := llm.Complete(ctx, a.Judge, request)
	if err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("The judge did not answer; its sentences are refused")
	}
	if step, err = stepWithResponse(step, llm.Response{Text: said.Text, Stop: said.Stop, Usage: said.Usage}); err != nil {
		return ""
	}
	if err := store.EndStep(context.WithoutCancel(ctx), a.engine.Store.AsyncCommit(), a.Task, step); err != nil {
		zerolog.Ctx(ctx).Warn().Err(err).Msg("Cannot store the answer of the judge; its sentences are refused")
		return ""
	}
	return step.Text
}
