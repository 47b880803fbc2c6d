package jobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"
)

// EmbedArgs asks to give the passages a vector that have none. Whoever writes passages enqueues it; without embeddings it is
// no work.
type EmbedArgs struct {
	// Again also looks at passages that were looked at before.
	Again bool `json:"again,omitempty"`
}

// Kind names the job.
func (EmbedArgs) Kind() string { return "embed" }

// InsertOpts puts it on its queue, once.
func (EmbedArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueEmbed, MaxAttempts: 20, UniqueOpts: once()}
}

// Embedder gives passages their vectors. It goes on where it was stopped.
type Embedder interface {
	Embed(ctx context.Context, again bool) error
}

// embedEvery is how often passages are looked for that nobody asked a vector for.
const embedEvery = 10 * time.Minute

// lookForBare asks for vectors now and then. The first time after a start everything is looked at again.
func lookForBare() []*river.PeriodicJob {
	again := func() (river.JobArgs, *river.InsertOpts) { return EmbedArgs{Again: true}, nil }
	fresh := func() (river.JobArgs, *river.InsertOpts) { return EmbedArgs{}, nil }
	return []*river.PeriodicJob{
		river.NewPeriodicJob(river.PeriodicInterval(24*time.Hour), again, &river.PeriodicJobOpts{RunOnStart: true}),
		river.NewPeriodicJob(river.PeriodicInterval(embedEvery), fresh, nil),
	}
}
