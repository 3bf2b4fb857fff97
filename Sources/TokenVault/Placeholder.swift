// TokenVault
