package config

import "time"

// AgentPrompt is the argument of Agent.Command in whose place the task is put. Without it the task is the program's standard input.
const AgentPrompt = "{prompt}"

// maxProgramTime is the longest time that an external agent may work on a task: as long as a model.
const maxProgramTime = 5 * time.Minute
