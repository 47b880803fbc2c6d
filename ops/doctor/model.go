package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"multis/llm"
)

// ProbeModel checks that a model is configured with a price and a key, and that its provider knows both. It makes no paid
// call. If key is not empty, it replaces the provider's key.
func ProbeModel(ctx context.Context, models Models, name, key string) Result {
	info, err := models.Describe(name, key)
	if err != nil {
		message, fix, _ := strings.Cut(strings.TrimPrefix(err.Error(), llm.ErrConfig.Error()+": "), "; ")
		return Result{Findings: []Finding{newFinding(ModelConfig, name, message+".", fix)}}
	}
	err = models.Check(ctx, name, key)
	if err == nil {
		return Result{Fact: fmt.Sprintf("%s at %s", name, info.Address)}
	}
	id := ModelUnreachable
	if failed, ok := errors.AsType[*llm.Error](err); ok {
		switch failed.Reason { //nolint:exhaustive // the others are failures of the connection
		case llm.ReasonKey, llm.ReasonQuota:
			id = ModelKey
		case llm.ReasonModel:
			id = ModelUnknown
		}
	}
	return Result{Findings: []Finding{newFinding(id, name, err.Error()+".", llm.HowToFix(err))}}
}
