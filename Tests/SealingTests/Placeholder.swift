// SealingTests
