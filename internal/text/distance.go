package text

// EditDistance returns how many runes must be inserted, deleted, replaced or swapped with their neighbour to turn a into b (the
// optimal string alignment distance).
func EditDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	before := make([]int, len(to)+1)
	above := make([]int, len(to)+1)
	row := make([]int, len(to)+1) // the last three rows of the distance matrix
	for j := range above {
		above[j] = j
	}
	for i := range from {
		row[0] = i + 1
		for j := range to {
			replace := above[j]
			if from[i] != to[j] {
				replace++
			}
			row[j+1] = min(above[j+1]+1, row[j]+1, replace)
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(to)]
}
