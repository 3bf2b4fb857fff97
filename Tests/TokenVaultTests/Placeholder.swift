// TokenVaultTests
