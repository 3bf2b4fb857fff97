// AgentWireTests
