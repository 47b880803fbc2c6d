package main

import (
	"context"
	"time"

	"multis/appservice"
	"multis/config"
	"multis/llm"
	"multis/ops/doctor"
	"multis/ops/setup"
	"multis/store"
)

// examiner checks the installation from within the running program.
type examiner struct {
	cfg    *config.Config
	store  *store.Store
	models *llm.Models
	paths  doctor.Paths
}

// newExaminer returns the examiner of a running program. The registration is in the folder of the configuration.
func newExaminer(file string, cfg *config.Config, st *store.Store) (examiner, error) {
	models, err := newModels(cfg, nil)
	return examiner{cfg, st, models, doctorPaths(file, "registration.yaml")}, err
}

// examineTimeout limits all checks together, so that the owner's command is answered in time.
const examineTimeout = 20 * time.Second

// Examine carries out all checks. The configuration is that of the running program; if the file has become invalid since,
// the report says so.
func (e examiner) Examine(ctx context.Context) doctor.Report {
	ctx, cancel := context.WithTimeout(ctx, examineTimeout)
	defer cancel()
	in := &doctor.Input{
		Paths:      e.paths,
		Config:     e.cfg,
		Homeserver: appservice.NewInspector(doctor.AccessOf(e.cfg)),
		Database:   e.store.Inspector(),
		HasSchema:  true,
		Synapse:    setup.Machine{}.SynapseOfDomain(e.cfg.Homeserver.Domain, e.paths.Registration),
		Models:     e.models,
		Defaults:   chatDefaults(e.cfg),
		Now:        time.Now,
		FreeBytes:  doctor.FreeBytes,
		Start:      startCommand(e.paths.Config, true),
		Compose:    setup.Machine{}.InContainer(),
	}
	in.Postgres = postgresOf(e.cfg.Database, in.Start)
	if e.paths.Config != "" {
		_, in.ConfigErr = config.Load(e.paths.Config)
	}
	return doctor.Run(ctx, in)
}
