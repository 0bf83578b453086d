// Package pricing rounds prices.
package pricing

// Round gives an amount in cents, rounded to whole units.
func Round(cents int) int {
	return (cents + 50) / 100
}
