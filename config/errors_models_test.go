package config

import (
	"testing"
)

func TestParse_ExplainsModelMistakes(t *testing.T) {
	t.Parallel()
	testMistakes(t, map[string]mistake{
		"a key like no other": {
			add:  "budget:\n  bitcoins: 1\n",
			want: `config.yaml:11: budget.bitcoins: unknown key; known here: per_day, per_chat_day, per_agent_day, per_run, at_cap, per_dollar, currency`,
		},
		"a yes where true belongs": {
			add:  "llm:\n  local: yes\n",
			want: `config.yaml:11: llm.local: "yes" is neither true nor false; write one of these`,
		},
		"an amount with too many decimals": {
			add:  "budget: {per_day: 0.0000001}\n",
			want: `config.yaml:10: budget.per_day: "0.0000001" is not an amount of money; write it like 2.50, with at most 6 decimals`,
		},
		"an amount in words": {
			add:  "budget: {per_day: unlimited}\n",
			want: `config.yaml:10: budget.per_day: "unlimited" is not an amount of money; write it like 2.50, with at most 6 decimals`,
		},
		"a currency by its sign": {
			add:  "budget: {currency: €}\n",
			want: `config.yaml:10: budget.currency: "€" is not a currency; write three capital letters such as EUR`,
		},
		"a model's server without its scheme": {
			add:  "llm: {base_url: localhost}\n",
			want: `config.yaml:10: llm.base_url: is not a web address; write it like http://localhost:11434/v1`,
		},
		"a model without a provider": {
			add:  "llm: {model: gpt-5}\n",
			want: `config.yaml:10: llm.model: "gpt-5" is not a model; write none, PROVIDER/NAME such as anthropic/claude-haiku-4-5, or a strategy such as cheap_first`,
		},
		"a strategy without models": {
			add:  "llm: {model: cheap_first}\n",
			want: `config.yaml:10: llm.model: is a strategy without models; write them as a list into llm.strategies.cheap_first`,
		},
		"a strategy with a model that is none": {
			add:  "llm:\n  strategies:\n    custom:\n      - gpt-5\n",
			want: `config.yaml:13: llm.strategies.custom[0]: "gpt-5" is not a model; write PROVIDER/NAME such as anthropic/claude-haiku-4-5`,
		},
		"a strategy with the key of one": {
			add:  "llm: {model: custom, api_key: k, strategies: {custom: [openai/gpt-5]}}\n",
			want: `config.yaml:10: llm.model: names several models, and base_url, api_key and local beside it are for one; write them into llm.providers`,
		},
		"a key in two places": {
			add:  "llm: {model: openai/gpt-5, api_key: k, providers: {openai: {api_key: l}}}\n",
			want: `config.yaml:10: llm.model: has its base_url or api_key both here and in llm.providers.openai; keep one of the two`,
		},
		"a provider of a type nobody knows": {
			add:  "llm: {providers: {desk: {type: grpc}}}\n",
			want: `config.yaml:10: llm.providers.desk.type: "grpc" is not known here; write one of: anthropic, openai, gemini, ollama`,
		},
		"half a price": {
			add:  "llm:\n  prices: [openai/gpt-5 1 0]\n",
			want: `config.yaml:11: llm.prices: has a zero price for openai/gpt-5; write what a million tokens cost, for both input and output`,
		},
		"a price of one amount": {
			add:  "llm:\n  prices: [openai/gpt-5 1]\n",
			want: `config.yaml:11: llm.prices[0]: "openai/gpt-5 1" is not a price; write the model and what a million tokens cost in and out, such as openai/gpt-5-mini 0.25 2.00`,
		},
		"a price that is none": {
			add:  "llm:\n  prices: [openai/gpt-5 cheap 2]\n",
			want: `config.yaml:11: llm.prices[0]: "cheap" is not an amount of money; write it like 2.50, with at most 6 decimals`,
		},
		"a cap that does something nobody knows": {
			add:  "budget: {at_cap: stop}\n",
			want: `config.yaml:10: budget.at_cap: "stop" is not known here; write one of: documents, escalate`,
		},
		"a model for vectors that nobody serves": {
			add:  "embeddings: {model: voyage/large}\n",
			want: `config.yaml:10: embeddings.model: "voyage/large" is not a model; write none, openai/NAME for any OpenAI-compatible server, or ollama/NAME`,
		},
		"a paid model for vectors without its price": {
			add:  "embeddings: {model: openai/text-embedding-3-small, api_key: k}\n",
			want: `config.yaml:10: embeddings.price_per_mtok: is missing for a paid model; write what a million tokens cost, or embeddings.local: true if they cost nothing`,
		},
		"OpenAI's vectors without a key": {
			add:  "embeddings: {model: openai/text-embedding-3-small, price_per_mtok: 0.02}\n",
			want: `config.yaml:10: embeddings.api_key: is missing; write the key, or embeddings.base_url if you run a server that wants none`,
		},
		"a paid transcriber without its price": {
			add:  "speech: {model: openai/whisper-1, api_key: k}\n",
			want: `config.yaml:10: speech.price_per_minute: is missing for a paid model; write what a minute costs, or speech.local: true if it costs nothing`,
		},
		"a secret file that is not there": {
			add:  "llm:\n  api_key_file: /nowhere/key\n",
			want: `config.yaml:11: llm.api_key_file: is not readable: no such file or directory; write the path of a file that multis may read`,
		},
		"a secret file that is a folder": {
			add:  "llm: {api_key_file: .}\n",
			want: `config.yaml:10: llm.api_key_file: is not a plain file; write the path of a file with only the secret in it`,
		},
		"a secret file that never ends": {
			add:  "llm: {api_key_file: /dev/zero}\n",
			want: `config.yaml:10: llm.api_key_file: is not a plain file; write the path of a file with only the secret in it`,
		},
		"a bad value in the environment": {
			env:  map[string]string{"MULTIS_LLM_TIMEOUT": "soon"},
			want: `environment MULTIS_LLM_TIMEOUT: llm.timeout: "soon" is not a length of time; write it like 30s, 10m or 1h30m`,
		},
	})
}
