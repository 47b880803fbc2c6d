package web

import (
	"net/http"

	"multis/store"
)

// maxFailedJobs is how many jobs with errors are shown.
const maxFailedJobs = 50

// jobsPage is what the page of the jobs shows.
type jobsPage struct {
	Queues []store.JobQueue
	Failed []store.FailedJob
}

// jobs shows the queues and the last errors. Nothing can be changed here: commands of the admin room stop and repeat things.
func (s *Site) jobs(v *visit) error {
	queues, err := store.JobQueues(v.r.Context(), v.db)
	if err != nil {
		return err
	}
	failed, err := store.LastFailedJobs(v.r.Context(), v.db, maxFailedJobs)
	if err != nil {
		return err
	}
	s.show(v, http.StatusOK, "jobs", "Jobs", jobsPage{queues, failed})
	return nil
}
