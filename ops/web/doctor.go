package web

import (
	"context"
	"net/http"
	"time"

	"multis/ops/doctor"
	"multis/ops/health"
)

// reportLifetime is how long a report of the doctor is shown before the installation is checked again.
const reportLifetime = 5 * time.Minute

// doctor shows the doctor's findings and the checks of the work.
func (s *Site) doctor(v *visit) error {
	report := s.examine(v.r.Context())
	s.show(v, http.StatusOK, "doctor", "Health", struct {
		doctor.Report

		Checks []health.Check
	}{report, s.Health.Report(v.r.Context()).Checks})
	return nil
}

// lastReport returns the doctor's last report; the zero report before the first one.
func (s *Site) lastReport() doctor.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.report
}

// examine returns the doctor's report. The installation is checked again if it is old.
func (s *Site) examine(ctx context.Context) doctor.Report {
	if last := s.lastReport(); s.Now().Sub(last.At).Abs() < reportLifetime {
		return last
	}
	report := s.Examiner.Examine(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.report = report
	return report
}
