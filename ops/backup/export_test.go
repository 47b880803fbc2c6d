package backup

// Seal seals what a test wrote.
var Seal = seal
