//go:build !chaos

package memory_test

// recalls is how many questions are asked at random.
const recalls = 1000
