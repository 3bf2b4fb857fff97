// AgentCoreTests
