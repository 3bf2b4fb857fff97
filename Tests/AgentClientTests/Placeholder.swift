// AgentClientTests
