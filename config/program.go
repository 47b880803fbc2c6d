package config

import "time"

// AgentPrompt is the argument of Agent.Command that is replaced by the task. Without it, the program gets the task on its standard input.
const AgentPrompt = "{prompt}"

// maxProgramTime is the longest time that an external agent may work on a task.
const maxProgramTime = 5 * time.Minute
