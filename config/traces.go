package config

// Traces configures where the traces of tasks are sent.
type Traces struct {
	Endpoint      string // base URL of a collector that takes OTLP over HTTP; empty means that nothing is traced
	Authorization Secret // the header of that name; empty means none
}

// fields lists the keys of traces.
func (t *Traces) fields() []field {
	authorization := secret("traces.authorization", &t.Authorization, optional(headerValue))
	return []field{
		value("traces.endpoint", &t.Endpoint, optional(webAddress("http://127.0.0.1:4318"))),
		authorization[0], authorization[1],
	}
}

// headerValue parses the value of a header, such as "Bearer abc".
func headerValue(s string) (Secret, error) {
	line, err := lineOf(1, 4000)(s)
	return Secret(line), err
}
